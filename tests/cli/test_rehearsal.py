"""``docplatform stub --fail``: how a job can end is rehearsed from a shell."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import pytest

from docplatform.cli import main
from helpers.cli import SCRIPT, SOON
from helpers.scripts import Script, run_script

Run: TypeAlias = Callable[..., int]
GUIDE = (Path(__file__).parents[2] / "docs" / "ci.md").read_text(encoding="utf-8")
REHEARSALS = re.findall(r"^\| [^|]+ \| `(\w+)`[^|]* \| (\d+) \|$", GUIDE, re.MULTILINE)


@contextmanager
def stub(*options: str) -> Iterator[dict[str, str]]:
    """``docplatform stub`` with these options, and the settings that it prints."""
    with Script(SCRIPT, "stub", *options) as server:
        lines = [server.read().removeprefix("export ") for _ in range(3)]
        yield dict(line.split("=", 1) for line in lines)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """The exit code of a command with these settings."""

    def run(env: dict[str, str], *line: str) -> int:
        for name, value in env.items():
            monkeypatch.setenv(name, value)
        return main(line)

    return run


@pytest.mark.row("A15")
@pytest.mark.parametrize(("failure", "code"), REHEARSALS)
def test_the_guides_rehearsals_end_as_it_says(run: Run, failure: str, code: str) -> None:
    with stub("--fail", failure) as env:
        assert run(env, "job", "run", "Fix it", *SOON, "--timeout", "0.3") == int(code)


def test_every_way_to_fail_is_in_the_guide() -> None:
    ways = {"400": "1", "401": "3", "429": "4", "failed": "5", "active": "6", "drop": "7", "lost": "7"}
    assert dict(REHEARSALS) == ways


def test_only_the_first_requests_or_jobs_fail(run: Run) -> None:
    line = ("job", "run", "Fix it", *SOON)
    for failure, codes in (("drop:1", [7, 0]), ("lost:1", [7, 0]), ("failed:2", [5, 5, 0])):
        with stub("--fail", failure) as env:
            assert [run(env, *line) for _ in codes] == codes


def test_an_export_is_broken_at_a_page_and_jobs_fail_from_one_on(run: Run, tmp_path: Path) -> None:
    line = ("visitors", "export", "2026-01", "-o", str(tmp_path / "v.csv"))
    kept = (*line, "--store", str(tmp_path / "v.db"))
    with stub("--fail", "drop:3@3", "--visitors", "1000") as env:
        broken, ended = (run_script(SCRIPT, *kept, env=env) for _ in range(2))
    assert (broken.status, "run the same command again to continue" in broken.err) == (1, True)
    assert (ended.status, len((tmp_path / "v.csv").read_text().splitlines())) == (0, 1001)
    with stub("--fail", "failed:1@2") as env:
        job = ("job", "run", "Fix it", *SOON)
        assert [run(env, *job) for _ in range(3)] == [0, 5, 0]
