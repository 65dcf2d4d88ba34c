"""Every exit code, and what is said with it."""

from __future__ import annotations

import re
import shlex
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from docplatform import ConfigurationError, Visitors
from docplatform.cli.exits import MEANINGS, Exit
from docplatform.testing import StubServer
from helpers.cli import KEPT, SCRIPT, Cli
from helpers.phases import HOLD, pending
from helpers.scripts import Script, run_script

SOON = ("--poll-interval", "0.01")


@pytest.mark.row("J12")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "Usage: docplatform"),
        (("job",), "Usage: docplatform job"),
        (("jobs",), "No such command 'jobs'"),
        (("job", "run", "Fix", "the", "links"), "put quotes around it"),
        (("job", "run", "Fix it", "-f", "prompt.txt"), "not both"),
        (("job", "run", "-f", "no-such-file.txt"), "no-such-file.txt: No such file"),
        (("job", "run", "-f", "/"), "cannot be read"),
        (("job", "run", "  "), "the prompt is empty"),
        (("job", "run"), "the prompt is empty"),
        (("job", "run", "Fix \udcff it"), "surrogates"),
        (("job", "run", "Fix it", "--timeout", "soon"), "45m"),
        (("job", "run", "Fix it", "--timeout", "-1"), "45m"),
        (("job", "run", "Fix it", "--timeout", "nan"), "45m"),
        (("job", "run", "Fix it", "--timeout", "9999h"), "a year is the most"),
        (("job", "run", "Fix it", "--timeout", "9" * 400), "a year is the most"),
        (("job", "run", "Fix it", "--poll-interval", "0m"), "too short"),
        (("job", "run", "Fix it", "--poll-interval", "9999h"), "a year is the most"),
        (("job", "run", "Fix it", "--job-path", "/v2"), "--job-path must contain {id}"),
        (
            ("job", "run", "Fix it", "--job-path", "v2"),
            '--job-path must start with "/"; it looks like "/v2/agent/{project_id}',
        ),
        (("job", "get", "../job"), "id"),
        (("job", "get", ""), "id"),
        (
            ("job", "get", "job-1", "--base-url", "https://127.0.0.1", "--ca-bundle", "/dev/zero"),
            "longer than",
        ),
        (("job", "run", "-f", "/dev/zero"), "longer than 16 MiB"),
        (("report", "-o", "none/report.html"), "there is no folder none: create it"),
        (("visitors", "totals", "--from", "2026-02-01", "--to", "2026-01-01"), "exclusive"),
        (("visitors", "totals", "--from", "yesterday"), "--from"),
        (("stub", "--visitors", "many"), "invalid int value"),
        (("stub", "--visitors", "-1"), "visitors"),
        (("stub", "--port", "99999"), "port"),
        (("stub", "--latency", "nan"), "latency"),
        (("demo", "--no-such-option"), "--no-such-option"),
    ],
)
def test_2_usage(cli: Cli, arguments: tuple[str, ...], says: str) -> None:
    ended = cli(*arguments)
    assert (ended.status, ended.out) == (2, "")
    assert says in ended.err
    assert cli.stub.requests == []


@pytest.mark.row("J12")
def test_3_key_refused_while_waiting(cli: Cli) -> None:
    cli.stub.fail_next(status=401, path="/job/job-1")
    ended = cli("job", "run", "Fix it", *SOON)
    assert (ended.status, ended.out) == (3, "")
    # The job is there all the same.
    assert ended.err.splitlines()[-1].endswith("To wait for it: docplatform job wait job-1")


@pytest.mark.row("J12")
@pytest.mark.parametrize("error", [ValueError, ConfigurationError])
def test_what_fails_after_a_request_is_no_wrong_usage(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, error: type[ValueError]
) -> None:
    def counted(visitors: Visitors, _: object) -> Iterator[dict[str, Any]]:
        yield from (dict(row) for row in visitors)
        raise error("it failed on the way")

    monkeypatch.setattr("docplatform.cli.visitors.counted", counted)
    ended = cli("visitors", "top")
    assert (ended.status, ended.out, len(cli.stub.requests)) == (1, "", 4)
    assert ended.err.splitlines()[1:] == [
        "docplatform: it failed on the way",
        f"4 requests had been answered, and {KEPT}",
    ]


