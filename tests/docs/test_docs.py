"""The documentation: links lead somewhere, commands can be given as shown, and a newcomer gets a chart."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sqlite3
import sysconfig
from contextlib import closing
from importlib.metadata import metadata
from pathlib import Path
from urllib.parse import urlsplit

import click
import pytest
from matplotlib.image import imread

import docplatform
from docplatform.cli.app import cli
from helpers.marks import posix
from helpers.scripts import run_command

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGES = sorted(
    page for page in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")) if not page.name.startswith(".")
)
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")

named = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())


def fenced(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as both the repository's page and the site name them."""
    headings = re.findall(r"^#+ (.*)$", FENCED.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


@named
def test_every_link_leads_somewhere(page: Path) -> None:
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    for link in LINK.findall(text):
        if ":" in link:
            # No test needs the network.
            parts = urlsplit(link)
            assert parts.scheme == "https", link
            assert "." in (parts.hostname or ""), link
            # A clone, a fork and a mirror have their own files.
            assert not parts.path.startswith("/docplatform/docplatform/"), f"{link}: not relative"
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), f"{link}: no such file"
        assert not anchor or anchor in anchors(target), f"{link}: no such heading"


def test_every_api_path_that_is_named_exists() -> None:
    """The paths of the service are listed here as far as they are known."""
    listings = "visitors views searches feedback feedback/by-page assistant assistant/caller-stats".split()
    agent = "job job/{id} job/{projectId} job/{id}/message".split()
    known = {f"/v1/analytics/{{project_id}}/{name}" for name in listings}
    known |= {f"/v2/agent/{{project_id}}/{name}" for name in agent}
    sources = [*PAGES, *(ROOT / "examples").iterdir(), *(ROOT / "python").rglob("*.py*")]
    text = "".join(path.read_text(encoding="utf-8") for path in sources if path.suffix != ".pyc")
    assert set(re.findall(r"/v\d/\w+/\{project_id\}/[\w{}/-]+", text)) <= known


@named
def test_every_command_that_is_shown_is_valid(page: Path) -> None:
    for block in fenced(page.read_text(encoding="utf-8"), "sh"):
        for line in block.splitlines():
            found = re.search(r"(?:^|\$\()docplatform (.*?)(?:\)|$)", line)
            if found:
                words = shlex.split(found[1].partition(" || ")[0], comments=True)
                check(cli, words)


def check(command: click.Command, words: list[str]) -> None:
    """Parses the words as the command would, and runs nothing."""
    while isinstance(command, click.Group):
        name = words.pop(0)
        assert name in command.commands, f"no such command: {name}"
        command = command.commands[name]
    with command.make_context(command.name, words):
        pass


def test_every_name_is_in_the_reference() -> None:
    """A new public name must be on a page of the reference."""
    pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "reference").glob("*.md"))
    shown = set(re.findall(r"^<!-- docplatform\.(\w+) -->$", pages, re.MULTILINE))
    assert "errors" in shown
    missing = set(docplatform.__all__) - shown - set(vars(docplatform.errors)) - {"__version__"}
    assert missing == set()


