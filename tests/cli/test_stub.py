"""``docplatform stub --run``: a command runs against a stub of its own, without a second terminal."""

from __future__ import annotations

import signal
import sys

import pytest

from helpers.cli import SCRIPT, SOON
from helpers.marks import posix
from helpers.scripts import Script, run_script

LINK = "https://github.com/example/docs/pull/1"
PYTHON = [sys.executable, "-c"]
CLI = [sys.executable, "-m", "docplatform"]
LISTENS = """
import signal, sys
signal.signal(signal.{name}, lambda number, frame: sys.exit(40 + number))
print("ready", flush=True)
signal.pause()
"""


@pytest.mark.parametrize(
    ("options", "command", "code", "out"),
    [
        ([], ["--", *CLI, "job", "run", "Fix it", *SOON], 0, f"{LINK}\n"),
        ([], [*CLI, "visitors", "totals", "2026-01", "--json"], 0, None),
        (["--fail", "failed"], ["--", *CLI, "job", "run", "Fix it", *SOON], 5, ""),
        (["--fail", "drop:1"], ["--", *CLI, "job", "run", "Fix it", *SOON], 7, ""),
        ([], ["--", *PYTHON, "import sys; print(sys.argv[1:]); sys.exit(42)", "--", "--run"], 42, "['--', '--run']\n"),
        ([], ["--", *PYTHON, "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"], 143, ""),
        ([], ["--", "no-such-command"], 127, ""),
        ([], ["--"], 2, ""),
        (["--visitors", "-1"], ["--", *CLI, "visitors", "top"], 2, ""),
    ],
    ids="job totals failed drop arguments signal missing none options".split(),
)  # fmt: skip
def test_the_exit_code_and_the_output_are_the_commands(
    options: list[str], command: list[str], code: int, out: str | None
) -> None:
    ended = run_script(SCRIPT, "stub", *options, "--run", *command)
    assert ended.status == code, ended.err
    assert out is None or ended.out == out
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(
    ("command", "says"), [("no-such-command", "no such command"), ("", "give the command")]
)
def test_what_cannot_be_run_says_what_to_do(command: str, says: str) -> None:
    assert says in run_script(SCRIPT, "stub", "--run", "--", *filter(None, [command])).err


def test_a_verbose_stub_prints_every_request() -> None:
    line = ("--fail", "drop:1", "--run", "--", *CLI, "visitors", "totals", "-q")
    path = "GET /v1/analytics/demo/visitors"
    ended = run_script(SCRIPT, "stub", "-v", *line)
    assert (ended.status, ended.err.splitlines()) == (0, [f"{path} no answer", f"{path} 200"])
    assert path not in run_script(SCRIPT, "stub", *line).err


def test_settings_of_the_environment_do_not_lead_away_from_the_stub() -> None:
    env = {f"DOCPLATFORM_{name}": "https://docs.example" for name in ("BASE_URL", "API_KEY", "PROJECT_ID")}
    ended = run_script(SCRIPT, "stub", "--run", "--", *CLI, "visitors", "totals", env=env)
    assert ended.status == 0, ended.err


@posix
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_is_passed_on_to_the_command(name: str) -> None:
    with Script(SCRIPT, "stub", "--run", "--", *PYTHON, LISTENS.format(name=name)) as script:
        assert script.read() == "ready"
        script.signal(signal.Signals[name])
        ended = script.end()
    assert (ended.status, ended.err) == (40 + signal.Signals[name], "")


@posix
def test_an_interrupted_command_ends_its_stub_too() -> None:
    ended = run_script(SCRIPT, "stub", "--run", "--", *PYTHON, "raise SystemExit(130)")
    assert (ended.status, ended.err) == (130, "The stub has ended, too, and its jobs with it.\n")


@posix
def test_ctrl_c_leaves_the_command_to_end_as_it_will() -> None:
    """A terminal interrupts both; here the stub alone is, and the command goes on."""
    waits = "print('ready', flush=True); input(); raise SystemExit(9)"
    with Script(SCRIPT, "stub", "--run", "--", *PYTHON, waits) as script:
        assert script.read() == "ready"
        script.signal(signal.SIGINT)
        script.write("")
        ended = script.end()
    assert (ended.status, ended.err) == (9, "")
