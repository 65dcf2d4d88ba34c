"""The store and the request budget of commands: what becomes of what was fetched, and how a command waits."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from docplatform.testing import StubServer
from helpers.cli import JANUARY, LOST, SCRIPT, Cli, kept, page, shell
from helpers.marks import posix
from helpers.scripts import Script


@pytest.mark.parametrize("stored", [False, True])
def test_a_failure_in_the_middle_says_what_becomes_of_the_answers(
    cli: Cli, store: Path, stored: bool
) -> None:
    options = ("--store", str(store)) if stored else ()
    # A failure of the first request has nothing to say.
    cli.stub.fail_next(status=400)
    ended = cli("visitors", "totals", *JANUARY, *options)
    assert (ended.status, len(ended.err.splitlines())) == (1, 1)
    cli.stub.fail_next(status=200, body=page())
    cli.stub.fail_next(status=400)
    ended = cli("visitors", "trend", *JANUARY, "--every", "week", *options)
    assert (ended.status, ended.out) == (1, "")
    assert ended.err.splitlines()[-1] == (kept(store) if stored else f"1 request {LOST}")


@pytest.mark.parametrize("stored", [False, True])
def test_a_strict_export_is_not_said_to_continue(cli: Cli, store: Path, stored: bool) -> None:
    options = ("--store", str(store)) if stored else ()
    cli.stub.fail_next(status=200, body=page({"path": "/short", "human": 1, "ai": 1, "total": 2}, more=True))
    strict = cli("visitors", "export", *JANUARY, "--strict", *options)
    assert (strict.status, "without --strict its rows come with a warning" in strict.err) == (1, True)
    assert ("continue" in strict.err, f"What was fetched is in {store}" in strict.err) == (False, False)


@pytest.mark.parametrize("organization", [(), ("--organization", "acme")])
def test_after_a_401_it_is_said_whether_another_key_continues(
    cli: Cli, store: Path, organization: tuple[str, ...]
) -> None:
    line = ("visitors", "trend", *JANUARY, "--every", "week", "--store", str(store), *organization)
    cli.stub.fail_next(status=200, body=page())
    cli.stub.fail_next(status=401)
    ended = cli(*line)
    other_key = " What another key fetched is not used, unless --organization was given."
    assert kept(store) + other_key * (not organization) in ended.err.splitlines()


def test_refused_listings_are_no_answers_that_a_store_could_keep(cli: Cli) -> None:
    cli.stub.fail_next(status=403, times=5)
    ended = cli("fix", "2026-10")
    assert (ended.status, len(cli.stub.requests), "answered" in ended.err) == (3, 5, False)


@pytest.mark.row("J1")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_rows_that_a_full_disk_refused_are_in_the_store(stub: StubServer, store: Path) -> None:
    line = f"visitors export {' '.join(JANUARY)} --store {store}"
    done = shell(stub, f"$cli {line} > /dev/full")
    assert (done.status, done.err.splitlines()[-1]) == (1, kept(store))
    assert len(shell(stub, f"$cli {line}").out.splitlines()) == 1_001
    assert len(stub.requests) == 4


def test_a_budget_is_that_of_one_organization_and_keeps_its_reserve(cli: Cli, store: Path) -> None:
    options = ("--store", str(store), "--requests-per-hour", "5", "--reserve", "4", "--on-budget", "stop")
    assert cli("visitors", "totals", *JANUARY, *options).status == 0
    ended = cli("visitors", "totals", "--json", *options)
    assert (ended.status, '"BudgetError"' in ended.out, len(cli.stub.requests)) == (4, True, 1)
    assert cli("visitors", "totals", *options, "--organization", "other").status == 0


@posix
@pytest.mark.row("I4", "J12")
@pytest.mark.parametrize("command", ["totals", "export", "trend"])
def test_a_wait_for_the_budget_is_shown_once_and_ctrl_c_ends_it(cli: Cli, store: Path, command: str) -> None:
    options = ("--store", str(store), "--requests-per-hour", "2")
    if command == "totals":
        assert [cli("visitors", "totals", *options).status for _ in range(2)] == [0, 0]
    with Script(
        SCRIPT, "visitors", command, *(JANUARY if command != "totals" else ()), *options, stub=cli.stub
    ) as script:
        while "the request budget is spent: waiting for the next request until 20" not in script.listen():
            pass
        script.signal(signal.SIGINT)
        ended = script.end()
    assert (ended.status, ended.out, len(cli.stub.requests)) == (130, "", 2)
    # Of totals, nothing was fetched by this command.
    last = "docplatform: interrupted" if command == "totals" else kept(store)
    assert ended.err.splitlines()[-1] == last
    assert "budget is spent" not in ended.err
