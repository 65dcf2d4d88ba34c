"""``python -m soak``: see `make soak`. Exit code 1 if there is a discrepancy."""

from __future__ import annotations

import argparse
import asyncio
import gc
import itertools
import json
import os
import random
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import docplatform
from soak.account import Tally, discrepancies, table
from soak.driver import Driver

THREADS = 8
GROUPS = 3
"""Each of 40 tasks at a time."""
WARM_UP = 200
"""Operations before memory, descriptors and threads are looked at; with ``--operations``, as many as the soak has."""
MORE_MEMORY = 24 * 2**20
"""The most bytes that the account itself and the allocators may add."""
SETTLE = 20.0
"""Seconds that threads and connections have for their end."""


@dataclass(frozen=True)
class Usage:
    """Memory, descriptors and threads of this process."""

    memory: int
    descriptors: int
    threads: int

    @classmethod
    def now(cls) -> Usage:
        gc.collect()
        own = Path("/proc/self")
        memory = int((own / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        return cls(memory, len(list((own / "fd").iterdir())), len(list((own / "task").iterdir())))

    def within(self, begin: Usage) -> bool:
        return (
            self.memory <= begin.memory + MORE_MEMORY
            and self.descriptors <= begin.descriptors
            and self.threads <= begin.threads
        )

    def __str__(self) -> str:
        return f"{self.memory / 2**20:.1f} MiB, {self.descriptors} descriptors, {self.threads} threads"


def settled(begin: Usage) -> Usage:
    """The usage after everything that ended was released."""
    until = time.monotonic() + SETTLE
    while not (usage := Usage.now()).within(begin) and time.monotonic() < until:
        time.sleep(0.1)
    return usage


def drive(driver: Driver) -> None:
    """Both faces at once, until the driver has enough."""
    seeds = [driver.seeds.getrandbits(32) for _ in range(THREADS + GROUPS)]
    threads = [
        threading.Thread(target=driver.thread, args=(f"thread {number}", seeds[number]))
        for number in range(THREADS)
    ]

    async def groups() -> None:
        async with asyncio.TaskGroup() as all_of_them:
            for number in range(GROUPS):
                all_of_them.create_task(driver.tasks(f"group {number}", seeds[THREADS + number]))

    for thread in threads:
        thread.start()
    asyncio.run(groups())
    for thread in threads:
        thread.join()


def soak(
    base_url: str, seed: int, warm_up_for: Callable[[], bool], go_on: Callable[[], bool]
) -> tuple[Tally, list[str]]:
    """A warm-up, the soak, and what is left over."""
    seeds = random.Random(seed)
    warm_up = Driver(base_url, seeds.getrandbits(32), warm_up_for)
    drive(warm_up)
    begin = Usage.now()
    driver = Driver(base_url, seeds.getrandbits(32), go_on)
    driver.tally, driver.numbers = warm_up.tally, warm_up.numbers
    drive(driver)
    end = settled(begin)
    print(f"begin: {begin}\nend:   {end}")
    return driver.tally, [] if end.within(begin) else [f"begun with {begin}, ended with {end}"]


def operations(most: int) -> Callable[[], bool]:
    """Ends the run after that many looks."""
    looks = itertools.count()
    return lambda: next(looks) < most


def seconds(most: float) -> Callable[[], bool]:
    until = time.monotonic() + most
    return lambda: time.monotonic() < until


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--operations", type=int, help="instead of seconds")
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.SystemRandom().getrandbits(32)
    print(f"docplatform {docplatform.__version__}, seed {seed}", flush=True)

    # A page that is shorter than was asked for is logged, and followed; data that changed would be a lie.
    warnings.simplefilter("ignore", docplatform.DataWarning)
    warnings.simplefilter("error", docplatform.DataChangedWarning)
    server = subprocess.Popen(
        [sys.executable, "-m", "soak.server", str(seed)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with server:
        assert server.stdin is not None
        assert server.stdout is not None
        base_url = f"http://127.0.0.1:{int(server.stdout.readline())}"
        warm_up = operations(options.operations or WARM_UP)
        go_on = operations(options.operations) if options.operations else seconds(options.seconds)
        tally, left = soak(base_url, seed, warm_up, go_on)
        print("ledger", file=server.stdin, flush=True)
        ledger = json.loads(server.stdout.readline())
        server.stdin.close()
    wrong = discrepancies(tally, ledger) + left
    print(table(tally, ledger))
    for line in wrong[:50]:
        print(f"DISCREPANCY {line}")
    print(f"{len(wrong)} discrepancies (seed {seed})")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
