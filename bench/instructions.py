"""Counts the instructions for a page of 250 rows, for this client and others: the same number in each run, however busy the machine is.

make bench-instructions                       every way
make bench-instructions BENCH="--profile 'docplatform: to_dicts()'"     where they go

Each way runs twice under callgrind, over few pages and over more: what the additional pages took is what a page takes.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from peers import ASYNC_PEERS, KEY, LIMIT, PEERS, count
from service import server

FEW, MORE = 20, 60
"""Pages of the two runs."""
PROFILE_LINES = 40


def ours(way: Callable[[Any], object], url: str) -> object:
    import docplatform

    return way(docplatform.Client(KEY, base_url=url, project_id="bench").visitors())


def ours_async(url: str) -> object:
    import docplatform

    return asyncio.run(count(docplatform.AsyncClient(KEY, base_url=url, project_id="bench").visitors()))


def rows_of(peer: Callable[[str], Any], url: str) -> object:
    return asyncio.run(count(peer(url)))


def to_csv(visitors: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        visitors.to_csv(Path(folder, "visitors.csv"))


WAYS: dict[str, Callable[[str], object]] = {
    "docplatform: collect()": partial(ours, lambda visitors: visitors.collect()),
    "docplatform: to_dicts()": partial(ours, lambda visitors: visitors.to_dicts()),
    "docplatform: to_csv()": partial(ours, to_csv),
    "docplatform: async for": ours_async,
    **{f"{name}: async for": partial(rows_of, rows) for name, rows in ASYNC_PEERS.items()},
    **{
        name: peer
        for name, peer in PEERS.items()
        if name.startswith(("urllib3", "aiohttp", "httpx2", "pyreqwest"))
    },
}


def instructions(way: str, pages: int, out: Path) -> int:
    """The instructions of a fresh process that reads this many pages."""
    command = ["valgrind", "--tool=callgrind", "--quiet", f"--callgrind-out-file={out}"]
    with server(pages * LIMIT) as running:
        child = [sys.executable, __file__, "--run", way, "--url", running.url]
        # The first run compiles the modules that it imports.
        for before in ([], command):
            subprocess.run(
                [*before, *child], check=True, env={"PATH": "/usr/bin:/bin", "PYTHONHASHSEED": "0"}
            )
    found = re.search(r"^(?:totals|summary): (\d+)", out.read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None
    return int(found[1])


def functions(way: str, pages: int, out: Path) -> Counter[str]:
    """The instructions of each function in the same process, with what was inlined into it."""
    instructions(way, pages, out)
    command = ["callgrind_annotate", "--threshold=100", "--auto=no", str(out)]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    taken: Counter[str] = Counter()
    for line in lines.splitlines():
        found = re.match(r" *([\d,]+) \([ \d.]+%\)  [^:]+:(.+?)(?: \[[^]]*])?$", line)
        if found:
            # A function that calls itself is counted at each depth.
            taken[found[2].split("'")[0]] += int(found[1].replace(",", ""))
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", metavar="TEXT", default="", help="the ways whose name has this text")
    parser.add_argument("--profile", choices=WAYS, help="where the instructions of one way go")
    parser.add_argument("--run", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        WAYS[arguments.run](arguments.url)
        return
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "callgrind.out")
        if arguments.profile:
            profile = functions(arguments.profile, MORE, out)
            profile.subtract(functions(arguments.profile, FEW, out))
            print("| function | instructions a page |\n|---|---|")
            for name, taken in profile.most_common(PROFILE_LINES):
                print(f"| {name} | {taken / (MORE - FEW):,.0f} |")
            return
        print("| way | instructions a page |\n|---|---|")
        for way in WAYS:
            if arguments.only in way:
                few, more = (instructions(way, pages, out) for pages in (FEW, MORE))
                print(f"| {way} | {(more - few) / (MORE - FEW):,.0f} |", flush=True)


if __name__ == "__main__":
    main()
