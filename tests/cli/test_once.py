"""``--once FILE``: a command that is run again does not create its job twice (docs/reliability.md, A15)."""

from __future__ import annotations

import json
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from docplatform.testing import StubServer
from helpers.cli import SCRIPT, SOON, Cli
from helpers.phases import HOLD, pending
from helpers.scripts import Script, run_script

RUN = ("job", "run", "Fix it", *SOON)


@pytest.fixture
def once(tmp_path: Path) -> tuple[str, str]:
    return ("--once", str(tmp_path / "job.json"))


@pytest.fixture
def file(once: tuple[str, str]) -> Path:
    return Path(once[1])


def created(stub: StubServer) -> int:
    return sum(request.method == "POST" for request in stub.requests)


@pytest.mark.row("A15")
@pytest.mark.parametrize("line", [RUN, ("job", "create", "Fix it")], ids=" ".join)
def test_the_second_run_uses_the_job_of_the_first(
    cli: Cli, once: tuple[str, str], line: tuple[str, ...]
) -> None:
    first, second = cli(*line, *once), cli(*line, *once)
    assert (first.status, second.status, created(cli.stub)) == (0, 0, 1)
    assert first.out == second.out != ""
    assert f"{once[1]} remembers this job" in second.err


@pytest.mark.row("A15")
def test_a_run_after_a_timeout_or_a_failed_job_ends_as_the_job_stands(
    cli: Cli, once: tuple[str, str]
) -> None:
    cli.stub.script_job("active")
    again = (*RUN, *once, "--timeout", "0")
    assert [cli(*again).status, cli(*again).status] == [6, 6]
    for status, code in (("failed", 5), ("failed", 5), ("completed", 0)):
        cli.stub.jobs[0].status = status
        assert cli(*again).status == code
    assert created(cli.stub) == 1


@pytest.mark.row("A15")
def test_nothing_is_sent_while_the_outcome_is_unknown(cli: Cli, once: tuple[str, str], file: Path) -> None:
    cli.stub.fail_next(drop=True)
    assert cli(*RUN, *once).status == 7
    ended = cli(*RUN, *once)
    assert (ended.status, ended.out, created(cli.stub)) == (7, "", 1)
    assert f"remove {file}" in ended.err
    assert file.stat().st_mode & 0o777 == 0o600
    file.unlink()
    assert cli(*RUN, *once).status == 0


@pytest.mark.row("A15")
@pytest.mark.parametrize("fault", [{"status": 401}, {"status": 429}, {"status": 400}])
def test_a_refused_job_may_be_sent_again(
    cli: Cli, once: tuple[str, str], file: Path, fault: dict[str, Any]
) -> None:
    cli.stub.fail_next(**fault)
    assert cli(*RUN, *once).status in (1, 3, 4)
    assert not file.exists()
    assert cli(*RUN, *once).status == 0


@pytest.mark.row("A15")
def test_a_job_that_was_not_sent_may_be_sent_again(cli: Cli, once: tuple[str, str], file: Path) -> None:
    assert cli("job", "run", " ", *once).status == 2
    assert not file.exists()
    cli.stub.close()
    assert cli(*RUN, *once).status == 1
    assert not file.exists()
    cli.stub.start()
    assert cli(*RUN, *once).status == 0


@pytest.mark.parametrize(
    "other", [("Fix that",), ("Fix it", "--project", "x"), ("Fix it", "--base-url", "http://127.0.0.1:9")]
)
def test_a_file_is_for_one_job_only(cli: Cli, once: tuple[str, str], other: tuple[str, ...]) -> None:
    assert cli("job", "create", "Fix it", *once).status == 0
    ended = cli("job", "create", *other, *once)
    assert (ended.status, ended.out, len(cli.stub.requests)) == (2, "", 1)
    assert "another prompt, project or address" in ended.err


@pytest.mark.parametrize("content", ["", "x", "[]", "{}", '"x"', "null", '{"job": "job-1"}'])
def test_a_file_of_another_origin_is_refused_and_unchanged(
    cli: Cli, once: tuple[str, str], file: Path, content: str
) -> None:
    file.write_text(content)
    ended = cli("job", "create", "Fix it", *once)
    assert (ended.status, ended.out, cli.stub.requests) == (2, "", [])
    assert file.read_text() == content


@pytest.mark.row("A15")
def test_nothing_is_sent_if_the_file_cannot_be_written(cli: Cli, tmp_path: Path) -> None:
    ended = cli(*RUN, "--once", str(tmp_path / "no-such-folder" / "job.json"))
    assert (ended.status, ended.out, cli.stub.requests) == (1, "", [])


@pytest.mark.row("A15")
def test_a_job_that_cannot_be_recorded_is_named(
    cli: Cli, once: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("tempfile.NamedTemporaryFile", full)
        ended = cli(*RUN, "--quiet", *once)
    assert (ended.status, ended.out) == (1, "")
    assert "docplatform job wait job-1" in ended.err
    assert "No space left" in ended.err
    assert (cli(*RUN, *once).status, created(cli.stub)) == (7, 1)


def test_the_file_contains_neither_the_prompt_nor_the_key(
    cli: Cli, once: tuple[str, str], file: Path
) -> None:
    cli("job", "create", "Fix the secret page", *once)
    text = file.read_text()
    assert json.loads(text)["job"] == "job-1"
    assert "secret" not in text
    assert cli.stub.api_key not in text
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.row("A15")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_run_killed_during_the_request_is_not_repeated(
    stub: StubServer, once: tuple[str, str], number: int
) -> None:
    stub.latency = HOLD
    with Script(SCRIPT, *RUN, *once, stub=stub) as script:
        stub.wait_for(pending)
        script.signal(number)
        assert script.end().status == (130 if number == signal.SIGINT else -number)
    stub.latency = 0
    assert run_script(SCRIPT, *RUN, *once, stub=stub).status == 7
    assert created(stub) == 1


@pytest.mark.row("A15")
def test_a_run_killed_during_the_wait_continues(stub: StubServer, once: tuple[str, str]) -> None:
    stub.script_job("active", "completed")
    line = ("job", "run", "Fix it", *once, "--poll-interval", "60")
    with Script(SCRIPT, *line, stub=stub) as script:
        stub.wait_for(lambda s: any(r.method == "GET" and r.status for r in s.requests))
        script.signal(signal.SIGKILL)
        script.end()
    ended = run_script(SCRIPT, *line, stub=stub)
    assert (ended.status, ended.out) == (0, "https://github.com/example/docs/pull/1\n")
    assert created(stub) == 1


@pytest.mark.row("A15")
def test_several_at_the_same_time_create_one_job(stub: StubServer, once: tuple[str, str]) -> None:
    with ThreadPoolExecutor(4) as pool:
        ended = list(pool.map(lambda _: run_script(SCRIPT, *RUN, *once, stub=stub), range(4)))
    assert created(stub) == 1
    # The others came before the outcome was known, or after.
    codes = [e.status for e in ended]
    assert set(codes) <= {0, 2, 7}
    assert 0 in codes
