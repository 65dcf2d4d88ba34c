"""The command line: what goes where, exit codes, and that no key has to pass through it (rows H6, H10, J11, J12)."""

from __future__ import annotations

import signal
import sys

import pytest

from docplatform.testing import StubServer
from helpers.scripts import Ended, Script, run_script

MAIN = "import sys; from docplatform.cli import main; sys.exit(main(sys.argv[1:]))"

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")


def run(*arguments: str) -> Ended:
    return run_script(MAIN, *arguments)


@pytest.mark.row("H10", "J11", "J12")
def test_the_demo_shows_no_key_and_says_nothing_on_stderr() -> None:
    ended = run("demo")
    assert (ended.status, ended.err) == (0, "")
    assert "completed" in ended.out
    assert "\x1b" not in ended.out
    with StubServer() as stub:
        assert stub.api_key not in ended.out


@posix
@pytest.mark.row("J11", "J12")
def test_what_a_shell_can_evaluate_is_all_that_the_stub_prints_on_stdout() -> None:
    with Script(MAIN, "stub", "--visitors", "3") as script:
        lines = [script.read() for _ in range(3)]
        script.signal(signal.SIGINT)
        ended = script.end()
    names = [line.partition("=")[0] for line in lines]
    assert names == [f"export DOCPLATFORM_{name}" for name in ("BASE_URL", "API_KEY", "PROJECT_ID")]
    assert (ended.status, ended.out) == (0, "")
    assert "Ctrl-C" in ended.err
    assert "Traceback" not in ended.err


@posix
@pytest.mark.row("J12", "I4")
def test_ctrl_c_in_the_demo_has_the_exit_code_that_shells_give_it() -> None:
    with Script(MAIN, "demo") as script:
        assert "stub" in script.read()
        script.signal(signal.SIGINT)
        ended = script.end()
    assert ended.status == 130
    # Behind it stands what goes on by itself, where something does.
    assert ended.err.strip().startswith("docplatform: interrupted")
    assert "Traceback" not in ended.err


@pytest.mark.row("J12")
def test_a_port_that_is_taken_is_a_failure_in_a_line() -> None:
    with StubServer() as stub:
        port = stub.url.rpartition(":")[2]
        ended = run("stub", "--port", port)
    assert (ended.status, ended.out) == (1, "")
    assert ended.err.startswith("docplatform: ")
    assert ended.err.count("\n") == 1
