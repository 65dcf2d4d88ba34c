"""The report's page as HTML: what is on it, and that every foreign text is escaped."""

from __future__ import annotations

import html as html_
import re
from datetime import date
from typing import Any

import pytest

from docplatform import Totals
from docplatform.cli.report import figures, page
from helpers.reports import DATES, Parsed, change, comparison, counted, headings, made, trend

EVIL = "<script>alert(1)</script>\"'&</style></title>\u202e\x1b[31m"

# -- foreign text ----------------------------------------------------------------------------------


def full(path: str, **more: Any) -> figures.Report:
    """A report with a path in each of its parts."""
    row = counted(path, 50, 1)
    found = comparison(
        name=more.get("name", "x"),
        risers=[change(path, 1, 9)],
        fallers=[change(path, 9, 1)],
        new=[change(path, 0, 9)],
        vanished=[change(path, 9, 0)],
    )
    days = trend(1, 2, open_from=date(2026, 1, 2))
    return made(top=[row], top_ai=[row], top_human=[row], comparison=found, trend=days, **more)


@pytest.mark.row("J7")
def test_every_value_is_escaped() -> None:
    evil = full(EVIL, project=EVIL, title=EVIL, name=EVIL, warnings=[EVIL])
    html = page.render(evil)
    parsed = Parsed(html)
    # The same elements as for a harmless one, and every text as it came.
    harmless = page.render(full("/x", warnings=["x"]))
    assert [tag for tag, _ in parsed.elements] == [tag for tag, _ in Parsed(harmless).elements]
    assert parsed.text.count("<script>alert(1)</script>\"'&</style></title>") > 20
    missing = page.render(made(left_out={"trend": EVIL, "comparison": EVIL}, comparison=comparison()))
    assert Parsed(missing).text.count("<script>alert(1)") == 2
    assert "<script" not in html + missing
    assert all(c.isprintable() or c == "\n" for c in html)
    assert html_.escape("<script>") in html
    assert not any(name.startswith("on") for _, attributes in parsed.elements for name in attributes)


@pytest.mark.row("J7")
def test_the_page_loads_nothing_and_its_policy_allows_the_style_alone() -> None:
    """test_browser.py looks at it in a browser, on machines that have one."""
    html = page.render(full("/x"))
    elements = Parsed(html).elements
    assert not {"script", "link", "img", "iframe", "object", "base", "form", "a"} & {
        tag for tag, _ in elements
    }
    assert not any({"src", "href", "style"} & set(attributes) for _, attributes in elements)
    assert not re.search(r"url\(|@import", html)
    allowed = "default-src 'none'; style-src 'sha256-[^ ']{43}='; base-uri 'none'; form-action 'none'"
    assert re.search(f'http-equiv="Content-Security-Policy" content="{allowed}"', html)


@pytest.mark.row("J7")
@pytest.mark.parametrize(
    ("path", "address"),
    [
        ("/a/b", "/a/b"),
        ("a", "/a"),
        ("//evil.example/x", "//evil.example/x"),
        ("/?q=1#top", "/%3Fq=1#top".replace("#", "%23")),
        ("/a b\"'<>\u202e", "/a%20b%22&#x27;%3C%3E%E2%80%AE"),
        ("/100%", "/100%"),
        ("javascript:alert(1)", "/javascript:alert(1)"),
    ],
)
def test_a_page_is_a_link_to_the_site_and_to_nowhere_else(path: str, address: str) -> None:
    html = page.render(made(top=[counted(path, 1, 1)], top_ai=[], site_url="https://docs.example.com/en"))
    assert re.findall(r'href="([^"]*)"', html) == [f"https://docs.example.com/en{address}"]
    assert html.count('rel="noopener noreferrer"') == 1


