"""The report as Markdown: what is in it, that no Markdown in a path works, and that it fits into a comment."""

from __future__ import annotations

import re
from datetime import date

import pytest

from docplatform import Totals
from docplatform.cli.report import figures, markdown
from helpers.reports import change, comparison, counted, made, trend

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
        vanished_pages=len(EVIL),
    )
    rows = [counted(path, 1, 90) for path in EVIL]
    return made(
        top=rows, top_ai=rows, comparison=found, totals=Totals(100, 200, 300), site_url=site_url, title="*T*"
    )


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


def test_it_says_what_the_page_says() -> None:
    found = comparison(
        totals=Totals(800, 300, 1_000), fallers=[change("/auth", 500, 300)], risers=[change("/up", 10, 40)]
    )
    report = made(totals=Totals(600, 330, 800), comparison=found, trend=trend(10, 20, first=date(2026, 1, 1)))
    text = markdown.render(report)
    assert (
        "**The number of readers fell by 16%, counted per working day: from 1,000 in December 2025 to 800 (20% fewer in all).**"
        in text
    )
    assert "`/auth` (\u2212200) lost the most readers. `/up` (+30) gained the most." in text
    assert "| Readers | December 2025 | January 2026 | Change | % |" in text
    assert "| All | 1,000 | 800 | \u2212200 | \u221220% |" in text
    assert text.index("### Fallers") < text.index("### Risers")
    assert "| `/auth` | 500 | 300 | \u2212200 | \u221240% |" in text
    assert "| 2 January 2026 | 20 | 5 | 12 |" in text
    assert "do not add up" in text


def test_its_tables_have_every_row() -> None:
    moved, rows = [change("/a", 1, 90)] * 30, [counted("/a", 60, 30)] * 30
    found = comparison(risers=moved, fallers=moved, new=moved, vanished=moved)
    text = markdown.render(
        made(comparison=found, top=rows, top_ai=rows, top_human=rows, trend=trend(*range(30)))
    )
    assert text.count("\n| `/a` |") == 7 * 30
    assert len(re.findall(r"\n\| \d+ January 2026 \|", text)) == 30


def test_a_site_without_readers_says_what_to_check() -> None:
    text = markdown.render(made(totals=Totals(0, 0, 0), top=[], top_ai=[], pages=0))
    assert "**January 2026: nobody read a page.** What to check:" in text
    assert "- Is this the right project?" in text
    assert "###" not in text


def test_it_fits_into_a_comment_and_says_what_it_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [counted(("/" + "\u65e5" * 60 + f"/{at}") * 4, 2**60, 2**60) for at in range(1_000)]
    pages = [change(row["path"], 1, 2**60) for row in rows]
    found = comparison(risers=pages, fallers=pages, new=pages, vanished=pages, vanished_pages=1_000)
    report = made(
        top=rows,
        top_ai=rows,
        top_human=rows,
        comparison=found,
        site_url="https://docs.example.com/" + "x" * 200,
    )
    text = markdown.render(report)
    assert len(text) <= markdown.MAX_CHARACTERS
    assert "*Left out, as this would be too long: Risers, Fallers, New pages (0), " in text
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
