"""What is printed where: data on stdout, all else on stderr, nothing that a terminal would obey."""

from __future__ import annotations

import re
from pathlib import Path
from queue import Queue

import pytest

from docplatform.cli import main, output
from docplatform.cli.params import duration
from helpers.cli import Cli

SOON = ("--poll-interval", "0.01")


def is_plain(text: str) -> bool:
    """Whether a terminal would obey nothing of it but the ends of its lines and its tabs."""
    return all(c in "\n\t" or c.isprintable() for c in text)


# -- jobs ------------------------------------------------------------------------------------------


@pytest.mark.row("J11")
def test_run_prints_the_pull_request_alone(cli: Cli) -> None:
    ended = cli("job", "run", "Fix it", "--wait", *SOON)
    assert ended.out == "https://github.com/example/docs/pull/1\n"
    assert ended.err.splitlines()[-1] == "Job job-1 is completed."
    assert cli.stub.jobs[0].prompts == ["Fix it"]


def test_without_a_pull_request_nothing_is_printed_and_no_reason_made_up(cli: Cli) -> None:
    cli.stub.script_job("completed", pr_link=None)
    ended = cli("job", "run", "Fix it", *SOON)
    assert (ended.status, ended.out) == (0, "")
    assert "no pull request: nothing changed, or this project publishes without one." in ended.err


def test_create_prints_the_id(cli: Cli) -> None:
    ended = cli("job", "create", "Fix it")
    assert ended.out == "job-1\n"
    assert "docplatform job wait job-1" in ended.err
    assert cli("job", "run", "--no-wait", "Fix it").out == "job-2\n"
    assert [request.method for request in cli.stub.requests] == ["POST", "POST"]


def test_wait_and_message(cli: Cli) -> None:
    cli("job", "create", "Fix it")
    assert cli("job", "wait", "job-1", *SOON).out == "https://github.com/example/docs/pull/1\n"
    assert cli("job", "message", "job-1", "And that").out == "job-1\n"
    assert cli("job", "message", "job-1", "--wait", *SOON, stdin=b"And this").out.startswith("https://")
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
    cli("job", "create", *arguments, stdin=b"\xef\xbb\xbf" + prompt.encode())
    assert cli.stub.jobs[0].prompts == [prompt]


def test_a_prompt_from_a_file(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "prompt.md").write_bytes("Fix the größte list".encode())
    assert cli("job", "create", "--file", str(tmp_path / "prompt.md")).status == 0
    assert cli.stub.jobs[0].prompts == ["Fix the größte list"]
    (tmp_path / "prompt.md").write_bytes(b"Fix \xff")
    ended = cli("job", "create", "--file", str(tmp_path / "prompt.md"))
    assert (ended.status, ended.out) == (2, "")
    assert "not UTF-8" in ended.err


def test_a_prompt_that_looks_like_an_option(cli: Cli) -> None:
    cli("job", "create", "--", "--key is undocumented")
    assert cli.stub.jobs[0].prompts == ["--key is undocumented"]


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("90s", 90), ("45m", 2700), ("1.5h", 5400), ("0", 0)]
)
def test_durations(text: str, seconds: float) -> None:
    assert duration(text) == seconds


# -- foreign text ----------------------------------------------------------------------------------


def test_an_id_for_a_script_is_the_very_id(cli: Cli) -> None:
    cli.stub.fail_next(status=201, body={"id": "job\u200b1", "status": "active"})
    assert cli("job", "create", "Fix it").out == "job\u200b1\n"


@pytest.mark.row("J8")
def test_a_link_stays_one_line(cli: Cli) -> None:
    cli.stub.script_job("completed", pr_link="https://github.com/x\nurl=https://evil.example")
    ended = cli("job", "run", "Fix it", *SOON)
    assert ended.out == "https://github.com/x\\nurl=https://evil.example\n"


@pytest.mark.row("J8")
def test_an_id_is_quoted_where_it_could_be_pasted(cli: Cli) -> None:
    for id_, line in (
        ("$(reboot)", "docplatform job wait '$(reboot)'"),
        ("-rf", "docplatform job wait -- -rf"),
    ):
        cli.stub.fail_next(status=201, body={"id": id_, "status": "active"})
        assert cli("job", "create", "Fix it").err.splitlines()[-1].endswith(line)


@pytest.mark.row("J8")
def test_a_message_is_cut() -> None:
    assert len(output.shown("x" * 100_000)) == output.MOST_LINE + 1
    assert output.whole("x" * 100_000) == "x" * 100_000
    assert output.shown("\udcff") == "\\udcff"


# -- waiting ---------------------------------------------------------------------------------------


def test_a_pause_is_told(cli: Cli) -> None:
    cli.stub.fail_next(status=503, retry_after=1, path="/visitors")
    ended = cli("visitors", "totals")
    assert ended.status == 0
    assert re.search(r"GET .*: waiting [12]\.\d s$", ended.err.strip())
    assert len(ended.err.splitlines()) == 1


@pytest.mark.parametrize("option", ["-v", "-q"])
def test_attempts_are_told_where_that_is_asked_for(cli: Cli, option: str) -> None:
    cli.stub.fail_next(status=502, path="/visitors")
    ended = cli("visitors", "totals", option)
    assert ended.status == 0
    assert ("attempt 1 failed" in ended.err) is (option == "-v")


def test_a_long_wait_is_told_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where nothing comes that could be told."""
    told: Queue[str] = Queue()
    monkeypatch.setattr(output, "say", told.put)
    monkeypatch.setattr(output, "SILENCE", 0.001)
    with output.Progress("Waiting") as progress:
        assert told.get(timeout=60) == "Waiting"
        for _ in range(3):
            assert re.fullmatch(r"Waiting \(\d+ s\)", told.get(timeout=60))
        progress.update("500 pages", counting=True)
        while not told.get(timeout=60).startswith("500 pages"):
            pass


def test_news_are_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(output, "say", told.append)
    for quiet in (False, True):
        with output.Progress("Waiting", quiet=quiet) as progress:
            for text in ("Waiting", "Job job-1 is active", "Job job-1 is active"):
                progress.update(text)
            progress.update("500 pages", counting=True)
    assert [line.partition(" (")[0] for line in told] == ["Waiting", "Job job-1 is active"]


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert re.fullmatch(r"docplatform \d+\.\d+\.\d+\S*\n", capsys.readouterr().out)
