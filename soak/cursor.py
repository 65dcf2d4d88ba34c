"""A cursor export over three slices, killed with SIGKILL at random instants: every row comes once, and a kill costs at most one request.

``python -m soak.cursor --kills 200 --seed 1``; exit code 1 where anything does not add up.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from docplatform.testing import StubServer

ROWS = 500
"""Rows of each slice."""
PAGE_SIZE = 50
SLICES = 3
PAGES = SLICES * ROWS // PAGE_SIZE
LATENCY = 0.004
"""How long the service takes for a page, in seconds."""
LONGEST = 2 * PAGES * LATENCY
"""When a kill comes at the latest, in seconds after the export began: now and then it is over by then."""
EXPORT = f"""
import sys
import docplatform

with docplatform.Client(store=sys.argv[1]) as client:
    rows = client.searches("2025-12-01 to 2025-12-21", every="week", page_size={PAGE_SIZE})
    print("begins", flush=True)
    rows.to_csv(sys.argv[2])
"""


def run(stub: StubServer, folder: Path, kill_after: float | None) -> bool:
    """One process of an export, killed or not; whether it was killed before its end."""
    settings = {"API_KEY": stub.api_key, "BASE_URL": stub.url, "PROJECT_ID": stub.project_id}
    process = subprocess.Popen(
        [sys.executable, "-c", EXPORT, str(folder / "store.db"), str(folder / "rows.csv")],
        env=os.environ | {f"DOCPLATFORM_{name}": value for name, value in settings.items()},
        stdout=subprocess.PIPE,
    )
    with process:
        assert process.stdout is not None
        process.stdout.readline()
        if kill_after is not None:
            time.sleep(kill_after)
            process.kill()
        status = process.wait()
    if status not in (0, -9):
        raise SystemExit(f"an export ended with exit code {status}")
    return status == -9


def export(stub: StubServer, folder: Path, kills: int, instants: random.Random) -> tuple[int, int, bytes]:
    """Begins an export until it is whole, killed up to ``kills`` times: the kills, the requests and the file."""
    folder.mkdir()
    before, done = len(stub.requests), 0
    while run(stub, folder, instants.uniform(0, LONGEST) if done < kills else None):
        done += 1
    return done, len(stub.requests) - before, (folder / "rows.csv").read_bytes()


def main() -> int:
    """Runs it, and prints what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    arguments = parser.parse_args()
    instants = random.Random(arguments.seed)
    wrong: list[str] = []
    kills = exports = requests = 0
    with StubServer(searches=ROWS, latency=LATENCY) as stub, tempfile.TemporaryDirectory() as made:
        _, asked, whole = export(stub, Path(made) / "whole", 0, instants)
        assert (asked, whole.count(b"\n")) == (PAGES, SLICES * ROWS + 1)
        while kills < arguments.kills:
            killed, asked, file = export(stub, Path(made) / str(exports), arguments.kills - kills, instants)
            if file != whole:
                wrong.append(f"export {exports}: other rows after {killed} kills")
            if not PAGES <= asked <= PAGES + killed:
                wrong.append(f"export {exports}: {asked} requests for {PAGES} pages after {killed} kills")
            kills, exports, requests = kills + killed, exports + 1, requests + asked
    more = requests - exports * PAGES
    print(
        f"{kills} kills in {exports} exports of {SLICES} slices and {PAGES} pages: {requests} requests, {more} more than pages; "
        f"{len(wrong)} discrepancies (seed {arguments.seed})"
    )
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
