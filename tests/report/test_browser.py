"""The report in a real browser: on a phone, a tablet and a desk, in light and dark, offline and printed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page

from docplatform import Totals
from docplatform.cli.report import figures
from docplatform.cli.report import page as report
from helpers.browser import browser as started
from helpers.reports import DATES, change

pytestmark = pytest.mark.one_python

EVIL = "<script>document.title='x'</script><img src=x onerror=\"document.title='x'\">\u202e"


def counted(path: str, number: int) -> dict[str, Any]:
    return {"path": path, "human": 1_234_567 - number, "ai": 654_321, "total": 1_500_000 - number}


ARABIC = "/\u0635\u0641\u062d\u0629/\u062a\u0639\u0644\u064a\u0645\u0627\u062a"
REPORT = figures.Report(
    project=f"docs {EVIL}",
    name="January 2026",
    days=31,
    made=datetime(2026, 2, 3, 12, 0, tzinfo=UTC),
    site_url="https://docs.example.com",
    pages=1_000_000,
    requests={"the pages": 4_000, "the trend": 31, "the pages that changed": 4_000},
    totals=Totals(123_456_789, 98_765_432, 200_000_000),
    top=[
        counted(EVIL, 0),
        counted("/" + "x" * 1_000, 1),
        counted(ARABIC, 1),
        *(counted(f"/docs/guides/{i}", i) for i in range(17)),
    ],
    top_ai=[counted("/docs/api", 0)],
    top_human=[counted("/" + "z" * 1_000, 0)],
    warnings=[f"the totals moved {EVIL}"],
    trend=figures.Trend(
        every="day",
        slices=[
            figures.Slice(
                date(2026, 1, i), date(2026, 1, i + 1), 9_000_000 + i % 7 * 300_000, 4_000 + i, 10_000_000
            )
            for i in range(1, 30)
        ],
        open_from=date(2026, 1, 29),
    ),
    comparison=figures.Comparison(
        name="December 2025",
        dates=DATES,
        rows=900_000,
        totals=Totals(100_000_000, 90_000_000, 180_000_000),
        risers=[
            change("/docs/webhooks", 1_234_567, 98_765_432),
            change(EVIL, 100, 9_000),
            change("/" + "y" * 1_000, 400, 520),
        ],
        fallers=[change("/docs/auth", 98_765_432, 1_234_567)],
        new=[change(ARABIC, 0, 1_234_567)],
        vanished=[change("/gone", 98_765_432, 0)],
        sections=[figures.Section(f"/{at}", 900_000, 2**40, 2**40 + 5) for at in range(5)],
    ),
    unfinished=True,
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with started() as browser:
        yield browser


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(report.render(REPORT), encoding="utf-8")
    return file


class Opened:
    """The page, and what the browser said and asked for on the way."""

    def __init__(self, browser: Browser, file: Path, width: int, scheme: Literal["light", "dark"]) -> None:
        self.said: list[str] = []
        self.asked: list[str] = []
        context = browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme=scheme, offline=True
        )
        self.page: Page = context.new_page()
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(file.as_uri())


@pytest.mark.row("J7")
@pytest.mark.parametrize(("width", "scheme"), [(320, "dark"), (390, "light"), (768, "light"), (1280, "dark")])
def test_the_report_fits_and_loads_nothing(
    browser: Browser, file: Path, width: int, scheme: Literal["light", "dark"]
) -> None:
    opened = Opened(browser, file, width, scheme)
    page = opened.page
    assert opened.said == []
    assert opened.asked == [file.as_uri()]
    assert "script" in page.title()
    assert page.evaluate("document.scripts.length + document.images.length") == 0
    # Nothing scrolls sideways, and nothing is cut off.
    assert page.evaluate("document.documentElement.scrollWidth") == width
    wide = "[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1).length"
    assert page.evaluate(wide) == 0
    # The picture's letters do not lie upon each other, or outside of it.
    overlaps = """() => {
        const plot = document.querySelector('.plot').getBoundingClientRect();
        const boxes = [...document.querySelectorAll('.plot text')].map(e => e.getBoundingClientRect()).filter(b => b.width);
        const apart = (a, b) => a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
        const out = boxes.filter(b => b.left < plot.left || b.right > plot.right || b.bottom > plot.bottom);
        return [boxes.length, out.length, boxes.filter((a, i) => boxes.some((b, j) => j < i && !apart(a, b))).length];
    }"""
    letters, outside, upon = page.evaluate(overlaps)
    assert (outside, upon) == (0, 0)
    assert letters == (7 if width < 640 else 9)
    inside = "[...document.querySelectorAll('.tiles dd, td.count, .summary p')].every(e => e.scrollWidth <= e.clientWidth)"
    assert page.evaluate(inside)
    # The style is in force: its hash is the one that the policy names.
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == ("rgb(20, 23, 27)" if scheme == "dark" else "rgb(255, 255, 255)")
    bar = page.locator("rect.human").first.bounding_box()
    assert bar is not None
    assert 0.5 * min(width, 960) < bar["width"] < width
    # Risers beside fallers where there is room, and above them where there is none.
    left, right = (box.bounding_box() for box in page.locator(".pair").first.locator("> div").all())
    assert left is not None
    assert right is not None
    assert (left["y"] == right["y"]) == (width > 800)
    page.screenshot(path=file.with_name(f"{width}-{scheme}.png"), full_page=True)


@pytest.mark.row("J7")
def test_the_policy_stops_foreign_scripts_pictures_and_styles(browser: Browser, file: Path) -> None:
    slipped = file.with_name("slipped.html")
    more = (
        "<script>document.title='x'</script><img src='http://127.0.0.1:9/x'><p id=p style='color:red'>x</p>"
    )
    slipped.write_text(
        file.read_text(encoding="utf-8").replace("</main>", f"{more}</main>"), encoding="utf-8"
    )
    opened = Opened(browser, slipped, 768, "light")
    assert opened.page.title() != "x"
    assert len(opened.said) >= 3
    assert all("Content Security Policy" in line for line in opened.said)
    assert opened.page.evaluate("getComputedStyle(document.getElementById('p')).color") == "rgb(27, 31, 36)"


def test_every_text_has_enough_contrast(browser: Browser, file: Path) -> None:
    """WCAG's contrast for text, 4.5, in both schemes."""
    contrast = """() => {
        const lit = c => { const v = c.map(x => x / 255).map(x => x <= .04045 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4);
                           return .2126 * v[0] + .7152 * v[1] + .0722 * v[2]; };
        const rgb = text => text.match(/\\d+/g).slice(0, 3).map(Number);
        const back = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
                            if (c !== 'rgba(0, 0, 0, 0)') return rgb(c); } };
        return Math.min(...[...document.querySelectorAll('h1,h2,h3,p,li,a,dt,dd,small,.up,.down,th,td,summary,text')].map(e => {
            const style = getComputedStyle(e), ink = e.tagName === 'text' ? style.fill : style.color;
            const [a, b] = [lit(rgb(ink)), lit(back(e))].sort((x, y) => y - x);
            return (a + .05) / (b + .05); }));
    }"""
    for scheme in ("light", "dark"):
        assert Opened(browser, file, 768, scheme).page.evaluate(contrast) >= 4.5


