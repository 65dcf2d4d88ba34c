"""The command line as a process: pipes, locales, what it imports, what works without its extra, and ``demo`` and ``stub``."""

from __future__ import annotations

import json
import signal
import sys
import sysconfig
from pathlib import Path

import pytest

from docplatform.testing import StubServer
from helpers.cli import JANUARY, SCRIPT, SOON, closed_pipe, run, shell, unread
from helpers.marks import posix
from helpers.scripts import Script, run_command, run_script

pytestmark = posix

GREEK = "διόρθωσε"
LINK = "https://github.com/example/docs/pull/1"


# -- demo and stub ---------------------------------------------------------------------------------


@pytest.mark.row("H10", "J11", "J12")
def test_the_demo_shows_no_key_and_prints_nothing_on_stderr(hurried: dict[str, str]) -> None:
    settings = {"DOCPLATFORM_REQUESTS_PER_HOUR": "1", "DOCPLATFORM_STORE": "/no/such.db"}
    ended = run_script(SCRIPT, "demo", env=hurried | settings)
    assert (ended.status, ended.err) == (0, "")
    assert "/guides/deployment: 39 of 52 ratings are thumbs down" in ended.out
    assert "completed https://github.com/example/docs/pull/1" in ended.out
    with StubServer() as stub:
        assert stub.api_key not in ended.out


@pytest.mark.row("J12", "I4")
def test_ctrl_c_ends_the_demo_with_130() -> None:
    with Script(SCRIPT, "demo") as script:
        assert "stub" in script.read()
        script.signal(signal.SIGINT)
        ended = script.end()
    # A job that keeps running may be named after it.
    assert (ended.status, ended.err.strip().splitlines()[0]) == (130, "docplatform: interrupted")
    assert "Traceback" not in ended.err


@pytest.mark.row("J11", "J12")
def test_the_stub_prints_on_stdout_only_what_a_shell_can_evaluate() -> None:
    with Script(SCRIPT, "stub", "--visitors", "3") as script:
        lines = [script.read() for _ in range(3)]
        script.signal(signal.SIGINT)
        ended = script.end()
    names = [line.partition("=")[0] for line in lines]
    assert names == [f"export DOCPLATFORM_{name}" for name in ("BASE_URL", "API_KEY", "PROJECT_ID")]
    assert (ended.status, ended.out) == (0, "")
    assert "Ctrl-C" in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.row("J12")
def test_a_port_that_is_taken_is_a_failure_in_one_line(stub: StubServer) -> None:
    ended = run_script(SCRIPT, "stub", "--port", stub.url.rpartition(":")[2])
    assert (ended.status, ended.out, ended.err.count("\n")) == (1, "", 1)
    assert ended.err.startswith("docplatform: --port: Address already in use: give another")


# -- closed pipes ----------------------------------------------------------------------------------


@pytest.mark.row("I5", "J12")
@pytest.mark.parametrize("arguments", [("--help",), ("job", "get", "--help")], ids=" ".join)
def test_help_into_a_closed_pipe_ends_quietly(stub: StubServer, arguments: tuple[str, ...]) -> None:
    assert unread(stub, *arguments) == (141, "")


@pytest.mark.row("I5", "J11")
def test_progress_that_nobody_reads_ends_no_wait(stub: StubServer) -> None:
    with closed_pipe() as write:
        line = [sys.executable, "-m", "docplatform", "job", "run", "Fix it", *SOON]
        ended = run_command(line, stub=stub, stderr=write)
    assert (ended.status, ended.out) == (0, f"{LINK}\n")


@pytest.mark.parametrize("closed", ["2>&-", "<&-"])
def test_closed_streams_end_no_wait(stub: StubServer, closed: str) -> None:
    done = shell(stub, f"$cli job run 'Fix it' --poll-interval 0.01 {closed}")
    assert (done.status, done.out) == (0, f"{LINK}\n")
    assert "Traceback" not in shell(stub, f"$cli job run {closed}").err


@pytest.mark.row("N9")
@pytest.mark.parametrize("quiet", ["", " -q"])
@pytest.mark.parametrize(("command", "lost"), [("create", "job-1"), ("run", LINK)])
def test_what_a_closed_standard_output_loses_is_on_stderr(
    stub: StubServer, command: str, lost: str, quiet: str
) -> None:
    options = " --poll-interval 0.01" if command == "run" else ""
    done = shell(stub, f"$cli job {command} 'Fix it'{options}{quiet} >&-")
    assert done.status == 1
    *_, before, last = done.err.splitlines()
    assert (last, lost in before) == ("docplatform: standard output: Bad file descriptor", True)
    assert "job-1" in done.err


