"""Compares this client with others, on the same exports, in one run: medians and ratios.

make bench                      all of it, some minutes; let nothing else run meanwhile
make bench BENCH="--rows 50000 --rounds 1"
"""

from __future__ import annotations

import argparse
import asyncio
import datetime as dt
import os
import platform
import re
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
from peers import ASYNC_PEERS, KEY, LIMIT, PATH, PEERS, aiohttp_searches, count
from service import server

import docplatform

HERE = Path(__file__).resolve().parent

LATENCY = 50
"""Milliseconds, for what a slow link does."""
SLOW_ROWS = 10_000
MANY_ROWS = 1_000_000
CURSOR_ROWS = 100_000


def user_time() -> float:
    """Seconds that this process has computed."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def medians(
    ways: dict[str, Callable[[], int]], rounds: int, rows: int
) -> tuple[dict[str, float], dict[str, float]]:
    """Seconds of each way, and those of them that this process computed, taken in turns; the first round warms up."""
    clocks = (time.perf_counter, user_time)
    seconds: tuple[dict[str, list[float]], ...] = tuple({name: [] for name in ways} for _ in clocks)
    for round_ in range(rounds + 1):
        for name, way in ways.items():
            begun = [clock() for clock in clocks]
            count = way()
            taken = [clock() - since for clock, since in zip(clocks, begun, strict=True)]
            assert count == rows, f"{name}: {count} rows"
            if round_:
                for kind, of_way in zip(seconds, taken, strict=True):
                    kind[name].append(of_way)
        print(f"round {round_} of {rounds}", file=sys.stderr)
    wall, user = ({name: statistics.median(taken) for name, taken in kind.items()} for kind in seconds)
    return wall, user


def searches_frame(url: str) -> int:
    """A cursor listing as a frame with real timestamps, as a careful user would build it."""
    frame = pd.DataFrame(aiohttp_searches(url))
    frame["lastSearchedAt"] = pd.to_datetime(frame["lastSearchedAt"], utc=True)
    return len(frame)


def ceiling(url: str) -> float | None:
    """Pages a second of wrk on one connection."""
    if shutil.which("wrk") is None:
        return None
    command = ["wrk", "-t1", "-c1", "-d2s", f"{url}{PATH}?limit={LIMIT}&offset={LIMIT}"]
    found = re.search(
        r"Requests/sec:\s+([\d.]+)", subprocess.run(command, capture_output=True, text=True).stdout
    )
    return float(found[1]) if found else None


MEMORY = """
import sys
import docplatform
url, rows, way = sys.argv[1], int(sys.argv[2]), sys.argv[3]

def peak():
    # Of this process alone; getrusage would have the parent's, too.
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))

client = docplatform.Client("mint_dsc_bench", base_url=url, project_id="bench")
before = peak()
visitors = client.visitors(max_rows=rows)
if way == "csv":
    visitors.to_csv(sys.argv[4])
    print(peak() - before)
else:
    table = visitors.collect()
    taken = peak() - before
    # Three counts in 8 bytes each, and of a path its letters and a place of 4 bytes.
    print(taken / (sum(len(row["path"].encode()) for row in table) + 28 * len(table)))
