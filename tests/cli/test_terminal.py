"""The command line on a terminal: tables, clocks, colours, and foreign text that is shown and not obeyed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import pytest

from docplatform.testing import StubServer
from helpers.cli import JANUARY, run
from helpers.scripts import environment

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="terminals are POSIX's")


@contextmanager
def terminal(
    stub: StubServer, *arguments: str, **env: str
) -> Iterator[tuple[subprocess.Popen[bytes], Callable[[], str]]]:
    """A command whose streams are a terminal, and how to read what it shows until its end."""
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
        try:
            yield process, lambda: b"".join(chunks(master)).decode()
        finally:
            process.kill()
            os.close(master)


def on_terminal(stub: StubServer, *arguments: str, **env: str) -> str:
    """What a command shows on a terminal."""
    with terminal(stub, *arguments, **env) as (process, read):
        shown = read()
        process.wait(60)
    return shown


@pytest.mark.row("J8", "J11")
@pytest.mark.parametrize("format_", ["csv", "jsonl"])
def test_rows_on_a_terminal_are_shown_and_nothing_gets_between_them(stub: StubServer, format_: str) -> None:
    row = {"path": "/\x1b]52;c;eA==\x07\u202e\x9b2J", "human": 1, "ai": 1, "total": 1}
    body = {"totals": {"human": 1, "ai": 1, "total": 1}, "visitors": [row], "hasMore": False}
    stub.fail_next(status=200, body=body)
    lines = on_terminal(stub, "visitors", "export", "--format", format_).splitlines()
    assert lines[-2:] == [
        "Wrote 1 row; it took 1 request.",
        "Uniques do not add up: the whole site has 1 visitor.",
    ]
    assert len(lines) == 3 + (format_ == "csv")
    assert all(line.isprintable() for line in lines)


def chunks(descriptor: int) -> Iterable[bytes]:
    try:
        while chunk := os.read(descriptor, 4096):
            yield chunk
    except OSError:
        # How Linux says that the other side is closed.
        return


COLOUR = re.compile(r"\x1b\[[0-9;]*3[0-7][0-9;]*m")


def test_a_table_on_a_terminal(stub: StubServer) -> None:
    shown = on_terminal(stub, "visitors", "totals", "--to", "2026-02-01")
    assert "─" in shown
    assert re.search(r"\d,\d{3}", shown)
    assert "\t" not in shown


def test_a_table_without_rows_has_its_header(stub: StubServer) -> None:
    stub.fail_next(
        status=200,
        body={"totals": {"human": 0, "ai": 0, "total": 0}, "visitors": [], "hasMore": False},
    )
    shown = on_terminal(stub, "visitors", "top", "-q", NO_COLOR="1")
    assert re.sub(r"\x1b\[[0-9;]*m", "", shown).split()[:4] == ["path", "human", "ai", "total"]


@pytest.mark.row("J8")
def test_a_trend_on_a_terminal(stub: StubServer) -> None:
    row = {"path": "/\x1b]52;c;eA==\x07[bold]x", "human": 1, "ai": 1, "total": 1_234}
    body = {"totals": {"human": 1, "ai": 1, "total": 1}, "visitors": [row], "hasMore": False}
    stub.fail_next(status=200, body=body)
    shown = on_terminal(stub, "visitors", "trend", "--by-path", "--every", "month", *JANUARY, NO_COLOR="1")
    assert "2024-02-01" in shown
    assert "1,234" in shown
    assert r"/\u{1b}]52;c;eA==\u{7}[bold]x" in shown
    assert not COLOUR.search(shown)


def test_a_wait_on_a_terminal_has_a_clock_and_leaves_nothing_behind(stub: StubServer) -> None:
    shown = on_terminal(stub, "job", "run", "Fix it", "--poll-interval", "0.3")
    assert "0:00:0" in shown
    assert COLOUR.search(shown)
    assert shown.endswith("Job job-1 is completed.\r\nhttps://github.com/example/docs/pull/1\r\n")
    assert shown.count("\x1b[?25l") == shown.count("\x1b[?25h") == 1


def test_an_interrupt_leaves_a_terminal_as_it_was(stub: StubServer) -> None:
    stub.script_job("active")
    with terminal(stub, "job", "run", "Fix it", "--poll-interval", "0.1") as (process, read):
        stub.wait_for(lambda s: sum(r.method == "GET" for r in s.requests) > 1)
        process.send_signal(signal.SIGINT)
        shown = read()
        assert process.wait(60) == 130
    assert shown.count("\x1b[?25l") == shown.count("\x1b[?25h") == 1
    assert shown.endswith("docplatform job wait job-1\r\n")


def test_no_color_is_honoured(stub: StubServer) -> None:
    shown = on_terminal(stub, "job", "run", "Fix it", "--poll-interval", "0.3", NO_COLOR="1")
    assert "0:00:0" in shown
    assert not COLOUR.search(shown)


def test_a_terminal_that_can_do_nothing_gets_plain_lines(stub: StubServer) -> None:
    shown = on_terminal(stub, "job", "run", "Fix it", "--poll-interval", "0.01", TERM="dumb")
    assert "\x1b" not in shown
    assert "Job job-1 is active" in shown


def test_nothing_is_coloured_where_there_is_no_terminal(stub: StubServer) -> None:
    forced = {"FORCE_COLOR": "1", "CLICOLOR_FORCE": "1", "TTY_COMPATIBLE": "1", "TERM": "xterm"}
    ended = run(stub, "job", "run", "Fix it", "--poll-interval", "0.01", **forced)
    assert ended.status == 0
    assert "\x1b" not in ended.out + ended.err


@pytest.mark.row("J8")
def test_markup_is_text_on_a_terminal(stub: StubServer) -> None:
    stub.fail_next(
        status=200, body={"id": "job-1", "status": "[bold]x[/] [link=https://x]", "model": ":smile:"}
    )
    shown = on_terminal(stub, "job", "get", "job-1")
    assert "[bold]x[/] [link=https://x]" in shown
    assert ":smile:" in shown
    stub.script_job("[red]busy[/nothing]", "completed")
    assert "[red]busy[/nothing]" in on_terminal(stub, "job", "run", "Fix it", "--poll-interval", "0.3")


def test_without_a_prompt_a_terminal_is_not_waited_for(stub: StubServer) -> None:
    assert "say what the agent is to do" in on_terminal(stub, "job", "run")
    assert stub.requests == []
