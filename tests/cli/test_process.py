"""The command line as a process: pipes, locales, terminals, what it imports, and what it does without its extra."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from docplatform.testing import StubServer
from helpers.cli import JANUARY, SCRIPT, closed_pipe, run, shell, unread
from helpers.scripts import environment, run_script

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes and terminals are POSIX's")

GREEK = "διόρθωσε"


# -- closed pipes ----------------------------------------------------------------------------------


@pytest.mark.row("I5", "J12")
@pytest.mark.parametrize("arguments", [("--help",), ("job", "get", "--help")], ids=" ".join)
def test_help_into_a_closed_pipe_ends_quietly(stub: StubServer, arguments: tuple[str, ...]) -> None:
    assert unread(stub, *arguments) == (141, "")


@pytest.mark.row("I5", "J11")
def test_progress_that_nobody_reads_ends_no_wait(stub: StubServer) -> None:
    with closed_pipe() as write:
        done = subprocess.run(
            [sys.executable, "-m", "docplatform", "job", "run", "Fix it", "--poll-interval", "0.01"],
            env=environment(stub),
            stdout=subprocess.PIPE,
            stderr=write,
            text=True,
            timeout=60,
            check=False,
        )
    assert (done.returncode, done.stdout) == (0, "https://github.com/example/docs/pull/1\n")


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
def test_closed_streams(stub: StubServer, closed: str) -> None:
    assert shell(stub, f"$cli job run 'Fix it' --poll-interval 0.01 {closed}").returncode == 0
    assert "Traceback" not in shell(stub, f"$cli job run {closed}").stderr


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs a device without an end")
@pytest.mark.parametrize("arguments", ["job create", "sync -f - --last 1 --store x.db"])
def test_standard_input_without_an_end(stub: StubServer, tmp_path: Path, arguments: str) -> None:
    done = shell(stub, f"cd {tmp_path}; $cli {arguments} < /dev/zero")
    assert (done.returncode, done.stdout, stub.requests) == (2, "", [])
    assert "it is longer than 16 MiB" in done.stderr


# -- locales ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "env",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"LC_ALL": "no-such-locale"},
    ],
    ids=str,
)
def test_letters_that_the_locale_cannot_write(stub: StubServer, env: dict[str, str]) -> None:
    stub.fail_next(status=200, body={"id": "job-1", "status": GREEK, "model": GREEK})
    ended = run(stub, "job", "get", "job-1", **env)
    assert ended.status == 0
    assert ended.err == ""
    assert GREEK in ended.out or GREEK.encode("ascii", "backslashreplace").decode() in ended.out
    stub.fail_next(status=400, body={"error": GREEK})
    ended = run(stub, "job", "get", "job-1", **env)
    assert ended.status == 1
    assert "Traceback" not in ended.err


# -- ways in ---------------------------------------------------------------------------------------


def test_the_module_and_the_script_are_the_same(stub: StubServer) -> None:
    script = Path(sysconfig.get_path("scripts")) / "docplatform"
    for arguments in (
        ["--help"],
        ["job", "run", "--help"],
        ["stub", "--help"],
        ["job", "get", "job-9"],
        ["nonsense"],
    ):
        ways = [
            subprocess.run(
                [*command, *arguments],
                env=environment(stub),
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            for command in ([str(script)], [sys.executable, "-m", "docplatform"])
        ]
        assert len({(way.returncode, way.stdout, way.stderr) for way in ways}) == 1
        assert "__main__" not in ways[0].stdout + ways[0].stderr


# -- what it needs ---------------------------------------------------------------------------------

WITHOUT_EXTRA = f"import sys; sys.modules['click'] = sys.modules['rich'] = None\n{SCRIPT}"


@pytest.mark.parametrize(
    "arguments", [("job", "run", "x"), ("doctor",), ("visitors",), ("job", "--help"), ()]
)
def test_without_the_extra_it_says_how_to_get_it(arguments: tuple[str, ...]) -> None:
    ended = run_script(WITHOUT_EXTRA, *arguments)
    assert (ended.status, ended.out) == (2, "")
    assert ended.err == 'docplatform: the other commands need an extra: pip install "docplatform[cli]"\n'


def test_without_the_extra_the_rest_works() -> None:
    ended = run_script(WITHOUT_EXTRA, "--help")
    assert ended.status == 0
    assert 'pip install "docplatform[cli]"' in ended.out
    assert run_script(WITHOUT_EXTRA, "--version").out.startswith("docplatform ")
    assert run_script(WITHOUT_EXTRA, "stub", "--visitors", "-1").status == 2
    assert run_script(WITHOUT_EXTRA, "stub", "--help").out == run_script(SCRIPT, "stub", "--help").out
    ended = run_script(WITHOUT_EXTRA, "demo")
    assert ended.status == 0
    assert "Done in" in ended.out


HEAVY = "rich asyncio pandas polars pyarrow numpy matplotlib sqlite3 http urllib.request docplatform.testing".split()


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("job", "run", "--help"),
        ("--version",),
        ("visitors", "totals"),
        ("visitors", "trend", "-q", *JANUARY),
        ("plan", "-q", *JANUARY),
    ],
)
def test_it_imports_nothing_heavy(stub: StubServer, arguments: tuple[str, ...]) -> None:
    script = """
    import json, sys
    from docplatform.cli import main
    status = main()
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
    sys.exit(status)
    """
    ended = run_script(script, *arguments, stub=stub)
    assert ended.status == 0
    modules = json.loads(ended.err)
    found = [name for name in modules for heavy in HEAVY if f"{name}.".startswith(f"{heavy}.")]
    assert found == []


def test_without_stderr_nothing_gets_onto_stdout_instead(stub: StubServer) -> None:
    done = shell(stub, "$cli job run 'Fix it' --poll-interval 0.01 2>&-")
    assert (done.returncode, done.stdout) == (0, "https://github.com/example/docs/pull/1\n")
