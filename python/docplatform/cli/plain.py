"""The commands that need no extra, on the standard library alone."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import docplatform

if TYPE_CHECKING:
    from collections.abc import Sequence

DEMO = "Watch the main job run against a stub server on this machine."
STUB = "Serve the stub server, to try things out."
NEEDS_EXTRA = 'the other commands need an extra: pip install "docplatform[cli]"'


def run(arguments: Sequence[str]) -> int:
    """Runs ``demo`` or ``stub``; wrong usage is a ``SystemExit``, as argparse raises it."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        options.run(options)
    except ValueError as error:
        # A number that is out of its range.
        parser.error(str(error))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="docplatform",
        description="Hand the documentation platform's agent a task, and read the site's visitors.",
        epilog=NEEDS_EXTRA[0].upper() + NEEDS_EXTRA[1:],
    )
    parser.add_argument("--version", action="version", version=f"docplatform {docplatform.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    demo = commands.add_parser(
        "demo",
        help=DEMO,
        description="Runs the main job against a stub server on this machine, and shows the Python that does it. "
        "No key, no account, no network.",
    )
    demo.set_defaults(run=_run_demo)

    stub = commands.add_parser(
        "stub",
        help=STUB,
        description="Serves the stub on loopback until Ctrl-C, and prints the settings that lead a client to it.",
    )
    stub.add_argument("--visitors", type=int, default=1_000, metavar="N", help="rows to serve (default 1000)")
    stub.add_argument(
        "--active-polls", type=int, default=2, metavar="N", help="polls before a job completes (default 2)"
    )
    stub.add_argument("--latency", type=float, default=0.0, metavar="S", help="seconds before each answer")
    stub.add_argument("--requests-per-hour", type=int, metavar="N", help="analytics requests granted an hour")
    stub.add_argument(
        "--fail",
        metavar="HOW",
        help="fail, so that a script's handling of exit codes can be tried: a status (401, 429, 503, ...), drop (the connection "
        "closes without an answer), failed (jobs fail) or active (jobs are never final); with :N only the first N requests or jobs",
    )
    stub.add_argument("--port", type=int, default=0, metavar="P", help="the port (default: any that is free)")
    stub.set_defaults(run=_run_stub)
    return parser


# The server is imported when it is asked for: --help is to be quick.
def _run_demo(_options: argparse.Namespace) -> None:
    from docplatform.cli.demo import run

    run()


def _run_stub(options: argparse.Namespace) -> None:
    from docplatform.cli.stub import serve

    serve(
        visitors=options.visitors,
        active_polls=options.active_polls,
        latency=options.latency,
        requests_per_hour=options.requests_per_hour,
        port=options.port,
        fail=options.fail,
    )