@pytest.mark.row("N9")
@pytest.mark.parametrize(
    ("command", "closed"),
    [
        ("create 'Fix it'", ">&- 2>&-"),
        ("run 'Fix it'", ">&- 2>&- <&-"),
        ("run --file p.json", ">&-"),
        ("message job-1 'And that'", ">&-"),
        ("wait job-1", ">&-"),
    ],
)
def test_nothing_is_sent_if_nothing_could_show_the_result(
    stub: StubServer, tmp_path: Path, command: str, closed: str
) -> None:
    done = shell(stub, f'cd {tmp_path}; echo \'{{"a": "Fix it"}}\' > p.json; $cli job {command} {closed}')
    assert (done.status, stub.requests) == (2, [])


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs a device without an end")
@pytest.mark.parametrize("arguments", ["job create", "sync -f - --last 1 --store x.db"])
def test_standard_input_without_an_end_is_refused(stub: StubServer, tmp_path: Path, arguments: str) -> None:
    done = shell(stub, f"cd {tmp_path}; $cli {arguments} < /dev/zero")
    assert (done.status, done.out, stub.requests) == (2, "", [])
    assert "it is longer than 16 MiB" in done.err


# -- locales ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "env",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
    ids=str,
)
def test_characters_that_the_locale_cannot_write_are_escaped(stub: StubServer, env: dict[str, str]) -> None:
    stub.fail_next(status=200, body={"id": "job-1", "status": GREEK, "model": GREEK})
    ended = run(stub, "job", "get", "job-1", **env)
    assert (ended.status, ended.err) == (0, "")
    assert GREEK.encode("ascii", "backslashreplace").decode() in ended.out
    stub.fail_next(status=400, body={"error": GREEK})
    ended = run(stub, "job", "get", "job-1", **env)
    assert ended.status == 1
    assert "Traceback" not in ended.err


# -- what it needs ---------------------------------------------------------------------------------


@pytest.mark.parametrize("line", ["--help", "job run --help", "stub --help", "job get job-9", "nonsense"])
def test_the_module_and_the_script_are_the_same(stub: StubServer, line: str) -> None:
    script = Path(sysconfig.get_path("scripts")) / "docplatform"
    ways = [shell(stub, f"{way} {line}") for way in (script, f"{sys.executable} -m docplatform")]
    assert len({(way.status, way.out, way.err) for way in ways}) == 1
    assert "__main__" not in ways[0].out + ways[0].err


WITHOUT_EXTRA = f"import sys; sys.modules['click'] = sys.modules['rich'] = None\n{SCRIPT}"


@pytest.mark.parametrize(
    "arguments", [("job", "run", "x"), ("doctor",), ("visitors",), ("job", "--help"), ()]
)
def test_without_the_extra_a_command_says_how_to_get_it(arguments: tuple[str, ...]) -> None:
    ended = run_script(WITHOUT_EXTRA, *arguments)
    assert (ended.status, ended.out) == (2, "")
    assert (
        ended.err
        == 'docplatform: all commands but demo and stub need an extra: pip install "docplatform[cli]"\n'
    )


def test_without_the_extra_the_rest_works(hurried: dict[str, str]) -> None:
    ended = run_script(WITHOUT_EXTRA, "--help")
    assert ended.status == 0
    assert 'pip install "docplatform[cli]"' in ended.out
    assert run_script(WITHOUT_EXTRA, "--version").out.startswith("docplatform ")
    assert run_script(WITHOUT_EXTRA, "stub", "--visitors", "-1").status == 2
    assert run_script(WITHOUT_EXTRA, "stub", "--help").out == run_script(SCRIPT, "stub", "--help").out
    ended = run_script(WITHOUT_EXTRA, "demo", env=hurried)
    assert ended.status == 0
    assert "Done in" in ended.out


HEAVY = "rich asyncio pandas polars pyarrow numpy matplotlib sqlite3 http urllib.request docplatform.testing".split()
PRINTS_MODULES = """
import json, sys
from docplatform.cli import main
status = main()
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
sys.exit(status)
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("job", "run", "--help"),
        ("--version",),
        ("visitors", "totals"),
        ("visitors", "trend", "-q", *JANUARY),
        ("visitors", "trend", "-q", "--dry-run", *JANUARY),
    ],
)
def test_a_command_imports_nothing_heavy(stub: StubServer, arguments: tuple[str, ...]) -> None:
    ended = run_script(PRINTS_MODULES, *arguments, stub=stub)
    assert ended.status == 0
    modules = json.loads(ended.err)
    assert [name for name in modules for heavy in HEAVY if f"{name}.".startswith(f"{heavy}.")] == []
