"""``docplatform fix --run 5 --yes``, killed with SIGKILL at random instants and run again: it creates five jobs.

``python -m soak.fix --kills 30 --seed 1``; exit code 1 where anything does not add up.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from docplatform.testing import StubServer

JOBS = 5
LATENCY = 0.01
"""How long the service takes for an answer, in seconds."""
CREATION = 0.3
"""How long it takes for a creation: some kills come meanwhile."""


def run(stub: StubServer, store: Path, kill_after: float | None) -> list[dict[str, Any]] | None:
    """One process of the command, killed or not: its rows, or ``None`` if it was killed before its end."""
    settings = {
        "API_KEY": stub.api_key,
        "BASE_URL": stub.url,
        "PROJECT_ID": stub.project_id,
        "STORE": str(store),
    }
    command = ["fix", "2026-10", "--run", str(JOBS), "--yes", "--quiet", "--json", "--poll-interval", "0.05"]
    process = subprocess.Popen(
        [sys.executable, "-m", "docplatform", *command],
        env=os.environ | {f"DOCPLATFORM_{name}": value for name, value in settings.items()},
        stdout=subprocess.PIPE,
    )
    with process:
        if kill_after is not None:
            time.sleep(kill_after)
            process.kill()
        out, _ = process.communicate()
    # 7: the outcome of a creation is unknown.
    if process.returncode not in (0, 7, -9):
        raise SystemExit(f"the command ended with exit code {process.returncode}")
    rows: list[dict[str, Any]] | None = None if process.returncode == -9 else json.loads(out)["rows"]
    return rows


def finish(stub: StubServer, store: Path) -> tuple[list[dict[str, Any]], int]:
    """The rows of a run that is not killed. A person has looked for jobs whose creation was interrupted; how many there were."""
    rows = run(stub, store, None) or []
    unknown = [row for row in rows if row["result"] == "unknown"]
    with stub.client(store=store) as client:
        for row in unknown:
            page = f"> {'search' if row['query'] else 'page'}: {json.dumps(row['query'] or row['path'])}"
            found = [job.id for job in stub.jobs if page in job.prompts[0].split("\n")]
            client.resolve_once(row["name"], found[0] if found else None)
    return (run(stub, store, None) or [] if unknown else rows), len(unknown)


def main() -> int:
    """Runs it, and prints what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    arguments = parser.parse_args()
    instants = random.Random(arguments.seed)
    wrong: list[str] = []
    kills = rounds = unknown = 0
    with StubServer(latency=LATENCY) as stub, tempfile.TemporaryDirectory() as folder:
        stub.slow_next(CREATION, times=JOBS, path="/job")
        begun = time.monotonic()
        run(stub, Path(folder) / "docs.db", None)
        seconds = time.monotonic() - begun
    while kills < arguments.kills:
        with StubServer(latency=LATENCY) as stub, tempfile.TemporaryDirectory() as folder:
            stub.slow_next(CREATION, times=JOBS, path="/job")
            store, rows = Path(folder) / "docs.db", None
            while rows is None and kills < arguments.kills:
                rows = run(stub, store, instants.uniform(0, seconds))
                kills += rows is None
            rows, looked = finish(stub, store)
            unknown += looked
            rounds += 1
            if sorted(row["job"] for row in rows) != sorted(job.id for job in stub.jobs) or len(rows) != JOBS:
                wrong.append(f"round {rounds}: {len(stub.jobs)} jobs for {[row['job'] for row in rows]}")
    print(
        f"{kills} kills in {rounds} rounds of {JOBS} jobs: {unknown} creations were interrupted; "
        f"{len(wrong)} discrepancies (seed {arguments.seed})"
    )
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
