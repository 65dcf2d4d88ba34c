"""The pages about the listings: their examples print what they show, and columns and page sizes are those of the client."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docplatform.testing import StubServer
from helpers.scripts import run_script

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "listings"
# Each listing, and where its columns are.
LISTINGS = {
    "visitors": ("visitors", "Columns"),
    "views": ("views", "Columns"),
    "searches": ("searches", "Columns"),
    "feedback": ("feedback", "Columns of feedback"),
    "feedback_by_page": ("feedback", "Columns of feedback by page"),
    "conversations": ("conversations", "Columns"),
}
PAGES = sorted({page for page, _ in LISTINGS.values()})
EXAMPLE = re.compile(
    r"^```python\n((?:(?!```)[^\n]*\n)+)```\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
COLUMN = re.compile(r"^\| `(\w+)` \| (.*?) \|", re.MULTILINE)
TYPES = {
    "string": "string",
    "int64": "int64",
    "float64": "double",
    "bool": "bool",
    "timestamp in UTC": "timestamp[us, tz=UTC]",
    "JSON text": "string",
}


def text(page: str) -> str:
    return (FOLDER / f"{page}.md").read_text(encoding="utf-8")


def test_every_listing_has_its_page_in_the_navigation() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.md")) == PAGES
    shown = re.findall(r"- listings/(\w+)\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert sorted(shown) == PAGES


@pytest.mark.parametrize("page", PAGES)
def test_the_example_prints_what_its_page_shows(page: str, tmp_path: Path) -> None:
    examples = EXAMPLE.findall(text(page))
    assert examples
    for code, output in examples:
        with StubServer() as stub:
            ended = run_script(code, stub=stub, options=("-W", "error"), cwd=tmp_path)
        assert (ended.err, ended.out) == ("", output)


@pytest.mark.parametrize("name", LISTINGS)
def test_the_columns_are_those_of_the_table(name: str) -> None:
    page, heading = LISTINGS[name]
    section = text(page).partition(f"## {heading}\n")[2].partition("\n## ")[0]
    with StubServer() as stub, stub.client() as client:
        schema = getattr(client, name)("2026-01").collect().to_arrow().schema
    shown = [(column, TYPES[kind]) for column, kind in COLUMN.findall(section)]
    assert shown == [(field.name, str(field.type)) for field in schema]


@pytest.mark.parametrize("name", LISTINGS)
def test_the_rows_of_a_request_are_what_is_asked_for(name: str) -> None:
    page, _ = LISTINGS[name]
    with StubServer() as stub, stub.client() as client:
        getattr(client, name)("2026-01").collect()
        limits = {int(request.query["limit"]) for request in stub.requests}
    cost = text(page).partition("## What it costs\n")[2].partition("\n## ")[0]
    shown = re.findall(r"at most ([\d,]+) rows a request", cost, re.IGNORECASE)
    assert {int(rows.replace(",", "")) for rows in shown} == limits
