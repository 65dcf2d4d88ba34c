"""The command line, ``docplatform``."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

import docplatform

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and returns the exit code: 0 done, 1 failure, 2 usage, 130 interrupted."""
    options = _parser().parse_args(arguments)
    try:
        code: int = options.run(options)
    except KeyboardInterrupt:
        return INTERRUPTED
    except (docplatform.DocPlatformError, OSError) as error:
        print(f"docplatform: {error}", file=sys.stderr)
        return 1
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="docplatform",
        description="Hand the documentation platform's agent a task, and read the site's visitors.",
    )
    parser.add_argument("--version", action="version", version=f"docplatform {docplatform.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    demo = commands.add_parser(
        "demo",
        help="watch the main job run against a stub server on this machine",
        description="Runs the main job against a stub server on this machine, and shows the Python that does it. "
        "No key, no account, no network.",
    )
    demo.set_defaults(run=_run_demo)

    stub = commands.add_parser(
        "stub",
        help="serve the stub server, to try things out",
        description="Serves the stub on loopback until Ctrl-C, and prints the settings that lead a client to it.",
    )
    stub.add_argument("--visitors", type=int, default=1_000, metavar="N", help="rows to serve (default 1000)")
    stub.add_argument(
        "--active-polls", type=int, default=2, metavar="N", help="polls before a job completes (default 2)"
    )
    stub.add_argument("--latency", type=float, default=0.0, metavar="S", help="seconds before each answer")
    stub.add_argument("--requests-per-hour", type=int, metavar="N", help="analytics requests granted an hour")
    stub.add_argument("--port", type=int, default=0, metavar="P", help="the port (default: any that is free)")
    stub.set_defaults(run=_run_stub)
    return parser


# The server is imported when it is asked for: --help is to be quick.
def _run_demo(_options: argparse.Namespace) -> int:
    from docplatform.cli.demo import run

    run()
    return 0


def _run_stub(options: argparse.Namespace) -> int:
    from docplatform.cli.stub import serve

    serve(
        visitors=options.visitors,
        active_polls=options.active_polls,
        latency=options.latency,
        requests_per_hour=options.requests_per_hour,
        port=options.port,
    )
    return 0
