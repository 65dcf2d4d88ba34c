"""The output of commands about jobs, the sources of prompts, and what is logged and shown during a wait."""

from __future__ import annotations

import re
from pathlib import Path
from queue import Queue

import pytest

from docplatform.cli import main, output
from docplatform.cli.params import duration
from helpers.cli import SOON, Cli

LINK = "https://github.com/example/docs/pull/1"


# -- jobs ------------------------------------------------------------------------------------------


@pytest.mark.row("J11")
def test_run_prints_the_pull_request_alone(cli: Cli) -> None:
    ended = cli("job", "run", "Fix it", "--wait", *SOON)
    assert (ended.out, ended.err.splitlines()[-1]) == (f"{LINK}\n", "Job job-1 is completed.")
    assert cli.stub.jobs[0].prompts == ["Fix it"]


def test_without_a_pull_request_run_prints_nothing_and_names_both_reasons(cli: Cli) -> None:
    cli.stub.script_job("completed", pr_link=None)
    ended = cli("job", "run", "Fix it", *SOON)
    assert (ended.status, ended.out) == (0, "")
    assert "no pull request: nothing changed, or this project publishes without one." in ended.err


def test_a_job_that_is_not_waited_for_is_printed_as_its_id(cli: Cli) -> None:
    ended = cli("job", "create", "Fix it")
    assert ended.out == "job-1\n"
    assert "docplatform job wait job-1" in ended.err
    assert cli("job", "run", "--no-wait", "Fix it").out == "job-2\n"
    assert [request.method for request in cli.stub.requests] == ["POST", "POST"]


def test_wait_and_message(cli: Cli) -> None:
    cli("job", "create", "Fix it")
    assert cli("job", "wait", "job-1", *SOON).out == f"{LINK}\n"
    assert cli("job", "message", "job-1", "And that").out == "job-1\n"
    assert cli("job", "message", "job-1", "--wait", *SOON, stdin=b"And this").out == f"{LINK}\n"
    assert cli.stub.jobs[0].prompts == ["Fix it", "And that", "And this"]


def test_get_shows_what_is_known(cli: Cli) -> None:
    cli.stub.script_job("completed", pr_link=None)
    cli("job", "create", "Fix it")
    lines = dict(line.split("\t") for line in cli("job", "get", "job-1").out.splitlines())
    assert list(lines) == ["id", "status", "repository", "ref", "model", "created"]
    assert (lines["id"], lines["status"]) == ("job-1", "completed")


# -- the prompt ------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [(), ("-",), ("--file", "-"), ("-f-",)])
def test_a_prompt_from_standard_input(cli: Cli, arguments: tuple[str, ...]) -> None:
    prompt = "Fix the links\nand the größte list\n"
    ended = cli("job", "create", *arguments, stdin=b"\xef\xbb\xbf" + prompt.encode())
    assert ended.err.startswith("Reading the prompt from standard input.\n")
    assert cli.stub.jobs[0].prompts == [prompt.removesuffix("\n")]


def test_a_prompt_from_a_file(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "prompt.md").write_bytes("Fix the größte list".encode())
    assert cli("job", "create", "--file", str(tmp_path / "prompt.md")).status == 0
    assert cli.stub.jobs[0].prompts == ["Fix the größte list"]


def test_a_prompt_that_looks_like_an_option(cli: Cli) -> None:
    cli("job", "create", "--", "--key is undocumented")
    assert cli.stub.jobs[0].prompts == ["--key is undocumented"]


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("90s", 90), ("45m", 2700), ("1.5h", 5400), ("0", 0)]
)
def test_durations(text: str, seconds: float) -> None:
    assert duration(text) == seconds


# -- foreign text ----------------------------------------------------------------------------------


