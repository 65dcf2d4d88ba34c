"""Every exit code, and what is said with it."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from docplatform import ConfigurationError, Visitors
from docplatform.cli.exits import MEANINGS, Exit
from docplatform.testing import StubServer
from support.cli import SCRIPT, Cli
from support.phases import HOLD, pending
from support.scripts import Script, environment, run_script
from test_cli_process import closed_pipe
from test_cli_store import KEPT

PYTHONS = re.compile(r"Traceback|\w_\w+=|\bTrue\b|Path\(|Errno")
"""Words that are Python's, and no user of the command line knows."""
SOON = ("--poll-interval", "0.01")


@pytest.mark.row("J12")
def test_0_done(cli: Cli) -> None:
    ended = cli("job", "run", "Fix it", *SOON)
    assert (ended.status, ended.out) == (0, "https://github.com/example/docs/pull/1\n")
    assert "Job job-1 is completed." in ended.err


@pytest.mark.row("J12")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("job", "get", "job-9"), "No such job"),
        (("job", "wait", "job-9"), "No such job"),
        (("visitors", "totals"), "status 500"),
    ],
)
def test_1_failure(cli: Cli, arguments: tuple[str, ...], says: str) -> None:
    cli.stub.fail_next(status=500, path="/visitors", times=3)
    ended = cli(*arguments)
    assert (ended.status, ended.out) == (1, "")
    assert says in ended.err


@pytest.mark.row("J12")
def test_1_no_service(cli: Cli) -> None:
    cli.stub.close()
    ended = cli("visitors", "totals")
    assert (ended.status, ended.out) == (1, "")
    assert "refused" in ended.err


@pytest.mark.row("J12")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "Usage: docplatform"),
        (("job",), "Usage: docplatform job"),
        (("jobs",), "No such command 'jobs'"),
        (("job", "run", "--no-such-option"), "--no-such-option"),
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
        (("job", "run", "Fix it", "--job-path", "/v2"), "--job-path must contain"),
        (("job", "get", "../job"), "id"),
        (("job", "get", ""), "id"),
        (("job", "get", "job-1", "--project", "../x"), "--project contains"),
        (("job", "get", "job-1", "--base-url", "http://example.com"), "--base-url example.com is plain http"),
        (("job", "get", "job-1", "--ca-bundle", "no-such-file.pem"), "--ca-bundle no-such-file.pem"),
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
    assert not PYTHONS.search(ended.err)
    assert cli.stub.requests == []


