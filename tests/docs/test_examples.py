"""The examples of README, guides and `examples/` run as they are shown."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from docplatform.testing import StubServer
from helpers.phases import HOLD, pending
from helpers.scripts import Ended, environment, run_command

ROOT = Path(__file__).parents[2]
# That of docs/store-tables.md needs a store; those of ENGINES go on from each other.
ENGINES = ROOT / "docs" / "how-to" / "engines.md"
SOURCES = [
    ROOT / "README.md",
    ROOT / "docs" / "index.md",
    ROOT / "docs" / "tutorial.md",
    ROOT / "docs" / "numbers.md",
    ROOT / "docs" / "comparison.md",
    ROOT / "docs" / "reliability.md",
    ROOT / "docs" / "observability.md",
    ROOT / "docs" / "store.md",
    *sorted({*(ROOT / "docs" / "how-to").glob("*.md")} - {ENGINES}),
]
PAGES = "".join(page.read_text(encoding="utf-8") for page in SOURCES)
PYTHON = r"^```python\n(.*?)^```$"
PIECES = re.findall(PYTHON, PAGES, re.MULTILINE | re.DOTALL)
(TOGETHER,) = (piece for piece in PIECES if "run_jobs(tasks" in piece)
Run: TypeAlias = Callable[..., Ended]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.fixture
def run(hurried: dict[str, str], tmp_path: Path) -> Run:
    """Runs Python against a stub, in a folder of its own."""

    def run(stub: StubServer, *arguments: str, code: int = 0) -> Ended:
        line = [sys.executable, "-W", "error", *arguments]
        ended = run_command(line, stub=stub, env=hurried, cwd=tmp_path)
        assert ended.status == code, ended.err
        return ended

    return run


@pytest.mark.parametrize("piece", range(len(PIECES)))
def test_every_snippet_runs(run: Run, piece: int, tmp_path: Path) -> None:
    code = PIECES[piece]
    with StubServer(active_polls=1) as stub:
        if "def test_" in code:
            (tmp_path / "test_piece.py").write_text(code)
            out = run(stub, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_piece.py").out
            assert "1 passed" in out
        else:
            # Each piece stands on its own, but for the import that the first one shows.
            run(stub, "-c", f"import docplatform\n{code}")
            assert "StubServer" in code or "proxy=" in code or stub.requests


def test_charts_are_saved_as_type_checkers_allow() -> None:
    # matplotlib types `Axes.figure` as one that may be only a part of a figure, which has no `savefig`.
    assert ".figure.savefig(" not in PAGES


def test_what_is_shown_with_its_output_prints_that(run: Run) -> None:
    shown = re.findall(
        r"^```python\n((?:(?!```)[^\n]*\n)+)```\n\n```text\n(.*?)^```$", PAGES, re.MULTILINE | re.DOTALL
    )
    assert len(shown) == 11
    for code, output in shown:
        with StubServer(active_polls=1) as stub:
            assert run(stub, "-c", code).out == output


def test_the_stores_example_reads_what_was_fetched(run: Run, tmp_path: Path) -> None:
    (piece,) = re.findall(
        PYTHON, (ROOT / "docs" / "store-tables.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    with StubServer(visitors=3) as stub, stub.client(store=tmp_path / "docs.db") as client:
        client.visitors(date_from="2026-01-01", date_to="2026-02-01").to_dicts()
    done = run(stub, "-c", f"{piece}\nprint(len(page['visitors']))")
    assert (done.out, done.err) == ("3\n", "")


@pytest.mark.parametrize(
    "arguments", [["-c", TOGETHER], [str(ROOT / "examples" / "many_jobs.py")]], ids=["guide", "example"]
)
def test_a_job_that_fails_leaves_the_others_alone(run: Run, arguments: list[str]) -> None:
    with StubServer(active_polls=1) as stub:
        stub.fail_next(status=400, body={"error": "not this one"}, path="/job")
        out = run(stub, *arguments).out
    assert "not this one" in out
    assert stub.jobs
    assert [job.polls for job in stub.jobs] == [2] * len(stub.jobs)
    assert [request.disconnected for request in stub.requests if request.disconnected] == []


def test_the_guide_to_engines_runs(run: Run) -> None:
    """Its table of engines is run by `make test-engines`."""
    pieces = re.findall(PYTHON, ENGINES.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(pieces) == 2
    with StubServer() as stub:
        for piece in pieces:
            assert run(stub, "-c", piece).out


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_example_runs(run: Run, path: Path) -> None:
    with StubServer(active_polls=1) as stub:
        out = run(stub, str(path)).out
    assert out.strip()


def test_the_export_example_continues_where_it_stopped(run: Run, tmp_path: Path) -> None:
    example = str(ROOT / "examples" / "export_visitors.py")
    with StubServer(visitors=1_000, requests_per_hour=2) as stub:
        assert "run this again" in run(stub, example, code=1).err
        assert not (tmp_path / "visitors.jsonl").exists()
        stub.reset()
        stub.latency = HOLD
        # It takes the pages from the store at once, and is ended while it waits for the next.
        waiting = subprocess.Popen([sys.executable, example], env=environment(stub), cwd=tmp_path)
        stub.wait_for(pending, timeout=30)
        waiting.kill()
        waiting.wait()
        stub.latency = 0
        stub.reset()
        run(stub, example)
        assert {request.query["offset"] for request in stub.requests} == {"500", "750"}
    paths = [json.loads(line)["path"] for line in (tmp_path / "visitors.jsonl").read_text().splitlines()]
    assert len(paths) == len(set(paths)) == 1_000
