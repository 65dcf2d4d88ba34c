"""Measures a store of many exports through the client: its size, how quickly it opens, and a cached range in pandas.

make bench-store                some minutes
"""

from __future__ import annotations

import argparse
import datetime as dt
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from peers import KEY
from run import machine
from service import Server, server

import docplatform

START = dt.date(2020, 1, 1)


def client(running: Server, store: Path) -> docplatform.Client:
    return docplatform.Client(KEY, base_url=running.url, project_id="bench", store=store)


def milliseconds(way: Callable[[], object], rounds: int = 9) -> float:
    """The median of some rounds."""
    taken = []
    for _ in range(rounds):
        begun = time.perf_counter()
        way()
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--exports", type=int, default=1_000)
    parser.add_argument("--rows", type=int, default=10_000)
    arguments = parser.parse_args()
    exports, rows = arguments.exports, arguments.rows

    with tempfile.TemporaryDirectory() as folder, server(rows) as running:
        store = Path(folder) / "visitors.db"
        with client(running, store) as buyer:
            for day in range(exports):
                date = START + dt.timedelta(days=day)
                table = buyer.visitors(date_from=date, date_to=date + dt.timedelta(days=1)).collect()
                assert len(table) == rows
        requests = running.counts()[0]
        size = sum(file.stat().st_size for file in Path(folder).iterdir())

        def opened() -> None:
            with client(running, store):
                pass

        with client(running, store) as reader:

            def held() -> None:
                span = {"date_from": START, "date_to": START + dt.timedelta(days=1)}
                assert len(reader.visitors(**span, max_rows=1_000).to_pandas()) == 1_000  # type: ignore[arg-type]

            held()
            to_pandas = milliseconds(held)
        opening = milliseconds(opened)
        assert running.counts()[0] == requests, "what is held was asked for again"

    print(f"{exports:,} exports of {rows:,} rows. {machine()}, {dt.datetime.now(dt.UTC):%Y-%m-%d}.\n")
    print("| figure | measured | bar |\n|---|---|---|")
    print(f"| opening | {opening:.1f} ms | < 50 ms |")
    print(f"| 1,000 rows of a cached range to pandas | {to_pandas:.1f} ms | < 20 ms |")
    print(f"| the file | {size / (exports * rows):.1f} bytes a row | < 60 |")


if __name__ == "__main__":
    main()