def test_the_page_about_the_store_lists_its_tables_and_columns() -> None:
    with closing(sqlite3.connect(":memory:")) as store:
        for file in ("schema.sql", "once.sql", "messages.sql"):
            store.executescript((ROOT / "src" / "store" / file).read_text(encoding="utf-8"))
        tables = [name for (name,) in store.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        made = {
            table: {row[1] for row in store.execute(f"PRAGMA table_info({table})")}
            for table in tables
            if not table.startswith("sqlite_")
        }
    page = (ROOT / "docs" / "store-tables.md").read_text(encoding="utf-8")
    parts = re.split(
        r"^`(\w+)`: ", page.partition("## Tables\n")[2].partition("\n## ")[0], flags=re.MULTILINE
    )
    shown = {
        table: {
            name
            for cell in re.findall(r"^\| (`.*?) \|", part, re.MULTILINE)
            for name in re.findall(r"`(\w+)`", cell)
        }
        for table, part in zip(parts[1::2], parts[2::2], strict=True)
    }
    # An unused key and a table with a single value need no row.
    made["request"].remove("id")
    shown["meta"] = made["meta"]
    assert shown == made


def drawn(picture: Path) -> bool:
    """Whether there is something on a picture."""
    pixels = imread(picture)
    return pixels.shape[0] > 300 and len({tuple(pixel) for pixel in pixels.reshape(-1, pixels.shape[2])}) > 20


def bash(script: str, cwd: Path, *, stub: bool = False) -> str:
    """Runs what a user pastes; with ``stub``, in the shell of the tutorial."""
    path = f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}"
    start = ["docplatform", "stub", "--run", "--", "bash", "-e"] if stub else ["bash", "-e"]
    line = [shutil.which(start[0], path=path) or start[0], *start[1:]]
    ended = run_command(line, env={"PATH": path, "MPLBACKEND": "agg"}, cwd=cwd, stdin=script)
    assert ended.status == 0, ended.err
    return ended.out


def extras(install: str) -> set[str]:
    return set(
        re.findall(r'^pip install "(?:docplatform|\.)\[(.*?)\]"$', install, re.MULTILINE)[0].split(",")
    )


def numbered(text: str) -> list[str]:
    """The lines with any number in place of a pull request's: several jobs are created at a time."""
    return re.sub(r"/pull/\d+", "/pull/N", text).splitlines()


@pytest.mark.parametrize("page", [README, ROOT / "docs" / "index.md"], ids=lambda page: page.name)
def test_a_newcomer_has_pull_requests_after_six_lines(page: Path, tmp_path: Path) -> None:
    """The front page, word for word, but for the installation."""
    text = page.read_text(encoding="utf-8")
    *_, install, start = fenced(text.partition("\n## A report")[0], "sh")
    assert extras(install) <= set(metadata("docplatform").get_all("Provides-Extra") or ())
    code = fenced(text, "python")[0]
    assert code == fenced(README.read_text(encoding="utf-8"), "python")[0]
    assert len([line for line in code.splitlines() if line]) <= 6
    (tmp_path / "first.py").write_text(code, encoding="utf-8")
    shown = fenced(text, "text")[0]
    assert numbered(bash(start, tmp_path)) == numbered(shown)
    assert shown.count("/pull/") == 3


@named
def test_commands_can_be_copied_into_any_shell(page: Path) -> None:
    """zsh and Command Prompt know no comments."""
    blocks = fenced(page.read_text(encoding="utf-8"), "(?:sh|bat|powershell)")
    assert [line for block in blocks for line in block.splitlines() if re.search("(^| )#", line)] == []


def test_the_readme_is_a_front_page() -> None:
    text = README.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 200
    before, _, _ = text.partition("![")
    assert re.findall("Windows|macOS|Linux|PowerShell|wheel", before) == ["Linux"]
    # No release is on an index: the first commands work in a clone.
    commands = [line.split() for block in fenced(before, "sh") for line in block.splitlines()]
    assert commands[:3] == [["make", "demo"], ["make", "test"], ["pip", "install", '".[cli,pandas,plot]"']]
    assert [Path(link).name for link in LINK.findall(text) if "/pictures/" in link] == [
        "report.png", "fix.png", "pages.png"
    ]  # fmt: skip


def test_the_tutorial_leads_to_a_report(tmp_path: Path) -> None:
    """Each step as it is shown; those after the stub's shell need an account."""
    text = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8").partition("\n## 6.")[0]
    install, _, look, draw, write = fenced(text, "sh")
    assert extras(install) <= set(metadata("docplatform").get_all("Provides-Extra") or ())
    (tmp_path / "october.py").write_text(fenced(text, "python")[0], encoding="utf-8")
    out = bash(f"{look}{draw}{write}", tmp_path, stub=True)
    assert "/api/authentication 33604 -> 44252\n" in out
    assert len((tmp_path / "october.csv").read_text(encoding="utf-8").splitlines()) == 1_001
    assert drawn(tmp_path / "october.png")
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


pytestmark = posix