def test_long_blank_and_right_to_left_paths_can_be_read() -> None:
    long = "/guides/" + "x" * 1_000 + "/the-end"
    arabic = "/\u0635\u0641\u062d\u0629/\u0628"
    html = page.render(made(top=[counted(path, 1, 1) for path in (long, "", " \t", arabic)], top_ai=[]))
    parsed = Parsed(html)
    shown = [row[0] for row in parsed.tables["The most read pages"]]
    assert shown[0].startswith("/guides/xxx")
    assert shown[0].endswith("xxx/the-end")
    assert len(shown[0]) == 80
    # All of it is there on hover.
    assert [a["title"] for tag, a in parsed.elements if tag == "bdi" and "title" in a] == [long]
    assert shown[1:3] == ["(blank)", "(blank)"]
    assert shown[3] == arabic
    # Each part is isolated, so that none changes places with its neighbour.
    assert f'<bdi dir="ltr"><bdi></bdi>/<bdi>{arabic[1:5]}</bdi>/<bdi>{arabic[6:]}</bdi></bdi>' in html


# -- what it says ----------------------------------------------------------------------------------


def test_a_missing_part_says_why_and_an_unwanted_one_nothing() -> None:
    whole = page.render(made())
    assert "The trend" not in headings(whole)
    assert "not known" not in whole
    more = {
        "trend": ("docplatform x", "30 requests"),
        "comparison": ("docplatform y", "9 requests, about 2 hours"),
    }
    html = page.render(made(left_out={"trend": "so it is", "comparison": "just because"}, more=more))
    assert (
        "Not shown, because so it is. This command shows it. It takes 30 requests:<code>docplatform x</code>"
        in html
    )
    assert "It is not known which pages changed, because just because." in html
    assert (
        "<li>To see which pages changed, run this command. It takes 9 requests, about 2 hours:<code>docplatform y</code></li>"
        in html
    )


def test_a_site_without_readers_says_what_to_check() -> None:
    empty = page.render(made(totals=Totals(0, 0, 0), top=[], top_ai=[], pages=0, comparison=comparison()))
    text = Parsed(empty).text
    assert "January 2026: no readers were recorded. What to check:" in text
    assert "Is this the right project? The report is about demo." in text
    assert "docplatform doctor" in text
    assert not {"What changed", "The most read pages"} & set(headings(empty))


def test_a_fall_is_said_first_with_its_size_and_its_place() -> None:
    found = comparison(
        totals=Totals(800, 300, 1_000), fallers=[change("/auth", 500, 300)], risers=[change("/up", 10, 40)]
    )
    parsed = Parsed(page.render(made(totals=Totals(600, 330, 800), comparison=found)))
    assert (
        "The number of readers fell by 16%, counted per working day: from 1,000 in December 2025 to 800 (20% fewer in all)."
        in parsed.text
    )
    assert (
        "People fell by 22%, counted per working day, and AI agents hardly changed (10% more); 41% of all readers are AI agents."
        in parsed.text
    )
    assert "/up (+30) stands out with more readers." in parsed.text
    assert "\u221216% per working day from 1,000 (20% fewer in all)" in parsed.text
    assert "/auth lost 200 readers (\u221240%): look at this page first." in parsed.text
    # A site that lost readers shows first where.
    assert [heading for heading in parsed.tables if heading in ("Risers", "Fallers")] == ["Fallers", "Risers"]
    rising = made(totals=Totals(900, 330, 1_200), comparison=found)
    text = Parsed(page.render(rising)).text
    assert "The number of readers rose by 20%: from 1,000 in December 2025" in text


def test_a_comparison_of_the_totals_alone_is_no_comparison_of_pages() -> None:
    found = figures.Comparison(name="December 2025", dates=DATES, totals=Totals(2, 1, 2_000))
    report = made(totals=Totals(3, 2, 4_000), comparison=found, left_out={"comparison": "it is large"})
    html = page.render(report)
    assert "The number of readers rose by 100%: from 2,000 in December 2025 to 4,000." in html
    assert "It is not known which pages changed, because it is large." in html
    assert "Risers" not in html


