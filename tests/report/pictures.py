"""Draws the report of seven sites on two phones and a desk, dark and printed, and the charts of tables, to be looked at: `make pictures`.

The pictures lie in target/pictures, which no commit has. docs/draw.py draws those of the documentation.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Literal

import matplotlib as mpl
from matplotlib.axes import Axes

from docplatform.cli import main
from docplatform.testing import StubServer
from helpers.browser import browser

Rows = list[dict[str, Any]]
LOOKS: list[tuple[str, int, Literal["light", "dark"]]] = [
    ("phone", 320, "light"),
    ("tall", 390, "light"),
    ("desk", 1280, "light"),
    ("dark", 1280, "dark"),
    # A4, as a browser prints it.
    ("print", 718, "light"),
]
"""A name, the width in pixels, and the colours."""
MONTH = "2026-10"
YEAR = "2025-11-01 to 2026-10-31"


def row(path: str, human: int, ai: int) -> dict[str, Any]:
    """One with a few visitors that were seen as both."""
    return {"path": path, "human": human, "ai": ai, "total": human + ai - min(human, ai) // 20}


def _days(first: date, end: date, from_october: float) -> float:
    """How many days' readers a range has, where those of a day change with October."""
    days = (first + timedelta(at) for at in range((end - first).days))
    return sum(
        (1.0 if day < date(2026, 10, 1) else from_october) * (0.4 if day.weekday() >= 5 else 1)
        for day in days
    )


def falling(first: date, end: date) -> Rows:
    """A site that lost more than a quarter of its readers, most of them on /auth."""
    usual, auth = _days(first, end, 0.9), _days(first, end, 0.45)
    names = [
        f"/{part}/{name}"
        for part in ("guides", "api", "cli")
        for name in ("start", "errors", "limits", "tokens")
    ]
    rows = [
        row(name, int(usual * 240 / (at + 2)), int(usual * 90 / (at + 2))) for at, name in enumerate(names)
    ]
    rows.append(row("/auth", int(auth * 300), int(auth * 110)))
    if end <= date(2026, 10, 1):
        rows.append(row("/guides/old-console", int(usual * 40), 3))
    return rows


def swapped(first: date, end: date) -> Rows:
    """A site whose people are replaced by AI agents, most of all on /guides/start."""
    people, agents = _days(first, end, 0.72), _days(first, end, 1.57)
    names = [f"/{part}/{at}" for part in ("guides", "api", "cli") for at in range(40)]
    rows = [row(name, int(people * 60), int(agents * 40)) for name in names]
    return [*rows, row("/guides/start", int(_days(first, end, 0.3) * 300), int(agents * 60))]


def tiny(first: date, end: date) -> Rows:
    """A site that a few friends read."""
    days = (end - first).days
    return [row("/", days // 4 + 1, 1), row("/about", days // 10, 0), row("/faq", 1, 2)]


def hostile(first: date, end: date) -> Rows:
    """A site whose paths are made to break a page."""
    days = int(_days(first, end, 1.3))
    paths = [
        "<script>alert(1)</script>", "/" + "x" * 1_500, "", "   ", "/صفحة/تعليمات/البدء", "/עברית/מדריך", "/日本語/はじめに",
        "/" + "/".join(f"very-long-part-{at}" for at in range(30)), "/a|b`c`d", "/*bold*_it_[x](http://evil.example)",
        "/\u202egnp.exe", "/e\u0301" * 60, "/\U0001f469\u200d\U0001f469\u200d\U0001f467" * 30, "/&amp;\"'>", "/$\\frac{1}{2}$", "//evil.example/x", "/?q=1#top",
    ]  # fmt: skip
    rows = [row(path, days * 40 * (at + 3), days * 9 * (20 - at)) for at, path in enumerate(paths)]
    grown = days * 20 if first >= date(2026, 10, 1) else 1
    return [*rows, row("/صفحة/" + "ج" * 200, grown, 1), row("/huge", 2**52, 2**51)]


SITES: dict[str, Any] = {
    "growing": 1_000,
    "falling": falling,
    "swapped": swapped,
    "tiny": tiny,
    "empty": [],
    "hostile": hostile,
    "large": 30_000,
}
"""The rows that the stub serves."""


def reports(folder: Path) -> Iterator[Path]:
    """The reports of all sites, as a page and as Markdown."""
    for name, visitors in SITES.items():
        with StubServer(visitors) as stub:
            os.environ |= {
                "DOCPLATFORM_BASE_URL": stub.url,
                "DOCPLATFORM_API_KEY": stub.api_key,
                "DOCPLATFORM_PROJECT_ID": "demo",
            }
            file = folder / f"{name}.html"
            for one in (file, file.with_suffix(".md")):
                site = ["--site-url", "https://docs.example.com"]
                if main(["report", MONTH, "-q", "--force", "-o", str(one), *site]):
                    raise SystemExit(f"no report of the site {name}")
        yield file


def save(axes: Axes, file: Path) -> None:
    """Writes the whole figure."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.savefig(file)


def charts(folder: Path) -> None:
    """Charts of `plot()`: alone, beside another, of many pages and days, and under a title of the user's own."""
    mpl.use("agg")
    from matplotlib import pyplot as plt

    with StubServer() as stub, stub.client() as client:
        october, weeks = client.visitors(MONTH).collect(), client.visitor_trend(MONTH, every="week")
        alone = {
            "top": october.plot(),
            "400-pages": october.plot(400),
            "weeks": weeks.plot(),
            "months": client.visitor_trend(YEAR, every="month").plot(),
            "365-days": client.visitor_trend(YEAR, every="day").plot(),
        }
        for name, axes in alone.items():
            save(axes, folder / f"plot-{name}.png")
        for name, layout in (("constrained", "constrained"), ("tight", "tight")):
            figure, ((left, right), (below, last)) = plt.subplots(2, 2, figsize=(12, 9), layout=layout)
            october.plot(ax=left)
            client.visitors("2026-09").collect().plot(ax=right, by="ai")
            weeks.plot(ax=below)
            client.visitor_trend(YEAR, every="month").plot(ax=last).set_title(
                "A title of my own\nin two lines"
            )
            figure.savefig(folder / f"plot-beside-{name}.png")
    with StubServer(hostile) as stub, stub.client() as client:
        axes = client.visitors(MONTH).collect().plot(20)
        axes.set_xlim(0, 60_000)
        save(axes, folder / "plot-hostile.png")


def draw(folder: Path) -> None:
    """All pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    charts(folder)
    with browser() as chromium:
        for file in reports(folder):
            for look, width, colours in LOOKS:
                page = chromium.new_page(viewport={"width": width, "height": 800}, color_scheme=colours)
                page.goto(file.as_uri())
                if look == "print":
                    page.emulate_media(media="print")
                    page.pdf(path=file.with_suffix(".pdf"), format="A4")
                page.screenshot(path=file.with_name(f"{file.stem}-{look}.png"), full_page=True)
                page.close()
    print(f"{len(list(folder.glob('*.png')))} pictures are in {folder}")


if __name__ == "__main__":
    draw(Path(sys.argv[1]).resolve())