@pytest.mark.row("J12")
@pytest.mark.parametrize("variable", ["DOCPLATFORM_BASE_URL", "DOCPLATFORM_PROJECT_ID"])
def test_2_missing_settings(cli: Cli, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.delenv(variable)
    ended = cli("job", "run", "Fix it")
    assert (ended.status, ended.out) == (2, "")
    assert variable in ended.err
    assert "docplatform doctor" in ended.err


@pytest.mark.row("J12")
@pytest.mark.parametrize("key", [None, "", "Bearer dp_secret", "dp secret"])
def test_3_no_usable_key(cli: Cli, monkeypatch: pytest.MonkeyPatch, key: str | None) -> None:
    if key is None:
        monkeypatch.delenv("DOCPLATFORM_API_KEY")
    else:
        monkeypatch.setenv("DOCPLATFORM_API_KEY", key)
    ended = cli("job", "run", "Fix it")
    assert (ended.status, ended.out, cli.stub.requests) == (3, "", [])
    assert "API key" in ended.err
    assert "secret" not in ended.err
    assert "docplatform doctor" in ended.err


@pytest.mark.row("J12")
@pytest.mark.parametrize("status", [401, 403])
def test_3_key_refused(cli: Cli, status: int) -> None:
    cli.stub.fail_next(status=status)
    ended = cli("job", "run", "Fix it")
    assert (ended.status, ended.out) == (3, "")
    assert f"status {status}" in ended.err


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
def test_4_rate(cli: Cli) -> None:
    cli.stub.fail_next(status=429, retry_after=3600, times=2)
    ended = cli("job", "run", "Fix it")
    assert (ended.status, ended.out) == (4, "")
    assert "3600 s" in ended.err
    assert cli("visitors", "totals").status == 4


@pytest.mark.row("J12")
def test_5_job_failed(cli: Cli) -> None:
    cli.stub.script_job("failed")
    ended = cli("job", "run", "Fix it", *SOON)
    assert (ended.status, ended.out) == (5, "")
    assert "job job-1 failed" in ended.err
    assert cli("job", "wait", "job-1").status == 5
    # Looking at it is no failure.
    assert cli("job", "get", "job-1").status == 0


@pytest.mark.row("J12")
def test_6_wait_timed_out(cli: Cli) -> None:
    cli.stub.script_job("active")
    ended = cli("job", "run", "Fix it", "--timeout", "0.05s", *SOON)
    assert (ended.status, ended.out) == (6, "")
    assert ended.err.splitlines()[-1] == (
        "Job job-1 goes on by itself. To wait for it: docplatform job wait job-1"
    )
    assert cli("job", "wait", "job-1", "--timeout", "0").status == 6


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


@pytest.mark.row("A1", "A15", "J12")
@pytest.mark.parametrize(
    "command", [("run",), ("create",), ("message", "job-1"), ("message", "--wait", "job-1")]
)
@pytest.mark.parametrize("fault", [{"drop": True}, {"status": 503}])
def test_7_unconfirmed(cli: Cli, command: tuple[str, ...], fault: dict[str, object]) -> None:
    cli.stub.fail_next(**fault)  # type: ignore[arg-type]  # each is one of its arguments
    ended = cli("job", *command, "Fix it")
    assert (ended.status, ended.out, len(cli.stub.requests)) == (7, "", 1)
    assert "Look on the platform" in ended.err
    assert ("stub-00000001" in ended.err) is ("status" in fault)


@pytest.mark.row("A15", "J12")
def test_7_applied_but_unreadable(cli: Cli) -> None:
    cli.stub.fail_next(status=201, body="<html>")
    ended = cli("job", "run", "Fix it")
    assert (ended.status, ended.out) == (7, "")
    assert "Do not run this again" in ended.err


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


@pytest.mark.row("A13", "I4", "J12")
@pytest.mark.parametrize("command", [("run",), ("message", "--wait", "job-1")])
def test_130_while_writing(stub: StubServer, command: tuple[str, ...]) -> None:
    stub.latency = HOLD
    with Script(SCRIPT, "job", *command, "Fix it", stub=stub) as script:
        stub.wait_for(pending)
        script.signal(signal.SIGINT)
        ended = script.end()
    assert (ended.status, ended.out) == (130, "")
    assert "its outcome is unknown" in ended.err
    assert "Traceback" not in ended.err


def process(*arguments: str, **fault: object) -> Callable[[StubServer], int]:
    """How a process ends whose service has ``fault``."""

    def end(stub: StubServer) -> int:
        if fault:
            stub.fail_next(**fault)  # type: ignore[arg-type]  # each is one of its arguments
        return run_script(SCRIPT, *arguments, stub=stub).status

    return end


def of_job(status: str, *arguments: str) -> Callable[[StubServer], int]:
    def end(stub: StubServer) -> int:
        stub.script_job(status)
        return process("job", "run", "Fix it", *SOON, *arguments)(stub)

    return end


def interrupted(stub: StubServer) -> int:
    stub.latency = HOLD
    with Script(SCRIPT, "visitors", "totals", stub=stub) as script:
        stub.wait_for(pending)
        script.signal(signal.SIGINT)
        return script.end().status


def unread(stub: StubServer) -> int:
    with closed_pipe() as pipe:
        command = [sys.executable, "-m", "docplatform", "visitors", "totals"]
        return subprocess.run(command, env=environment(stub), stdout=pipe, timeout=60, check=False).returncode


def busy(stub: StubServer) -> int:
    stub.latency = HOLD
    with TemporaryDirectory() as folder:
        sync = ("sync", "--last", "1", "--on-running", "stop", "--store", f"{folder}/visitors.db")
        with Script(SCRIPT, *sync, stub=stub):
            stub.wait_for(pending, timeout=30)
            return process(*sync)(stub)


ENDS: dict[Exit, Callable[[StubServer], int]] = {
    Exit.DONE: process("visitors", "totals"),
    Exit.FAILURE: process("job", "get", "job-9"),
    Exit.USAGE: process("visitors", "trend"),
    Exit.KEY: process("visitors", "totals", status=403),
    Exit.LIMIT: process("visitors", "totals", status=429, retry_after=3600),
    Exit.JOB_FAILED: of_job("failed"),
    Exit.WAIT_TIMED_OUT: of_job("active", "--timeout", "0"),
    Exit.UNCONFIRMED: process("job", "create", "Fix it", drop=True),
    Exit.BUSY: busy,
    Exit.INTERRUPTED: interrupted,
    Exit.BROKEN_PIPE: unread,
}


@pytest.mark.row("J12")
@pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes are POSIX's")
@pytest.mark.parametrize("code", Exit)
def test_every_code_is_how_a_process_ends(stub: StubServer, code: Exit) -> None:
    assert ENDS[code](stub) == code


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