def test_what_is_not_sure_is_said() -> None:
    def said(**changes: Any) -> str:
        more = {name: changes.pop(name) for name in ("unfinished", "days") if name in changes}
        return Parsed(page.render(made(comparison=comparison(**changes), **more))).text

    assert (
        "The change is the same everywhere: no section and no page changed by more than chance, the growth"
        in said()
    )
    assert "from 2 in December 2025 (31 days) to 4 in 28 days" in said(days=28)
    # Nothing is divided by it.
    assert "There is nothing to compare with" in said(rows=0, totals=Totals(0, 0, 0))
    assert "The number of readers hardly changed: from 2 in December 2025 to 4 (100% more)." in said()
    fell = made(totals=Totals(600, 330, 800), comparison=comparison(totals=Totals(800, 300, 1_000)))
    assert (
        "readers are counted per day or per working day where that explains a part of them. All other changes"
        in Parsed(page.render(fell)).text
    )
    days = ("21 November 2026", "15 January to 14 February 2026")
    assert [f"from 2 ({name}) to 4 (" in said(name=name) for name in days] == [True, True]


def test_a_period_that_is_not_over_has_lost_nothing_yet() -> None:
    found = comparison(
        totals=Totals(900, 200, 1_000),
        risers=[change("/up", 10, 40)],
        fallers=[change("/auth", 500, 300)],
        vanished=[change("/gone", 90, 0)],
        sections=[figures.Section("/up", 2, 10, 40, "rose"), figures.Section("/auth", 1, 500, 300)],
    )
    report = made(totals=Totals(600, 330, 800), comparison=found, unfinished=True)
    text = Parsed(page.render(report)).text
    assert "January 2026 is not over: 800 readers so far; December 2025 had 1,000." in text
    assert "These are 600 people and 330 AI agents. 41% of all readers are AI agents." in text
    assert "/up (+30) stands out with more readers." in text
    assert "January 2026 had not ended when this report was made" in text
    assert 'class="down"' not in page.render(report)
    for fall in (
        "fell by",
        "/auth (",
        "look at",
        "Nobody reads",
        "in all other sections",
        "everywhere",
    ):
        assert fall not in text
    alone = made(totals=Totals(600, 330, 800), comparison=None, unfinished=True)
    text = Parsed(page.render(alone)).text
    assert "January 2026 is not over: 800 readers so far, 600 people and 330 AI agents." in text
    assert "January 2026 had not ended" in text
    # Nothing to say of the pages is no paragraph.
    quiet = page.render(made(totals=Totals(1, 1, 2), comparison=comparison()))
    assert "<p></p>" not in quiet


def test_what_ai_agents_read_and_people_do_not_goes_by_share() -> None:
    gathering = figures.Gathering(10)
    rows = [
        counted("/agents", 2, 998),
        # Files for machines are no news.
        counted("/llms.txt", 0, 40),
        counted("/a/openapi.JSON", 0, 40),
        counted("/sitemap.xml", 0, 40),
        counted("/api", 400, 600),
        counted("/few", 0, 19),
        counted("/few-more", 0, 25),
        counted("/usual", 900, 300),
        counted("/tutorial", 2_000, 1),
        counted("/", 3_000, 400),
    ]
    for row in rows:
        gathering.add(row)
    found = gathering.figures()
    assert [row["path"] for row in found.top_ai] == ["/agents", "/few-more", "/api"]
    assert [row["path"] for row in found.top_human][:2] == ["/tutorial", "/"]
    assert [row["path"] for row in found.top][:2] == ["/", "/tutorial"]
    html = page.render(made(**vars(found), comparison=comparison(risers=[change("/up", 10, 40)])))
    parsed = Parsed(html)
    assert parsed.tables["Read by AI agents"][0] == ["/agents", "2", "998", ">99%"]
    assert parsed.tables["Read by people"][0] == ["/tutorial", "2,000", "1", "<1%"]
    assert (
        "/agents is read by AI agents, and by hardly any people: >99% of its readers are agents."
        in parsed.text
    )


def test_the_memory_that_sections_take_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "MAX_SECTIONS", 2)
    gathering = figures.Gathering(1)
    for at in range(10):
        gathering.add(counted(f"/{at}/x", 1, 0))
        gathering.add(counted(f"/{at}/y", 1, 0))
    found = gathering.figures().sections
    assert {name: section.pages for name, section in found.items()} == {"/0": 2, "/1": 2, figures.OTHER: 16}
    assert "All other sections" in page.render(made(sections=found))


