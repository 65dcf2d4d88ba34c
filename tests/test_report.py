"""``docplatform report``: what is on the page, what is in its way, and how much memory it takes."""

from __future__ import annotations

import html as html_
import json
import re
import stat
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from docplatform import Totals
from docplatform.cli import page
from docplatform.cli.report import Top
from docplatform.testing import StubServer
from support.cli import FULL_DISK, SCRIPT, Cli
from support.scripts import run_script

ROWS = [
    {"path": f"/{i}", "human": i * 7 % 500, "ai": i * 11 % 500, "total": i * 13 % 500, "more": "x"}
    for i in range(600)
]
TOTALS = {"human": 30_000, "ai": 20_000, "total": 40_000}
EVIL = "<script>alert(1)</script>\"'&</style></title>\u202e\x1b[31m"


@pytest.fixture
def stub() -> Iterator[StubServer]:
    with StubServer(visitors=ROWS, totals=TOTALS) as stub:
        yield stub


class Parsed(HTMLParser):
    """The page's elements, the texts of its table cells, and all of its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[list[str]] = []
        self.text = ""
        self._cell = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self._cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._cell = False

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._cell:
            self.rows[-1][-1] += data


def made(**changes: Any) -> page.Report:
    values: dict[str, Any] = {
        "project": "demo",
        "date_from": "2026-01-01",
        "date_to": "2026-02-01",
        "made": datetime(2026, 2, 3, 4, 5, tzinfo=UTC),
        "pages": 2,
        "requests": 1,
        "totals": Totals(3, 2, 4),
        "top": [{"path": "/a", "human": 3, "ai": 1, "total": 4}],
        "top_ai": [{"path": "/b", "human": 1, "ai": 2, "total": 2}],
    }
    return page.Report(**values | changes)


def test_the_page(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    ended = cli("report", "-o", str(file), "--from", "2026-01-01", "--to", "2026-02-01", "-n", "3")
    assert (ended.status, ended.out) == (0, "")
    assert ended.err.splitlines() == [
        "Reading visitors",
        f"Wrote {file}, about 600 pages; it took 3 requests.",
    ]
    parsed = Parsed(file.read_text(encoding="utf-8"))
    for said in ("30,000", "20,000", "40,000", "2026-01-01", "They do not add up", "demo", "UTC"):
        assert said in parsed.text
    shown = [row[0] for row in parsed.rows if row[0].startswith("/")]
    best = {by: sorted(ROWS, key=lambda row: -int(row[by]))[:3] for by in ("total", "ai")}  # type: ignore[call-overload]
    assert shown == [row["path"] for by in ("total", "ai") for row in best[by]]
    assert cli.stub.api_key not in parsed.text
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.row("J11")
def test_a_summary_and_standard_output(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert json.loads(cli("report", "--from", "2026-01-01", "--json").out) == {
        "file": "report.html",
        "rows": 600,
        "date_from": "2026-01-01",
        "date_to": None,
        "totals": TOTALS,
        "requests": 3,
        "warnings": [],
    }
    assert cli("report", "-o", "-").out.startswith("<!doctype html>")
    ended = cli("report", "-o", "-", "--json")
    assert (ended.status, ended.out) == (2, "")


@pytest.mark.row("J3")
def test_nothing_is_replaced_unasked(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text("old")
    file.chmod(0o600)
    ended = cli("report", "-o", str(file))
    assert (ended.status, file.read_text(), cli.stub.requests) == (2, "old", [])
    assert "--force" in ended.err
    for name in (str(tmp_path), str(tmp_path / "none" / "report.html")):
        assert cli("report", "-o", name).status in (1, 2)
    assert cli.stub.requests == []
    assert cli("report", "-o", str(file), "--force").status == 0
    assert file.read_text().startswith("<!doctype html>")
    if sys.platform != "win32":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.row("J1")
@pytest.mark.parametrize("status", [429, 401])
def test_a_report_that_breaks_off_leaves_nothing(cli: Cli, tmp_path: Path, status: int) -> None:
    cli.stub.fail_next(status=200, body={"totals": TOTALS, "visitors": ROWS[:250], "hasMore": True})
    cli.stub.fail_next(status=status, retry_after=3600)
    ended = cli("report", "-o", str(tmp_path / "report.html"), "--json")
    assert (ended.status, ended.out) == ({429: 4, 401: 3}[status], "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.row("J1")
@pytest.mark.skipif(sys.platform == "win32", reason="limits are POSIX's")
def test_a_disk_that_is_full_leaves_what_was_there(stub: StubServer, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text("old")
    ended = run_script(FULL_DISK, "report", "-o", str(file), "--force", stub=stub)
    assert (ended.status, ended.out) == (1, "")
    assert ended.err.splitlines()[-1].startswith("docplatform: ")
    assert "Traceback" not in ended.err
    assert file.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


# -- foreign text ----------------------------------------------------------------------------------


@pytest.mark.row("J7")
def test_every_value_is_escaped() -> None:
    row = {"path": EVIL, "human": 1, "ai": 1, "total": 1}
    evil = made(
        project=EVIL,
        date_from=EVIL,
        date_to=EVIL,
        top=[row],
        top_ai=[row],
        warnings=[EVIL],
        trend=[page.Slice(EVIL, EVIL, 1, 1, 1)],
        rising=[page.Rising(EVIL, 1, 2)],
    )
    html = page.render(evil)
    parsed = Parsed(html)
    # The same elements as for a harmless one, and every text as it came.
    harmless = page.render(
        made(
            warnings=["x"],
            trend=[page.Slice("x", "x", 1, 1, 1)],
            rising=[page.Rising("x", 1, 2)],
            top_ai=made().top,
        )
    )
    assert [tag for tag, _ in parsed.elements] == [tag for tag, _ in Parsed(harmless).elements]
    assert parsed.text.count("<script>alert(1)</script>\"'&</style></title>") == 14
    assert all(c.isprintable() or c == "\n" for c in html)
    assert html_.escape("<script>") in html
    assert not any(name.startswith("on") for _, attributes in parsed.elements for name in attributes)


@pytest.mark.row("J7")
def test_nothing_is_loaded_and_the_policy_allows_nothing_but_the_style() -> None:
    html = page.render(made())
    parsed = Parsed(html)
    assert not {"script", "link", "img", "iframe", "object", "base", "form", "a"} & {
        t for t, _ in parsed.elements
    }
    assert not any({"src", "href", "style"} & set(attributes) for _, attributes in parsed.elements)
    assert "url(" not in html
    assert "@import" not in html
    (policy,) = (
        attributes["content"]
        for _, attributes in parsed.elements
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None
    assert re.fullmatch(
        r"default-src 'none'; style-src 'sha256-[\w+/]{43}='; base-uri 'none'; form-action 'none'", policy
    )


# -- what is on it ---------------------------------------------------------------------------------


def test_a_range_without_dates_or_visitors() -> None:
    html = page.render(made(date_from=None, date_to=None, totals=Totals(0, 0, 0), top=[], top_ai=[], pages=0))
    text = Parsed(html).text
    assert "where none are named" in text
    assert text.count("No page had a visitor.") == 2
    assert "NaN" not in html


def test_the_trend_and_rising_pages_are_there_where_they_are_known() -> None:
    assert not {"The trend", "Rising pages"} & set(re.findall("<h2>(.*?)</h2>", page.render(made())))
    days = [page.Slice(f"2026-01-0{i}", f"2026-01-0{i + 1}", 10 * i, 5, 12) for i in (1, 2, 3)]
    parsed = Parsed(page.render(made(trend=days, rising=[page.Rising("/new", 1, 1_000)])))
    lines = [a["points"] for tag, a in parsed.elements if tag == "polyline"]
    assert lines == ["10.0,116.7 300.0,63.3 590.0,10.0", "10.0,143.3 300.0,143.3 590.0,143.3"]
    assert ["/new", "1", "1,000"] in parsed.rows
    assert ["2026-01-02", "20", "5", "12"] in parsed.rows


def test_the_top_is_that_of_all_rows_and_the_earlier_ones_stay() -> None:
    top = Top(3, "total")
    for at, count in enumerate([5, 1, 9, 5, 9, 5]):
        top.add({"path": f"/{at}", "total": count})
    assert [row["path"] for row in top.rows()] == ["/2", "/4", "/0"]


# -- memory ----------------------------------------------------------------------------------------


@pytest.mark.row("J13")
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_million_rows_take_no_more_memory_than_some(tmp_path: Path) -> None:
    script = f"""
        import re
        from pathlib import Path
        def main():
            {SCRIPT.replace("sys.exit(main())", "assert main() == 0")}
            print(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])
        main()
    """
    peaks = []
    for rows in (10_000, 1_000_000):
        with StubServer(visitors=rows) as stub:
            file = tmp_path / f"{rows}.html"
            ended = run_script(script, "report", "-q", "-o", str(file), stub=stub, timeout=110)
        assert (ended.status, ended.err) == (0, "")
        assert f"{rows:,}" in file.read_text(encoding="utf-8")
        peaks.append(int(ended.out))
    assert peaks[1] - peaks[0] < 16_000
