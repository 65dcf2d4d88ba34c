"""``docplatform demo``: shows a few steps in Python, and runs exactly the lines that it shows."""

from __future__ import annotations

import sys
import time
from importlib.util import find_spec
from textwrap import dedent, indent
from typing import Any

from docplatform.cli.stub import settings
from docplatform.testing import StubServer

# Each step has a title and code. Like the cells of a notebook, later steps see the names of earlier ones.
STEPS = [
    (
        "See where readers got stuck in October",
        """
        client = docplatform.Client()  # key, address and project from DOCPLATFORM_* variables
        fixes = client.fix_first("2026-10", n=3)
        for row in fixes:
            print(f"{row['path']}: {row['why']}")
        """,
    ),
    (
        "Hand the first problem to the docs agent, and wait for the pull request",
        """
        job = client.run_job(fixes[0]["prompt"], on_poll=show, poll_interval=0.4)
        print(job.pr_link)
        """,
    ),
    (
        "Follow up on it",
        """
        job = client.follow_up(job, "Mention the new port, too", on_poll=show, poll_interval=0.4)
        print(job.status, job.pr_link)
        """,
    ),
    (
        "Read who visits the site: 250 pages of it per request",
        """
        october = client.visitors("2026-10").collect()  # to_pandas(), to_polars(), to_csv(), ...
        for row in october.top(5):
            print(f"{row['human']:>9,} people {row['ai']:>9,} AI agents   {row['path']}")
        print("the whole site:", october.totals)
        """,
    ),
    (
        "The same with asyncio",
        """
        async def main():
            async with docplatform.AsyncClient() as client:
                job = await client.run_job("Explain the rate limits", poll_interval=0.4)
                rows = [row async for row in client.visitors(max_rows=500)]
                return job.status, len(rows)

        print(*asyncio.run(main()))
        """,
    ),
    (
        "What it cost",
        """
        print(client.stats)
        """,
    ),
]


def run() -> None:
    """Runs the demonstration against a stub of its own."""
    import asyncio
    import os

    import docplatform

    def show(job: docplatform.Job) -> None:
        print(f"  {job.id} is {job.status}", flush=True)

    begun = time.perf_counter()
    # It is the same everywhere: no budget makes it wait, and it writes to no store of the user's.
    for name in [name for name in os.environ if name.startswith("DOCPLATFORM_")]:
        del os.environ[name]
    with StubServer(visitors=1_000) as stub:
        os.environ.update(settings(stub))
        print(f"A stub of the service answers at {stub.url}: real HTTP, no account, no network.")
        names: dict[str, Any] = {"docplatform": docplatform, "asyncio": asyncio, "show": show}
        for title, piece in STEPS:
            code = dedent(piece).strip()
            print(f"\n{_bold('# ' + title)}\n{indent(code, '>>> ', lambda _: True)}", flush=True)
            exec(compile(code, "<demo>", "exec"), names)  # noqa: S102  # the text above and no other
        names["client"].close()
        seconds = time.perf_counter() - begun
        extra = "" if find_spec("click") else ", with the extra cli"
        print(
            f"\nDone in {seconds:.1f} s with {len(stub.requests)} requests. Next{extra}: docplatform stub --run -- docplatform fix 2026-10"
        )


def _bold(text: str) -> str:
    return f"\033[1m{text}\033[0m" if sys.stdout.isatty() else text