def test_the_first_screen_says_that_it_fell_by_how_much_and_where(browser: Browser, file: Path) -> None:
    found = figures.Comparison(
        name="December 2025",
        dates=DATES,
        rows=3,
        totals=Totals(900, 200, 1_000),
        fallers=[change("/auth", 600, 300)],
    )
    fallen = figures.Report(
        **{
            **vars(REPORT),
            "totals": Totals(700, 190, 800),
            "comparison": found,
            "project": "docs",
            "unfinished": False,
        }
    )
    there = file.with_name("fallen.html")
    there.write_text(report.render(fallen), encoding="utf-8")
    for width in (320, 390, 1280):
        page = Opened(browser, there, width, "light").page
        order = "document.querySelector('.advice').getBoundingClientRect().bottom < document.querySelector('.tiles').getBoundingClientRect().top"
        assert page.evaluate(order)
        seen = page.evaluate(
            "[...document.querySelectorAll('.summary p, .advice li')].filter(e => e.getBoundingClientRect().bottom < 700).map(e => e.innerText)"
        )
        assert seen == [
            "The number of readers fell by 16%, counted per working day: from 1,000 in December 2025 to 800 (20% fewer in all).",
            "People fell by 19%, counted per working day, and AI agents hardly changed (5.0% fewer, or 0.7% fewer per working day); 24% of all readers are AI agents.",
            "/auth lost 300 readers (\u221250%): look at this page first.",
        ]


def test_a_number_beside_a_right_to_left_path_keeps_its_place(browser: Browser, file: Path) -> None:
    page = Opened(browser, file, 1280, "light").page
    parts = page.locator(".top bdi bdi").filter(has_text=re.compile("[\u0600-\u06ff]"))
    first, second = (part.bounding_box() for part in parts.all())
    assert first is not None
    assert second is not None
    assert first["x"] + first["width"] < second["x"]


def test_a_printed_report_is_black_on_white_with_all_numbers(browser: Browser, file: Path) -> None:
    page = Opened(browser, file, 768, "dark").page
    numbers = page.locator("details td").last
    assert not numbers.is_visible()
    page.emulate_media(media="print")
    # Parts that are folded on a screen are on the paper.
    assert numbers.is_visible()
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert (
        page.evaluate("getComputedStyle(document.querySelector('.tiles div')).backgroundColor")
        == "rgb(255, 255, 255)"
    )
    # A heading stays with its table.
    breaks = page.evaluate(
        "[...document.querySelectorAll('h2, h3, thead')].map(e => getComputedStyle(e).breakAfter)"
    )
    assert {*breaks} == {"avoid"}
    assert page.pdf().startswith(b"%PDF")
