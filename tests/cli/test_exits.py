"""Exit codes of single commands, and what is printed with them. The matrix has what all commands share."""

from __future__ import annotations

import json
import re
import shlex
import signal
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from docplatform import Client, ConfigurationError
from docplatform.cli.exits import MEANINGS, Exit
from docplatform.testing import StubServer
from helpers.cli import LOST, SCRIPT, SIGNALS, SOON, Cli, run
from helpers.connection import answer
from helpers.faults import READ_HEAD, SEND, FaultServer
from helpers.marks import posix
from helpers.phases import HOLD, pending, with_a_job
from helpers.scripts import Script, run_script


@pytest.mark.row("J12")
@posix
def test_the_help_lists_every_code(cli: Cli) -> None:
    assert [int(code) for code in Exit] == [0, 1, 2, 3, 4, 5, 6, 7, 75, 130, 141, 143]
    signals = (signal.SIGINT, signal.SIGPIPE, signal.SIGTERM)
    assert tuple(128 + number for number in signals) == (Exit.INTERRUPTED, Exit.BROKEN_PIPE, Exit.TERMINATED)
    out = cli("--help").out
    for code in Exit:
        assert f"{code:>5}  {MEANINGS[code]}\n" in out


@pytest.mark.row("J12")
@pytest.mark.parametrize("error", [ValueError, ConfigurationError])
def test_a_failure_after_a_request_is_1_and_not_wrong_usage(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, error: type[ValueError], tmp_path: Path
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error("it failed on the way")

    monkeypatch.setattr("docplatform.cli.writing.Writer.write", fail)
    ended = cli("visitors", "top", "-o", str(tmp_path / "top.csv"))
    assert (ended.status, ended.out, len(cli.stub.requests)) == (1, "", 4)
    assert ended.err.splitlines()[1:] == [
        "docplatform: it failed on the way",
        f"4 requests {LOST}",
    ]


WORDS = "page_size is wrong; before that, so is base_url"


@pytest.mark.row("J12")
@pytest.mark.parametrize(
    ("status", "body", "advice"),
    [
        (200, WORDS, ""),
        (400, {"error": WORDS}, ""),
        (302, {"error": WORDS}, "; redirects are never followed (to nowhere): set --base-url to"),
        (302, None, "; redirects are never followed (to nowhere): set --base-url to"),
    ],
)
def test_the_service_s_own_words_stay_as_they_are(cli: Cli, status: int, body: Any, advice: str) -> None:
    cli.stub.fail_next(status=status, body=body)
    ended = cli("visitors", "totals")
    assert (ended.status, f"{WORDS if body else 'Found'}{advice}" in ended.err) == (1, True), ended.err


@pytest.mark.row("J12")
@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("job", "wait", "job-9"), 1),
        (("job", "run", "Fix it"), 1),
        (("job", "run", "--file", "prompts.json"), 7),
        (("fix", "2026-10", "--run", "1", "--yes", "--store", "docs.db"), 7),
    ],
)
def test_a_job_that_is_not_there_is_not_said_to_keep_running(
    stub: StubServer,
    command: tuple[str, ...],
    code: int,
    hurried: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("prompts.json").write_text('{"a": "Fix it"}', encoding="utf-8")
    stub.fail_next(status=404, path="/job/", times=100)
    ended = run(stub, *command, **hurried)
    assert (ended.status, "keeps running" in ended.err) == (code, False), ended.err


@pytest.mark.row("J12")
def test_a_failed_job_is_5_unless_it_is_only_looked_at(cli: Cli) -> None:
    cli.stub.script_job("failed")
    ended = cli("job", "run", "Fix it", *SOON)
    assert (ended.status, ended.out) == (5, "")
    assert "job job-1 failed" in ended.err
    assert "another name" not in ended.err
    assert (cli("job", "wait", "job-1").status, cli("job", "get", "job-1").status) == (5, 0)


@pytest.mark.row("N5")
def test_a_status_that_is_not_known_is_named_and_can_end_the_wait(cli: Cli) -> None:
    cli.stub.script_job("can celled")
    ended = cli("job", "run", "Fix it", "--timeout", "0", *SOON)
    assert (ended.status, ended.out) == (6, "")
    warning = "the status 'can celled', which this client does not know: the wait goes on"
    assert ended.err.count(warning) == 1
    last = ended.err.splitlines()[-1]
    found = re.search(r"look at the job on the platform: if it has ended, `docplatform (.*)` shows it$", last)
    assert found is not None, last
    assert "keeps running" not in ended.err
    ended = cli(*shlex.split(found[1]), *SOON)
    assert (ended.status, ended.err.splitlines()[-1]) == (0, "Job job-1 is can celled.")


@pytest.mark.row("J12")
@posix
def test_another_sync_at_work_is_75(stub: StubServer, store: Path) -> None:
    stub.latency = HOLD
    sync = ("sync", "--last", "1", "--on-running", "stop", "--store", str(store))
    with Script(SCRIPT, *sync, stub=stub):
        stub.wait_for(pending, timeout=30)
        ended = run_script(SCRIPT, *sync, "--json", stub=stub)
        assert (ended.status, json.loads(ended.out)["error"]["class"]) == (75, "StoreBusyError")


@pytest.mark.row("I4", "J12")
@pytest.mark.parametrize(
    "command", [("run", "Fix it"), ("wait", "job-1"), ("message", "--wait", "job-1", "And that")]
)
@SIGNALS
def test_a_signal_during_a_wait_says_how_to_wait_again(
    stub: StubServer, command: tuple[str, ...], number: int, code: int, says: str
) -> None:
    stub.script_job("active")
    if "job-1" in command:
        with_a_job(stub)
    with Script(SCRIPT, "job", *command, "--poll-interval", "0.1", stub=stub) as script:
        # The second poll shows that the first was seen.
        stub.wait_for(lambda s: sum(r.method == "GET" for r in s.requests) > 1)
        script.signal(number)
        ended = script.end()
    assert (ended.status, ended.out) == (code, "")
    assert ended.err.splitlines()[-2:] == [
        f"docplatform: {says}",
        "Job job-1 keeps running. To wait for it: docplatform job wait job-1",
    ]


@pytest.mark.row("I4", "J12")
@posix
def test_a_signal_during_a_wait_for_a_job_that_was_not_seen_says_that(stub: StubServer) -> None:
    stub.fail_next(status=503, times=100)
    with Script(SCRIPT, "job", "wait", "job-9", "--poll-interval", "0.1", stub=stub) as script:
        stub.wait_for(lambda s: len(s.requests) > 1)
        script.signal(signal.SIGINT)
        ended = script.end()
    assert ended.err.splitlines()[-2:] == [
        "docplatform: interrupted",
        "To wait for job job-9: docplatform job wait job-9",
    ]


def test_commands_to_copy_repeat_the_options_that_were_given(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    key = tmp_path / "my key"
    key.touch(0o600)
    key.write_text(cli.stub.api_key)
    for name in ("BASE_URL", "PROJECT_ID", "API_KEY"):
        monkeypatch.delenv(f"DOCPLATFORM_{name}")
    doctor = ["--base-url", cli.stub.url, "--project", "demo", "--api-key-file", str(key)]
    options = [*doctor, "--job-path", "/v2/agent/{project_id}/job/{id}"]
    repeated = shlex.join(options)
    cli.stub.script_job("active")
    for arguments in (("create",), ("run", "--no-wait"), ("run", "--timeout", "0")):
        last = cli("job", *arguments, "Fix it", *options).err.splitlines()[-1]
        assert re.search(rf": docplatform job wait {re.escape(repeated)} job-\d$", last)
    # It can be copied.
    assert cli(*shlex.split(last.partition(": docplatform ")[2]), "--timeout", "0").status == 6
    cli.stub.fail_next(drop=True)
    assert f"`docplatform job wait {repeated} ID`" in cli("job", "run", "Fix it", *options).err
    cli.stub.fail_next(status=401, times=2)
    assert f"`docplatform doctor {shlex.join(doctor)}`" in cli("job", "get", "job-1", *options).err
    ended = cli("visitors", "totals", *doctor, "--store", "v.db")
    assert f"`docplatform doctor {shlex.join(doctor)} --store v.db`" in ended.err
    # A file that is not there is named, unless it may be the key itself.
    for missing, is_named in (
        ("no-key.txt", True),
        ("/run/secrets/not-mounted-yet", True),
        ("mint" * 6, False),
    ):
        ended = cli("job", "get", "job-1", *doctor[:4], "--api-key-file", missing)
        assert (f"--api-key-file {missing}` checks" in ended.err) is is_named, ended.err
        assert is_named or missing not in ended.err
    # What else a command takes: a zero, and statuses that end a wait.
    ended = cli("job", "run", "Fix it", *options, "--timeout", "0", "--final", "paused", "--final", "off")
    assert f"job wait {repeated} --final paused --final off job-" in ended.err.splitlines()[-1]
    more = ["--store", "v.db", "--jobs-per-hour", "5", "--settle-days", "0", "--organization", "team"]
    ended = cli("fix", "2026-01", *options, *more)
    assert f"docplatform fix 2026-01 --run /sdk/v1 {repeated} {shlex.join(more)}" in ended.err
    # A password is not repeated.
    ended = cli("job", "get", "job-1", *doctor[2:], "--base-url", "https://user:hush@example.com")
    assert ended.status == 2
    assert "hush" not in ended.err


REFUSES = [READ_HEAD, SEND(answer(407, None, 'Proxy-Authenticate: Basic realm="proxy"'))]


@pytest.mark.row("G13")
@pytest.mark.parametrize(
    ("proxy", "says"),
    [
        (
            "http://user:hush@{}",
            "refuses the user name or password of its URL (407); check HTTPS_PROXY",
        ),
        ("http://{}", "asks for a user name and password (407); they belong in its URL, in HTTPS_PROXY"),
        ("http://127.0.0.1:1", "refused the connection; check HTTPS_PROXY"),
    ],
    ids=["a wrong password", "no password", "dead"],
)
def test_a_proxy_that_fails_is_named_in_the_words_of_the_command_line(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, proxy: str, says: str
) -> None:
    monkeypatch.setattr("docplatform.cli.session.Client", partial(Client, max_retries=0))
    with FaultServer() as server:
        server.rest(*REFUSES)
        monkeypatch.setenv("HTTPS_PROXY", proxy.format(f"127.0.0.1:{server.port}"))
        ended = cli("visitors", "totals", "--base-url", "https://docs.example", "--json")
    error = json.loads(ended.out)["error"]
    assert (ended.status, error["class"], says in error["message"]) == (1, "ConnectError", True), ended.err
    # The variable that counts is named alone.
    assert "ALL_PROXY" not in ended.err
    assert "--base-url" not in ended.err
    assert ("belong in" in ended.err) is (says.startswith("asks"))