@pytest.mark.row("J12")
def test_5_job_failed(cli: Cli) -> None:
    cli.stub.script_job("failed")
    ended = cli("job", "run", "Fix it", *SOON)
    assert (ended.status, ended.out) == (5, "")
    assert "job job-1 failed" in ended.err
    assert cli("job", "wait", "job-1").status == 5
    # Looking at it is no failure.
    assert cli("job", "get", "job-1").status == 0


def test_commands_to_copy_have_the_options_that_were_given(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    key = tmp_path / "my key"
    key.touch(0o600)
    key.write_text(cli.stub.api_key)
    given = {
        "--base-url": cli.stub.url,
        "--project": "demo",
        "--api-key-file": str(key),
        "--job-path": "/v2/agent/{project_id}/job/{id}",
    }
    for name in ("BASE_URL", "PROJECT_ID", "API_KEY"):
        monkeypatch.delenv(f"DOCPLATFORM_{name}")
    options = [word for pair in given.items() for word in pair]
    told = shlex.join(options)
    cli.stub.script_job("active")
    for arguments in (("create",), ("run", "--no-wait"), ("run", "--timeout", "0")):
        last = cli("job", *arguments, "Fix it", *options).err.splitlines()[-1]
        assert re.search(rf": docplatform job wait {re.escape(told)} job-\d$", last)
    # It can be copied.
    assert cli(*shlex.split(last.partition(": docplatform ")[2]), "--timeout", "0").status == 6
    cli.stub.fail_next(drop=True)
    assert f"`docplatform job wait {told} ID`" in cli("job", "run", "Fix it", *options).err
    cli.stub.fail_next(status=401)
    doctor = shlex.join(options[:6])
    assert f"`docplatform doctor {doctor}`" in cli("job", "get", "job-1", *options).err
    cli.stub.fail_next(status=401)
    ended = cli("visitors", "totals", *options[:6], "--store", "v.db")
    assert f"`docplatform doctor {doctor} --store v.db`" in ended.err
    # A password is not repeated.
    ended = cli("job", "get", "job-1", *options[2:6], "--base-url", "https://user:hush@example.com")
    assert ended.status == 2
    assert "hush" not in ended.err


@pytest.mark.row("I4", "J12")
@pytest.mark.parametrize(
    "command", [("run", "Fix it"), ("wait", "job-1"), ("message", "--wait", "job-1", "And that")]
)
def test_130_while_waiting(stub: StubServer, command: tuple[str, ...]) -> None:
    stub.script_job("active")
    if "job-1" in command:
        with stub.client() as client:
            client.create_job("Fix it")
    with Script(SCRIPT, "job", *command, "--poll-interval", "0.1", stub=stub) as script:
        # The second poll tells that the first was seen.
        stub.wait_for(lambda s: sum(r.method == "GET" for r in s.requests) > 1)
        script.signal(signal.SIGINT)
        ended = script.end()
    assert (ended.status, ended.out) == (130, "")
    assert ended.err.splitlines()[-2:] == [
        "docplatform: interrupted",
        "Job job-1 goes on by itself. To wait for it: docplatform job wait job-1",
    ]


@pytest.mark.row("J12")
@pytest.mark.skipif(sys.platform == "win32", reason="it is ended with a signal")
def test_75_another_sync_is_at_work(stub: StubServer, store: Path) -> None:
    stub.latency = HOLD
    sync = ("sync", "--last", "1", "--on-running", "stop", "--store", str(store))
    with Script(SCRIPT, *sync, stub=stub):
        stub.wait_for(pending, timeout=30)
        assert run_script(SCRIPT, *sync, stub=stub).status == 75


@pytest.mark.row("J12")
def test_the_help_lists_every_code(cli: Cli) -> None:
    out = cli("--help").out
    for code in Exit:
        assert f"{code:>5}  {MEANINGS[code]}\n" in out


@pytest.mark.row("J12")
@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
def test_the_codes_are_those_that_scripts_know() -> None:
    assert [int(code) for code in Exit] == [0, 1, 2, 3, 4, 5, 6, 7, 75, 130, 141]
    assert Exit.INTERRUPTED == 128 + signal.SIGINT
    assert Exit.BROKEN_PIPE == 128 + signal.SIGPIPE
