"""The documentation: links lead somewhere, commands can be given as shown, and a newcomer gets a chart."""

from __future__ import annotations

import os
import re
import shlex
import sqlite3
import subprocess
import sys
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
from helpers.cli import SCRIPT
from helpers.scripts import Script, environment

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGES = sorted(
    page for page in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")) if not page.name.startswith(".")
)
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
INCLUDED = re.compile(r'^--8<-- "(?P<file>[^":]+):(?P<section>\w+)"$', re.MULTILINE)

named = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())


def section(page: Path, name: str) -> str:
    """What another page includes of this one."""
    text = page.read_text(encoding="utf-8")
    return text.partition(f"[start:{name}] -->\n")[2].partition(f"<!-- --8<-- [end:{name}]")[0]


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
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), f"{link}: no such file"
        assert not anchor or anchor in anchors(target), f"{link}: no such heading"


def test_every_api_path_that_is_named_exists() -> None:
    """What the service lists, as far as it is known."""
    listings = "visitors views searches feedback feedback/by-page assistant assistant/caller-stats".split()
    agent = "job job/{id} job/{projectId} job/{id}/message".split()
    known = {f"/v1/analytics/{{project_id}}/{name}" for name in listings}
    known |= {f"/v2/agent/{{project_id}}/{name}" for name in agent}
    sources = [*PAGES, *(ROOT / "examples").iterdir(), *(ROOT / "python").rglob("*.py*")]
    text = "".join(path.read_text(encoding="utf-8") for path in sources if path.suffix != ".pyc")
    assert set(re.findall(r"/v\d/\w+/\{project_id\}/[\w{}/-]+", text)) <= known


@named
def test_every_included_section_exists(page: Path) -> None:
    for found in INCLUDED.finditer(page.read_text(encoding="utf-8")):
        assert section(ROOT / found["file"], found["section"]).strip()


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
    """What is new has to be put on a page."""
    pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "reference").glob("*.md"))
    shown = set(re.findall(r"^::: docplatform\.(\w+)$", pages, re.MULTILINE))
    assert "errors" in shown
    missing = set(docplatform.__all__) - shown - set(vars(docplatform.errors)) - {"__version__"}
    assert missing == set()


def test_the_page_about_the_store_lists_its_tables_and_columns() -> None:
    with closing(sqlite3.connect(":memory:")) as store:
        for file in ("schema.sql", "once.sql"):
            store.executescript((ROOT / "src" / "store" / file).read_text(encoding="utf-8"))
        tables = [name for (name,) in store.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        made = {
            table: {row[1] for row in store.execute(f"PRAGMA table_info({table})")}
            for table in tables
            if not table.startswith("sqlite_")
        }
    page = (ROOT / "docs" / "store.md").read_text(encoding="utf-8")
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
    # A key that nothing points at, and a table of one thing, are not worth a row.
    made["request"].remove("id")
    shown["meta"] = made["meta"]
    assert shown == made


def test_a_newcomer_gets_a_chart_in_a_minute(tmp_path: Path) -> None:
    """The README's way, word for word, but for the installation."""
    chart = section(README, "chart")
    (install, shell), (python,) = fenced(chart, "sh"), fenced(chart, "python")
    extras = re.findall(r'pip install "docplatform\[(.*?)\]"', install)[0].split(",")
    assert set(extras) <= set(metadata("docplatform").get_all("Provides-Extra") or ())
    assert install.splitlines()[1:] == ["docplatform stub"]
    with Script(SCRIPT, "stub") as stub:
        pasted = [stub.read() for _ in range(3)]
        assert all(line.startswith("export ") for line in pasted)
        scripts = sysconfig.get_path("scripts")
        done = subprocess.run(
            ["bash", "-e"],
            input="\n".join([*pasted, shell, f"python - <<'END'\n{python}END\n"]),
            cwd=tmp_path,
            env=environment(None, PATH=f"{scripts}{os.pathsep}{os.environ['PATH']}", MPLBACKEND="agg"),
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert "/getting-started/quickstart" in done.stdout
    # A picture with something on it.
    picture = imread(tmp_path / "visitors.png")
    assert picture.shape[0] > 300
    assert len({tuple(pixel) for pixel in picture.reshape(-1, picture.shape[2])}) > 20
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert len((tmp_path / "visitors.csv").read_text(encoding="utf-8").splitlines()) == 1_001
    # A minute of typing, at 50 words a minute.
    assert len(install) + len(python) < 300


pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the commands are for a POSIX shell")
