"""The command line's store and request budget: what is bought once, what is waited for, and where a command stops."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from docplatform.testing import StubServer
from helpers.cli import KEPT, SCRIPT, Cli, shell
from helpers.scripts import Script

JANUARY = ("--from", "2024-01-01", "--to", "2024-02-01")

"""The commands that read all rows: four requests of the stub's thousand."""


def test_a_failure_in_the_middle_tells_what_becomes_of_what_came(cli: Cli, store: Path) -> None:
    command = ("visitors", "trend", *JANUARY, "--every", "week")
    body = {"totals": {"human": 1, "ai": 1, "total": 1}, "visitors": [], "hasMore": False}
    for options, last in (
        ((), f"1 request had been answered, and {KEPT}"),
        (("--store", str(store)), f"What came is in {store}: the same command goes on there."),
    ):
        cli.stub.fail_next(status=200, body=body)
        cli.stub.fail_next(status=400)
        ended = cli(*command, *options)
        assert (ended.status, ended.out) == (1, "")
        assert ended.err.splitlines()[-1] == last
    assert len(cli.stub.requests) == 4
    # What fails at once has nothing to tell.
    for options in ((), ("--store", str(store))):
        cli.stub.fail_next(status=400)
        ended = cli("visitors", "totals", *JANUARY, *options)
        assert (ended.status, len(ended.err.splitlines())) == (1, 1)


@pytest.mark.row("J1")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_what_found_no_place_is_in_the_store(stub: StubServer, store: Path) -> None:
    line = f"visitors export {' '.join(JANUARY)} --store {store}"
    done = shell(stub, f"$cli {line} > /dev/full")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"What came is in {store}: the same command goes on there."
    assert len(shell(stub, f"$cli {line}").stdout.splitlines()) == 1_001
    assert len(stub.requests) == 4


def test_totals_stop_too(cli: Cli, store: Path) -> None:
    options = ("--store", str(store), "--requests-per-hour", "5", "--reserve", "4", "--on-budget", "stop")
    assert cli("visitors", "totals", *JANUARY, *options).status == 0
    ended = cli("visitors", "totals", "--json", *options)
    assert (ended.status, ended.out, len(cli.stub.requests)) == (4, "", 1)
    # Whoever has another budget is not held up.
    assert cli("visitors", "totals", *options, "--organization", "other").status == 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
@pytest.mark.row("I4", "J12")
@pytest.mark.parametrize("command", ["export", "trend"])
def test_a_wait_is_told_once_and_can_be_interrupted(stub: StubServer, store: Path, command: str) -> None:
    options = (*JANUARY, "--store", str(store), "--requests-per-hour", "2")
    with Script(SCRIPT, "visitors", command, *options, stub=stub) as script:
        told = [script.listen()]
        while "budget is spent" not in told[-1]:
            told.append(script.listen())
        script.signal(signal.SIGINT)
        ended = script.end()
    assert (ended.status, ended.out, len(stub.requests)) == (130, "", 2)
    assert "budget is spent" not in ended.err
    assert ended.err.splitlines()[-1] == f"What came is in {store}: the same command goes on there."


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
@pytest.mark.row("I4", "J12")
def test_totals_wait_too(cli: Cli, store: Path) -> None:
    options = ("visitors", "totals", "--store", str(store), "--requests-per-hour", "1")
    assert cli(*options).status == 0
    with Script(SCRIPT, *options, stub=cli.stub) as script:
        assert "the request budget is spent: waiting for the next request until 20" in script.listen()
        script.signal(signal.SIGINT)
        ended = script.end()
    # Nothing came, and nothing is said to have come.
    assert (ended.status, ended.out, ended.err.strip()) == (130, "", "docplatform: interrupted")
    assert len(cli.stub.requests) == 1


def test_a_file_that_is_no_store_is_refused_and_left(cli: Cli, store: Path) -> None:
    store.write_text("path,human\n" * 100)
    ended = cli("visitors", "totals", "--store", str(store))
    assert (ended.status, ended.out, cli.stub.requests) == (2, "", [])
    assert "no SQLite file" in ended.err
    ended = cli("doctor", "--store", str(store))
    assert (ended.status, cli.stub.requests) == (2, [])
    assert "store\twrong" in ended.out
    assert "mend --store" in ended.out
    assert store.read_text() == "path,human\n" * 100


def test_doctor_keeps_to_the_budget(cli: Cli, store: Path) -> None:
    options = ("--store", str(store), "--requests-per-hour", "1")
    assert cli("visitors", "totals", *options).status == 0
    ended = cli("doctor", *options)
    assert (ended.status, len(cli.stub.requests)) == (4, 1)
    assert "the request budget is spent" in ended.out


def test_commands_about_jobs_have_no_budget(cli: Cli, store: Path) -> None:
    ended = cli("job", "get", "job-1", "--store", str(store))
    assert (ended.status, cli.stub.requests) == (2, [])
