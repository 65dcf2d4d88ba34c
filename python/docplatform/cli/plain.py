"""The commands that need only the standard library."""

from __future__ import annotations

import argparse

import docplatform

DEMO = "Watch the main job run against a stub server on this machine."
STUB = "Serve the stub server, to try things out."
FAILURES = (
    "a status (401, 429, 503, ...), drop (the connection closes without an answer), lost (jobs are created and messages taken, "
    "but their answers never come), failed (jobs fail), or active (jobs are never final); with :N only N requests or jobs, "
    "with @M from the Mth on, so that drop:3@3 breaks an export at its third page"
)
NEEDS_EXTRA = 'all commands but demo and stub need an extra: pip install "docplatform[cli]"'


def run(arguments: list[str]) -> int:
    """Runs ``demo``, ``stub``, or an option such as ``--version``; wrong usage is a ``SystemExit``, as argparse raises it."""
    # argparse cannot hand over the options of another command in all versions.
    end = arguments.index("--run") + 1 if "--run" in arguments else len(arguments)
    options, unknown = _parser().parse_known_args(arguments[:end])
    parser: argparse.ArgumentParser = options.parser
    command = arguments[end:]
    options.command = command[1:] if command[:1] == ["--"] else command
    try:
        if unknown:
            raise ValueError(f"unrecognized arguments: {' '.join(unknown)}{options.hint}")
        code: int = options.call(options)
    except ValueError as error:
        # Such as a number that is out of its range.
        parser.error(str(error))
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="docplatform",
        description="See where readers of your docs get stuck, people and AI agents, and hand the docs agent the fix.",
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
    demo.set_defaults(call=_run_demo, parser=demo, hint="")

    stub = commands.add_parser(
        "stub",
        usage="docplatform stub [OPTION ...] [--run -- COMMAND [ARGUMENT ...]]",
        help=STUB,
        description="Serves a stand-in for the platform on this machine until Ctrl-C, and prints the settings with which a client finds it. "
        "With --run, COMMAND gets these settings in its environment, the stub ends with it, and the exit code is COMMAND's.",
        epilog="example: docplatform stub --run -- docplatform visitors top",
    )
    stub.add_argument(
        "--visitors", type=int, default=1_000, metavar="N", help="rows of visitors (default 1000)"
    )
    stub.add_argument(
        "--active-polls", type=int, default=2, metavar="N", help="polls before a job completes (default 2)"
    )
    stub.add_argument("--latency", type=float, default=0.0, metavar="S", help="seconds before each answer")
    stub.add_argument(
        "--requests-per-hour", type=int, metavar="N", help="analytics requests allowed per hour"
    )
    stub.add_argument("--jobs-per-hour", type=int, metavar="N", help="new jobs allowed per hour and project")
    stub.add_argument(
        "--fail",
        metavar="HOW",
        help=f"fail, so that a script's handling of exit codes can be tried: {FAILURES}",
    )
    stub.add_argument("--port", type=int, default=0, metavar="P", help="the port (default: any that is free)")
    stub.add_argument("-v", "--verbose", action="store_true", help="print every request on stderr")
    stub.add_argument(
        "--run",
        action="store_true",
        help="run COMMAND against the stub, then stop; what follows --run is the command, and needs no quotes",
    )
    stub.set_defaults(call=_run_stub, parser=stub, hint="; a command to run comes after --run --")
    return parser


# The server is imported late, so that --help is quick.
def _run_demo(_options: argparse.Namespace) -> int:
    from docplatform.cli.demo import run

    run()
    return 0


def _run_stub(options: argparse.Namespace) -> int:
    from docplatform.cli.stub import Verbose, rehearse, run, serve
    from docplatform.testing import StubServer

    stub = (Verbose if options.verbose else StubServer)(
        options.visitors,
        options.active_polls,
        options.latency,
        options.requests_per_hour,
        jobs_per_hour=options.jobs_per_hour,
        port=options.port,
    )
    if options.fail is not None:
        rehearse(stub, options.fail, options.active_polls)
    if not options.run:
        return serve(stub)
    if not options.command:
        raise ValueError(
            "--run: give the command to run, as in: docplatform stub --run -- docplatform visitors top"
        )
    return run(stub, options.command)
