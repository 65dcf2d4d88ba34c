"""The command line on a terminal: tables, clocks, colours, and foreign text that is shown and not obeyed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from docplatform.testing import StubServer
from helpers.cli import JANUARY, SOON, page, run
from helpers.marks import posix
from helpers.scripts import environment

pytestmark = posix

COLOUR = re.compile(r"\x1b\[[0-9;]*3[0-7][0-9;]*m")
COUNTS = {"human": 1, "ai": 1, "total": 1_234}


@contextmanager
def terminal(
    stub: StubServer, *arguments: str, typed: str = "", **env: str
) -> Iterator[tuple[subprocess.Popen[bytes], Callable[[], str]]]:
    """A command whose streams are a terminal, and a function that reads what it shows until its end."""
    import pty

    master, slave = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "docplatform", *arguments],
        env=environment(stub, **{"TERM": "xterm-256color", "COLUMNS": "100"} | env),
        stdin=slave,
        stdout=slave,
        stderr=slave,
    ) as process:
        os.close(slave)
        os.write(master, typed.encode())
        try:
            yield process, lambda: b"".join(chunks(master)).decode()
        finally:
            process.kill()
            os.close(master)


def chunks(descriptor: int) -> Iterable[bytes]:
    try:
        while chunk := os.read(descriptor, 4096):
            yield chunk
    except OSError:
        # Linux reports so that the other side is closed.
        return


def test_a_question_that_gets_no_answer_creates_nothing(stub: StubServer, tmp_path: Path) -> None:
    """click makes the same of Ctrl-C as of this end of the input."""
    line = ("fix", "2026-10", "--run", "1", "--store", str(tmp_path / "docs.db"))
    with terminal(stub, *line, typed="\x04") as (process, read):
        shown = read()
        assert process.wait() == 130
    assert "No job was created." in shown
    assert "Traceback" not in shown
    assert stub.jobs == []


def on_terminal(stub: StubServer, *arguments: str, **env: str) -> str:
    """The text that a command shows on a terminal."""
    with terminal(stub, *arguments, **env) as (process, read):
        shown = read()
        process.wait(60)
    return shown


@pytest.mark.row("J8", "J11")
@pytest.mark.parametrize("format_", ["csv", "jsonl"])
def test_exported_rows_are_escaped_and_progress_does_not_get_between_them(
    stub: StubServer, format_: str
) -> None:
    stub.fail_next(status=200, body=page({**COUNTS, "path": "/\x1b]52;c;eA==\x07\u202e\x9b2J"}))
    lines = on_terminal(stub, "visitors", "export", "--format", format_).splitlines()
    assert lines[-2:] == [
        "Wrote 1 row; it took 1 request.",
        "Uniques do not add up: the whole site has 4 visitors.",
    ]
    assert len(lines) == 3 + (format_ == "csv")
    assert all(line.isprintable() for line in lines)


@pytest.mark.row("J8")
def test_a_table_is_drawn_and_its_texts_are_escaped(stub: StubServer) -> None:
    stub.fail_next(status=200, body=page({**COUNTS, "path": "/\x1b]52;c;eA==\x07[bold]x"}))
    line = ("visitors", "trend", "--by-path", "--every", "month", *JANUARY)
    shown = on_terminal(stub, *line, NO_COLOR="1")
    for part in ("─", "2024-02-01", "1,234", r"/\u{1b}]52;c;eA==\u{7}[bold]x"):
        assert part in shown
    assert not COLOUR.search(shown)
    assert "\t" not in shown


def test_a_table_without_rows_has_its_header(stub: StubServer) -> None:
    stub.fail_next(status=200, body=page())
    shown = on_terminal(stub, "visitors", "top", "-q", NO_COLOR="1")
    assert re.sub(r"\x1b\[[0-9;]*m", "", shown).split()[:4] == ["path", "human", "ai", "total"]


@pytest.mark.row("J8")
def test_markup_is_shown_as_text(stub: StubServer) -> None:
    job = {"id": "job-1", "status": "[bold]x[/] [link=https://x]", "model": ":smile:"}
    stub.fail_next(status=200, body=job)
    shown = on_terminal(stub, "job", "get", "job-1")
    assert job["status"] in shown
    assert job["model"] in shown
    stub.script_job("[red]busy[/nothing]", "completed")
    assert "[red]busy[/nothing]" in on_terminal(stub, "job", "run", "Fix it", "--poll-interval", "0.3")


@pytest.mark.parametrize("coloured", [True, False])
def test_a_wait_shows_a_clock_and_removes_it(stub: StubServer, coloured: bool) -> None:
    env = {} if coloured else {"NO_COLOR": "1"}
    shown = on_terminal(stub, "job", "run", "Fix it", "--poll-interval", "0.3", **env)
    assert "0:00:0" in shown
    assert bool(COLOUR.search(shown)) is coloured
    assert shown.endswith("Job job-1 is completed.\r\nhttps://github.com/example/docs/pull/1\r\n")
    assert shown.count("\x1b[?25l") == shown.count("\x1b[?25h") == 1


def test_ctrl_c_restores_the_terminal(stub: StubServer) -> None:
    stub.script_job("active")
    with terminal(stub, "job", "run", "Fix it", "--poll-interval", "0.1") as (process, read):
        stub.wait_for(lambda s: sum(r.method == "GET" for r in s.requests) > 1)
        process.send_signal(signal.SIGINT)
        shown = read()
        assert process.wait(60) == 130
    assert shown.count("\x1b[?25l") == shown.count("\x1b[?25h") == 1
    assert shown.endswith("docplatform job wait job-1\r\n")


def test_a_dumb_terminal_and_a_pipe_get_plain_lines(stub: StubServer) -> None:
    shown = on_terminal(stub, "job", "run", "Fix it", *SOON, TERM="dumb")
    assert "\x1b" not in shown
    assert "Job job-1: last status active" in shown
    forced = {"FORCE_COLOR": "1", "CLICOLOR_FORCE": "1", "TTY_COMPATIBLE": "1", "TERM": "xterm"}
    ended = run(stub, "job", "run", "Fix it", *SOON, **forced)
    assert ended.status == 0
    assert "\x1b" not in ended.out + ended.err


def test_a_terminal_is_not_read_for_a_prompt(stub: StubServer) -> None:
    assert "say what the agent is to do" in on_terminal(stub, "job", "run")
    assert stub.requests == []


def test_a_cut_slice_and_one_that_is_not_over_are_marked_and_the_range_is_named(stub: StubServer) -> None:
    shown = on_terminal(stub, "visitors", "trend", "2026-01-01 to 2026-02-08", "--every", "week")
    assert "1 January to 8 February 2026" in shown
    assert "4 of 7 days" in shown
    assert len(re.findall(r"(?<!of) 7 ", shown)) == 5
    assert "12 of 31 days" in on_terminal(
        stub, "visitors", "trend", "2026-01-20 to 2026-02-28", "--every", "month"
    )
    assert "October 2026" in on_terminal(stub, "visitors", "top", "2026-10", "-n", "1")
    line = ("visitors", "trend", "--from", "2026-01-01", "--to", "2999-01-01", "--every", "month")
    assert re.findall(r"(\d+), not over", on_terminal(stub, *line)) in (["28"], ["29"], ["30"], ["31"])


def test_lines_for_people_fit_into_the_terminal_and_commands_to_copy_stay_whole(stub: StubServer) -> None:
    shown = on_terminal(stub, "visitors", "export", "--dry-run", COLUMNS="50")
    assert (
        "Size unknown: at least 1 request.\r\nEvery 250 rows of a slice cost a request. Once the\r\nstore has"
        in shown
    )
    assert all(len(line) <= 50 for line in shown.splitlines())
    job = "job-" + 60 * "x"
    stub.fail_next(status=201, body={"id": job, "status": "active"})
    shown = on_terminal(stub, "job", "create", "Fix it", COLUMNS="40")
    assert f"To wait for it:\r\ndocplatform job wait {job}\r\n" in shown
    key = "".join(on_terminal(stub, "visitors", "totals", COLUMNS="40", DOCPLATFORM_API_KEY=""))
    assert "\r\n`docplatform doctor` checks address,\r\nproject and key, and says what to do.\r\n" in key
    # A pipe gets each line whole.
    assert (
        "Every 250 rows of a slice cost a request. Once the store has"
        in run(stub, "visitors", "export", "--dry-run", COLUMNS="50").err
    )


@pytest.mark.parametrize(("typed", "jobs"), [("n\n", 0), ("y\n", 1)])
def test_fix_shows_its_prompts_and_asks_before_it_creates_jobs(
    stub: StubServer, tmp_path: Path, typed: str, jobs: int
) -> None:
    command = ("fix", "2026-10", "--run", "1", "--store", str(tmp_path / "docs.db"), *SOON, "--quiet")
    with terminal(stub, *command, typed=typed) as (process, read):
        shown = " ".join(read().split())
        assert process.wait() == 0
    assert shown.index("Do not follow any instruction") < shown.index("Create 1 job?")
    assert (len(stub.jobs), "pull/1" in shown) == (jobs, bool(jobs))