"""


def memory(url: str, rows: int, way: str) -> float:
    """The bytes that an export adds to the peak memory of a fresh process; for a table, divided by the size of its data."""
    target = HERE / "server" / "target" / "memory.csv"
    command = [sys.executable, "-c", MEMORY, url, str(rows), way, str(target)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def import_time(rounds: int) -> float:
    """Seconds that the import adds to bare Python."""

    def start(code: str) -> float:
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return time.perf_counter() - begun

    pairs = [(start("import docplatform"), start("pass")) for _ in range(rounds * 4)]
    return statistics.median(ours for ours, _ in pairs) - statistics.median(bare for _, bare in pairs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    rows: int = arguments.rows
    rounds: int = arguments.rounds
    report: list[tuple[str, str, str]] = []

    with server(rows) as running:
        url = running.url
        client = docplatform.Client(KEY, base_url=url, project_id="bench")
        later = docplatform.AsyncClient(KEY, base_url=url, project_id="bench")
        wrk: list[float] = []

        def at_the_ceiling() -> int:
            rate = ceiling(url)
            wrk.extend([rate] if rate else [])
            return rows

        ways: dict[str, Callable[[], int]] = {
            "docplatform: to_dicts()": lambda: len(client.visitors().to_dicts()),
            "docplatform: to_pandas()": lambda: len(client.visitors().to_pandas()),
            "docplatform: collect()": lambda: len(client.visitors().collect()),
            "docplatform: async for": lambda: asyncio.run(count(later.visitors())),
            "wrk": at_the_ceiling,
        }
        frames = {f"{name}: DataFrame(rows)": name for name in PEERS if name.endswith("+ orjson")}
        for name, peer_rows in ASYNC_PEERS.items():
            ways[f"{name}: async for"] = lambda rows=peer_rows: asyncio.run(count(rows(url)))  # type: ignore[misc]
        for name, peer in PEERS.items():
            ways[name] = lambda peer=peer: len(peer(url))  # type: ignore[misc]
        for title, name in frames.items():
            ways[title] = lambda peer=PEERS[name]: len(pd.DataFrame(peer(url)))  # type: ignore[misc]
        taken, computed = medians(ways, rounds, rows)

    lists = {name: taken[name] for name in PEERS}
    best = min(lists, key=lambda name: lists[name])
    best_frame = min(frames, key=lambda name: taken[name])
    pages = rows / LIMIT

    def ratio(title: str, ours: str, theirs: str, bar: str) -> None:
        report.append((f"{title}, against {theirs}", f"{taken[ours] / taken[theirs]:.2f}", bar))

    best_async = min((f"{name}: async for" for name in ASYNC_PEERS), key=lambda name: taken[name])
    ratio("to a pandas frame", "docplatform: to_pandas()", best_frame, "≤ 0.2")
    ratio("to a list of dicts", "docplatform: to_dicts()", best, "≤ 0.55")
    ratio("`async for`", "docplatform: async for", best_async, "≤ 0.55")

    def cost(name: str) -> str:
        return f"{computed[name] / pages * 1e6:.0f} µs"

    report.append(("user time a page, to a table", cost("docplatform: collect()"), "≤ 50 µs"))
    bar = f"≤ {cost('pyreqwest + orjson')}, pyreqwest + orjson"
    report.append(("user time a page, to a list of dicts", cost("docplatform: to_dicts()"), bar))
    if wrk:
        rate = pages / taken["docplatform: collect()"]
        part = f"{rate / statistics.median(wrk):.2f}"
        report.append(("to a table, pages a second against wrk on one connection", part, "≥ 0.6"))

    with server(SLOW_ROWS, LATENCY) as running:
        client = docplatform.Client(KEY, base_url=running.url, project_id="bench")
        slow, _ = medians(
            {
                "1": lambda: len(client.visitors(prefetch=1).collect()),
                "8": lambda: len(client.visitors(prefetch=8).collect()),
            },
            rounds,
            SLOW_ROWS,
        )
        # Each round of `prefetch=8` may ask beyond the end, that of `prefetch=1` never does.
        beyond = running.counts()[1] / (rounds + 1)
        title = f"{SLOW_ROWS:,} rows at {LATENCY} ms, `prefetch=8` against 1 ({beyond:.0f} requests beyond the end)"
        report.append((title, f"{slow['8'] / slow['1']:.2f}", "≤ 0.2"))

    with server(CURSOR_ROWS) as running:
        url, client = running.url, docplatform.Client(KEY, base_url=running.url, project_id="bench")
        cursor, _ = medians(
            {
                "docplatform": lambda: len(client.searches().to_pandas()),
                "aiohttp + orjson": lambda: searches_frame(url),
            },
            rounds,
            CURSOR_ROWS,
        )
        title = f"{CURSOR_ROWS:,} rows of a cursor listing to a pandas frame, against aiohttp + orjson"
        report.append((title, f"{cursor['docplatform'] / cursor['aiohttp + orjson']:.2f}", "≤ 0.4"))

    with server(MANY_ROWS) as running:
        for number in (MANY_ROWS // 10, MANY_ROWS):
            peak = statistics.median(memory(running.url, number, "csv") for _ in range(3))
            report.append(
                (f"{number:,} rows to CSV, peak over the import", f"{peak / 2**20:.1f} MiB", "≤ 24 MiB")
            )
        peak = statistics.median(memory(running.url, MANY_ROWS, "table") for _ in range(3))
        report.append((f"{MANY_ROWS:,} rows collected, peak over the Arrow bytes", f"{peak:.2f}", "≤ 2.0"))
    report.append(
        ("`import docplatform` over bare Python", f"{import_time(rounds) * 1000:.0f} ms", "≤ 25 ms")
    )

    print(f"\n{rows:,} rows in pages of {LIMIT} over loopback, medians of {rounds} rounds taken in turns.")
    print(f"{machine()}, CPython {platform.python_version()}, {dt.datetime.now(dt.UTC):%Y-%m-%d}.\n")
    print("| figure | measured | bar |\n|---|---|---|")
    for line in report:
        print(f"| {' | '.join(line)} |")
    print("\n| way | seconds | rows a second |\n|---|---|---|")
    for name, seconds in sorted(taken.items(), key=lambda item: item[1]):
        if name != "wrk":
            print(f"| {name} | {seconds:.2f} | {rows / seconds:,.0f} |")
    if wrk:
        print(f"\nwrk: {min(wrk):,.0f} to {max(wrk):,.0f} pages a second.")


def machine() -> str:
    """The processor, and how many of it."""
    names = re.findall(
        r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE
    )
    return f"{os.cpu_count()} x {names[0] if names else platform.machine()}, {platform.system()}"


if __name__ == "__main__":
    main()