def test_sections_that_moved_come_before_pages_and_are_no_links() -> None:
    sections = [
        figures.Section("/api", 9, 1_000, 830, "fell"),
        figures.Section("/sdk", 9, 1_000, 850, "fell"),
        figures.Section("/auth", 1, 1_000, 10, "fell"),
        figures.Section("/cli", 9, 2_000, 2_100),
    ]
    found = comparison(of="human", sections=sections, fallers=[change("/auth", 1_000, 10)])
    report = made(totals=Totals(1, 1, 1), comparison=found, site_url="https://docs.example.com")
    html = page.render(report)
    text = Parsed(html).text
    assert (
        "Page visits by people fell in /api (\u221217%) and /sdk (\u221215%); in all other sections of several pages they rose by 5.0%."
        in text
    )
    # Those that moved are not among the others, also where they are too many to be named.
    many = [figures.Section(f"/{name}", 9, 1_000, 830, "fell") for name in "abcde"]
    found = comparison(sections=[*many, figures.Section("/cli", 9, 2_000, 2_100)])
    said = Parsed(page.render(made(totals=Totals(1, 1, 1), comparison=found))).text
    assert (
        "/c (\u221217%) and 2 other sections; in all other sections of several pages they rose by 5.0%."
        in said
    )
    assert 'href="https://docs.example.com/api"' not in html
    assert Parsed(html).tables["Sections"][0] == ["/api", "9", "1,000", "830", "\u221217%"]
    assert "Page visits by people, added up by the first part of the path" in text


def test_a_page_that_agents_still_read_has_not_vanished() -> None:
    left = figures.Change("/left", Totals(90, 5, 95), Totals(0, 5, 5), "human")
    came = figures.Change("/came", Totals(0, 5, 5), Totals(90, 5, 95), "human")
    report = made(totals=Totals(1, 1, 1), comparison=comparison(of="human", vanished=[left], new=[came]))
    parsed = Parsed(page.render(report))
    assert "/left (\u221290) stands out with fewer people." in parsed.text
    assert "/came (+90) stands out with more people." in parsed.text
    assert "Nobody reads" not in parsed.text
    assert parsed.tables["No longer read by people (1)"] == [["/left", "90"]]
    assert parsed.tables["First read by people (1)"] == [["/came", "90"]]


def test_what_to_do_is_what_readers_stumble_over_with_a_command() -> None:
    page_ = {
        "path": "/auth",
        "query": None,
        "readers": 1_234,
        "why": "9 of 10 ratings are thumbs down.",
        "job": None,
        "job_unknown": False,
    }
    phrase = {
        "path": None,
        "query": "<b>",
        "readers": 1,
        "why": "1 search ended without a click.",
        "job": "job-1",
        "job_unknown": False,
    }
    found = comparison(fallers=[change("/auth", 500, 300), change("/b", 500, 300)])
    report = made(comparison=found, fixes=[(page_, "docplatform fix 1"), (phrase, "docplatform fix 2")])
    html = page.render(report)
    assert re.findall("<li>(.*?)</li>", html) == [
        (
            'Improve <bdi dir="ltr">/auth</bdi>: 9 of 10 ratings are thumbs down. Estimated readers: 1,234.'
            "<code>docplatform fix 1</code>"
        ),
        (
            "Help readers who search for “&lt;b&gt;”: 1 search ended without a click. The docs agent has a job for it already; "
            "the command shows what became of it.<code>docplatform fix 2</code>"
        ),
    ]
    # No other sentence names the page.
    assert "2 pages stand out with fewer readers, among them /b (\u2212200)." in Parsed(html).text


def test_the_top_rows_are_those_of_all_and_ties_keep_the_first() -> None:
    top = figures.Top(3)
    for at, count in enumerate([5, 1, 9, 5, 9, 5]):
        top.add(count, f"/{at}")
    assert top.ranked() == [(9, "/2"), (9, "/4"), (5, "/0")]
    assert top.seen == 6
    nothing = figures.Top(0)
    nothing.add(1, "/")
    assert nothing.ranked() == []
