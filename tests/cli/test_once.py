"""``--once``: a command that is run again does not have its job done twice (reliability.md, A15)."""

from __future__ import annotations

import json
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from docplatform.testing import StubServer
from helpers.cli import SCRIPT, Cli
from helpers.phases import HOLD, pending
from helpers.scripts import Script, run_script

SOON = ("--poll-interval", "0.01")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "job.json"


def created(stub: StubServer) -> int:
    return sum(request.method == "POST" for request in stub.requests)


@pytest.mark.row("A15")
@pytest.mark.parametrize("command", [("run", *SOON), ("create",)])
def test_run_again_it_takes_the_job_up(cli: Cli, file: Path, command: tuple[str, ...]) -> None:
    first = cli("job", *command, "Fix it", "--once", str(file))
    second = cli("job", *command, "Fix it", "--once", str(file))
    assert (first.status, second.status, created(cli.stub)) == (0, 0, 1)
    assert first.out == second.out != ""
    assert f"{file} remembers this job" in second.err


@pytest.mark.row("A15")
def test_after_a_wait_that_timed_out_or_a_job_that_failed(cli: Cli, file: Path) -> None:
    cli.stub.script_job("active")
    again = ("job", "run", "Fix it", "--once", str(file), "--timeout", "0")
    assert [cli(*again).status, cli(*again).status] == [6, 6]
    cli.stub.jobs[0].status = "failed"
    assert [cli(*again).status, cli(*again).status] == [5, 5]
    cli.stub.jobs[0].status = "completed"
    assert cli(*again).status == 0
    assert created(cli.stub) == 1


@pytest.mark.row("A15")
def test_while_the_outcome_is_unknown_nothing_is_sent(cli: Cli, file: Path) -> None:
    cli.stub.fail_next(drop=True)
    again = ("job", "run", "Fix it", "--once", str(file), *SOON)
    assert cli(*again).status == 7
    ended = cli(*again)
    assert (ended.status, ended.out, created(cli.stub)) == (7, "", 1)
    assert f"remove {file}" in ended.err
    assert file.stat().st_mode & 0o777 == 0o600
    file.unlink()
    assert cli(*again).status == 0


@pytest.mark.row("A15")
@pytest.mark.parametrize("fault", [{"status": 401}, {"status": 429}, {"status": 400}])
def test_what_was_refused_may_be_sent_again(cli: Cli, file: Path, fault: dict[str, Any]) -> None:
    cli.stub.fail_next(**fault)
    again = ("job", "run", "Fix it", "--once", str(file), *SOON)
    assert cli(*again).status in (1, 3, 4)
    assert not file.exists()
    assert cli(*again).status == 0


@pytest.mark.row("A15")
def test_what_was_not_sent_may_be_sent_again(cli: Cli, file: Path) -> None:
    again = ("job", "run", "--once", str(file), *SOON)
    assert cli(*again, " ").status == 2
    assert not file.exists()
    cli.stub.close()
    assert cli(*again, "Fix it").status == 1
    assert not file.exists()
    cli.stub.start()
    assert cli(*again, "Fix it").status == 0


@pytest.mark.parametrize(
    "other", [("Fix that",), ("Fix it", "--project", "x"), ("Fix it", "--base-url", "http://127.0.0.1:9")]
)
def test_it_is_of_one_job_only(cli: Cli, file: Path, other: tuple[str, ...]) -> None:
    assert cli("job", "create", "Fix it", "--once", str(file)).status == 0
    ended = cli("job", "create", *other, "--once", str(file))
    assert (ended.status, ended.out, len(cli.stub.requests)) == (2, "", 1)
    assert "another prompt, project or address" in ended.err


@pytest.mark.parametrize("content", ["", "x", "[]", "{}", '"x"', "null", '{"job": "job-1"}'])
def test_another_file_is_left_alone(cli: Cli, file: Path, content: str) -> None:
    file.write_text(content)
    ended = cli("job", "create", "Fix it", "--once", str(file))
    assert (ended.status, ended.out, cli.stub.requests) == (2, "", [])
    assert file.read_text() == content


@pytest.mark.row("A15")
def test_where_it_cannot_be_written_nothing_is_sent(cli: Cli, tmp_path: Path) -> None:
    ended = cli("job", "create", "Fix it", "--once", str(tmp_path / "no-such-folder" / "job.json"))
    assert (ended.status, ended.out, cli.stub.requests) == (1, "", [])


@pytest.mark.row("A15")
def test_where_the_job_cannot_be_remembered_it_is_told(
    cli: Cli, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("tempfile.NamedTemporaryFile", full)
        ended = cli("job", "run", "Fix it", "--quiet", "--once", str(file))
    assert (ended.status, ended.out) == (1, "")
    assert "docplatform job wait job-1" in ended.err
    assert "No space left" in ended.err
    assert cli("job", "run", "Fix it", "--once", str(file)).status == 7
    assert created(cli.stub) == 1


def test_it_holds_neither_the_prompt_nor_the_key(cli: Cli, file: Path) -> None:
    cli("job", "create", "Fix the secret page", "--once", str(file))
    text = file.read_text()
    assert json.loads(text)["job"] == "job-1"
    assert "secret" not in text
    assert cli.stub.api_key not in text
    assert [path.name for path in file.parent.iterdir()] == [file.name]


@pytest.mark.row("A15")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_killed_while_it_was_sent(stub: StubServer, file: Path, number: int) -> None:
    arguments = ("job", "run", "Fix it", "--once", str(file))
    stub.latency = HOLD
    with Script(SCRIPT, *arguments, stub=stub) as script:
        stub.wait_for(pending)
        script.signal(number)
        assert script.end().status == (130 if number == signal.SIGINT else -number)
    stub.latency = 0
    assert run_script(SCRIPT, *arguments, stub=stub).status == 7
    assert created(stub) == 1


@pytest.mark.row("A15")
def test_killed_while_it_waited(stub: StubServer, file: Path) -> None:
    stub.script_job("active", "completed")
    arguments = ("job", "run", "Fix it", "--once", str(file), "--poll-interval", "60")
    with Script(SCRIPT, *arguments, stub=stub) as script:
        stub.wait_for(lambda s: any(r.method == "GET" and r.status for r in s.requests))
        script.signal(signal.SIGKILL)
        script.end()
    ended = run_script(SCRIPT, *arguments, stub=stub)
    assert (ended.status, ended.out) == (0, "https://github.com/example/docs/pull/1\n")
    assert created(stub) == 1


@pytest.mark.row("A15")
def test_two_at_the_same_time_create_one_job(stub: StubServer, file: Path) -> None:
    arguments = ("job", "create", "Fix it", "--once", str(file))
    with ThreadPoolExecutor(4) as pool:
        ended = list(pool.map(lambda _: run_script(SCRIPT, *arguments, stub=stub), range(4)))
    assert created(stub) == 1
    # The others came before it was known, or after.
    assert {e.status for e in ended} <= {0, 2, 7}
    assert sum(e.status == 0 for e in ended) >= 1