@pytest.mark.row("J8")
def test_a_link_stays_one_line(cli: Cli) -> None:
    cli.stub.script_job("completed", pr_link="https://github.com/x\nurl=https://evil.example")
    ended = cli("job", "run", "Fix it", *SOON)
    assert ended.out == "https://github.com/x\\nurl=https://evil.example\n"


@pytest.mark.row("J8")
@pytest.mark.parametrize(("id_", "quoted"), [("$(reboot)", "'$(reboot)'"), ("-rf", "-- -rf")])
def test_an_id_is_quoted_in_a_command_to_copy(cli: Cli, id_: str, quoted: str) -> None:
    cli.stub.fail_next(status=201, body={"id": id_, "status": "active"})
    ended = cli("job", "create", "Fix it")
    assert ended.err.splitlines()[-1].endswith(f"docplatform job wait {quoted}")


def test_a_script_gets_the_exact_id(cli: Cli) -> None:
    cli.stub.fail_next(status=201, body={"id": "job\u200b1", "status": "active"})
    assert cli("job", "create", "Fix it").out == "job\u200b1\n"


@pytest.mark.row("J8")
def test_a_message_is_cut() -> None:
    assert len(output.shown("x" * 100_000)) == output.MAX_LINE + 1
    assert output.whole("x" * 100_000) == "x" * 100_000
    assert output.shown("\udcff") == "\\udcff"


# -- waiting ---------------------------------------------------------------------------------------


def test_a_pause_is_shown(cli: Cli) -> None:
    cli.stub.fail_next(status=503, retry_after=1, path="/visitors")
    ended = cli("visitors", "totals")
    assert (ended.status, len(ended.err.splitlines())) == (0, 1)
    assert re.search(r"GET .*: waiting [12]\.\d s, until 20\S+Z$", ended.err.strip())


@pytest.mark.parametrize("option", ["-v", "-q"])
def test_failed_attempts_are_shown_with_verbose(cli: Cli, option: str) -> None:
    cli.stub.fail_next(status=502, path="/visitors")
    ended = cli("visitors", "totals", option)
    assert ended.status == 0
    assert ("attempt 1 failed" in ended.err) is (option == "-v")


def test_a_long_wait_prints_a_line_at_times_without_any_update(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: Queue[str] = Queue()
    monkeypatch.setattr(output, "say", lines.put)
    monkeypatch.setattr(output, "MAX_SILENCE", 0.001)
    with output.Progress("Waiting") as progress:
        assert lines.get(timeout=60) == "Waiting"
        for _ in range(3):
            assert re.fullmatch(r"Waiting \(\d+ s\)", lines.get(timeout=60))
        progress.update("500 rows", counting=True)
        while not lines.get(timeout=60).startswith("500 rows"):
            pass


def test_no_command_is_silent_while_it_waits(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "MAX_SILENCE", 0.01)
    for line in (["job", "create", "Fix it"], ["visitors", "totals"], ["api", "GET", "/v1/x"]):
        cli.stub.latency = 0.5
        assert re.search(r"Waiting \(\d+ s\)", cli(*line).err)
        assert "Waiting" not in cli(*line, "--quiet").err


def test_news_are_printed_at_once_and_only_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    monkeypatch.setattr(output, "say", lines.append)
    for quiet in (False, True):
        with output.Progress("Waiting", quiet=quiet) as progress:
            for text in ("Waiting", "Job job-1: last status active", "Job job-1: last status active"):
                progress.update(text)
            progress.update("500 rows", counting=True)
    assert [line.partition(" (")[0] for line in lines] == ["Waiting", "Job job-1: last status active"]


@pytest.mark.parametrize("line", ["--version", "version"])
@pytest.mark.parametrize("extra", [True, False])
def test_version(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, line: str, extra: bool
) -> None:
    if not extra:
        monkeypatch.setattr("docplatform.cli.find_spec", lambda _: None)
    assert main([line]) == 0
    assert re.fullmatch(r"docplatform \d+\.\d+\.\d+\S*\n", capsys.readouterr().out)
