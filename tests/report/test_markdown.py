"""The report as Markdown: what is in it, that no Markdown in a path works, and that it fits into a comment."""

from __future__ import annotations

import re

import pytest

from docplatform import Totals
from docplatform._hooks.notebook import text
from docplatform.cli.report import figures, markdown, page
from docplatform.cli.report.content import Paragraph, content
from helpers.reports import change, comparison, counted, made

EVIL = [
    "/a|b",
    "/`c`",
    "/``d",
    "/*e*_f_",
    "/[x](http://evil.example)",
    "<img src=x onerror=alert(1)>",
    "/@everyone #1",
    "/line\nbreak\r\n| a | b |",
    "/$x$\u202e",
    "",
]


def evil_report(site_url: str | None = None) -> figures.Report:
    found = comparison(
        risers=[change(path, 1, 90) for path in EVIL],
        vanished=[change(path, 90, 0) for path in EVIL],
    )
    rows = [counted(path, 1, 90) for path in EVIL]
    return made(
        top=rows, top_ai=rows, comparison=found, totals=Totals(100, 200, 300), site_url=site_url, title="*T*"
    )


def test_a_phrase_of_a_reader_mentions_nobody() -> None:
    row = {
        "path": None,
        "query": "@octocat `www.evil.example",
        "readers": 1,
        "why": "1 search ended without a click.",
        "job": None,
        "job_unknown": False,
    }
    text = markdown.render(made(fixes=[(row, "docplatform fix 1")]))
    assert "Help readers who search for ``@octocat `www.evil.example``: 1 search ended" in text


@pytest.mark.row("J7")
@pytest.mark.parametrize("site_url", [None, "https://docs.example.com"])
def test_nothing_in_a_path_is_obeyed_and_every_table_renders(site_url: str | None) -> None:
    text = markdown.render(evil_report(site_url))
    tables = re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE)
    assert len(tables) >= 4
    for table in tables:
        # As many cells in each row, where a bar with a backslash before it does not end one.
        cells = {len(re.split(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(cells) == 1
    # Outside of code and of the links that are made here there is nothing of it.
    links = rf"\[[^\n]*?\]\({re.escape(site_url)}/[\w%/:@!$&'+,;=~.-]*\)" if site_url else "(?!)"
    bare = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "code", text)
    bare = re.sub(links, "link", bare)
    for sign in ("<img", "@everyone", "evil.example", "*e*", "$x$"):
        assert sign not in bare
    assert "\u202e" not in text
    assert "*(blank)*" in text
    assert "## \\*T\\*" in text


def test_it_fits_into_a_comment_and_says_what_it_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [counted(("/" + "\u65e5" * 60 + f"/{at}") * 4, 2**60, 2**60) for at in range(1_000)]
    pages = [change(row["path"], 1, 2**60) for row in rows]
    found = comparison(risers=pages, fallers=pages, new=pages, vanished=pages)
    report = made(
        top=rows,
        top_ai=rows,
        top_human=rows,
        comparison=found,
        number=1_000,
        site_url="https://docs.example.com/" + "x" * 200,
    )
    text = markdown.render(report)
    assert len(text) <= markdown.MAX_CHARACTERS
    assert "*Left out, as this would be too long: Risers, Fallers, New pages (1,000), " in text
    monkeypatch.setattr(markdown, "MAX_CHARACTERS", 3_000)
    text = markdown.render(report)
    assert len(text) <= markdown.MAX_CHARACTERS
    assert "*Left out, as this would be too long: " in text


def test_a_long_path_is_cut_in_the_middle_and_a_right_to_left_one_is_isolated() -> None:
    arabic = "/\u0635\u0641\u062d\u0629"
    text = markdown.render(
        made(top=[counted("/a" + "x" * 500 + "/end", 1, 1), counted(arabic, 1, 1)], top_ai=[])
    )
    assert re.search(r"\| `/ax{27}…x{26}/end` \|", text)
    assert f"| \u2068`{arabic}`\u2069 |" in text


def test_a_brief_has_at_most_ten_lines_with_what_changed_and_what_to_do() -> None:
    moved = [change(f"/{at}", 900, 1) for at in range(9)]
    found = comparison(
        totals=Totals(8_000, 300, 8_100), fallers=moved, new=[change(f"/new-{at}", 0, 90) for at in range(9)]
    )
    row = {
        "path": "/auth",
        "query": None,
        "readers": 1,
        "why": "2 of 3 ratings are thumbs down.",
        "job": None,
        "job_unknown": False,
    }
    fixes = [(row | {"path": f"/fix/{at}"}, f"docplatform fix --run /fix/{at}") for at in range(9)]
    report = made(
        totals=Totals(600, 330, 800),
        comparison=found,
        fixes=fixes,
        left_out={"comparison": "it is large"},
        warnings=["a listing was not read", "cut"],
    )
    lines = markdown.brief(report).splitlines()
    assert lines == [
        "**Who reads the docs**, `demo`, January 2026",
        "- The number of readers fell by 90%, counted per working day: from 8,100 in December 2025 to 800 (90% fewer in all).",
        "- People fell by 92%, counted per working day, and AI agents hardly changed (10% more); 41% of all readers are AI agents.",
        "- It is not known which pages changed, because it is large.",
        "- 9 pages stand out with fewer readers, among them `/0` (\u2212899), `/1` (\u2212899) and `/2` (\u2212899).",
        "- 9 pages stand out with more readers, among them `/new-0` (+90, new).",
        *(
            f"- To do: Improve `/fix/{at}`: 2 of 3 ratings are thumbs down. Estimated readers: 1. `docplatform fix --run /fix/{at}`"
            for at in range(3)
        ),
        "- Warning: a listing was not read",
    ]
    empty = markdown.brief(made(totals=Totals(0, 0, 0), top=[], top_ai=[], pages=0))
    assert empty.splitlines()[1:] == ["- January 2026: no readers were recorded."]


def test_both_forms_have_every_paragraph() -> None:
    report = evil_report(None)
    paragraphs = [
        block for section in content(report) for block in section.blocks if isinstance(block, Paragraph)
    ]
    said = [part for paragraph in paragraphs for part in paragraph.said if type(part) is str]
    assert len(said) >= 4
    assert all(paragraph.said for paragraph in paragraphs)
    for part in said:
        assert markdown.text(part) in markdown.render(report)
        assert text(part) in page.render(report)
