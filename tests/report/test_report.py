"""``docplatform report``: what it writes, when it refuses to, and how much memory it takes."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from html import unescape
from inspect import signature
from pathlib import Path

import pytest

from docplatform import Client
from docplatform.cli.report.reading import SETTLE_DAYS
from docplatform.testing import StubServer
from helpers.cli import ROWS, SCRIPT, Cli
from helpers.marks import linux
from helpers.reports import Parsed
from helpers.scripts import run_script

TOTALS = {"human": 30_000, "ai": 20_000, "total": 40_000}
ALONE = ("--no-compare", "--no-feedback")
"""A report of its pages alone."""
pytestmark = pytest.mark.stub(visitors=ROWS, totals=TOTALS)


def test_a_report_is_one_file_with_the_most_read_pages(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    days = ["--from", "2026-01-01", "--to", "2026-02-01"]
    ended = cli("report", "-o", str(file), *days, "-n", "3", "--every", "none", *ALONE)
    assert (ended.status, ended.out) == (0, "")
    assert ended.err.splitlines() == [
        "Requests: one for each 250 pages of January 2026.",
        "Reading visitors",
        f"Wrote {file} (598 pages of the site, 3 requests)",
    ]
    parsed = Parsed(file.read_text(encoding="utf-8"))
    for said in ("30,000", "20,000", "40,000", "January 2026", "they do not add up", "demo", "UTC"):
        assert said in parsed.text
    shown = [row[0] for row in parsed.tables["The most read pages"]]
    assert shown == [row["path"] for row in sorted(ROWS, key=lambda row: -int(row["total"]))[:3]]
    assert cli.stub.api_key not in parsed.text
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_without_a_period_it_is_the_last_month_beside_the_one_before(cli: Cli, tmp_path: Path) -> None:
    end = datetime.now(UTC).date().replace(day=1)
    first = (end - timedelta(1)).replace(day=1)
    before = (first - timedelta(1)).replace(day=1)
    ended = cli("report", "-o", str(tmp_path / "r.html"), "--json", "--every", "none", "--no-feedback")
    found = json.loads(ended.out)
    assert (found["date_from"], found["date_to"]) == (str(first), str(end))
    asked = [(request.query["dateFrom"], request.query["dateTo"]) for request in cli.stub.requests]
    assert asked == [(str(first), str(end))] * 3 + [(str(before), str(first))] * 3


def test_a_period_that_is_not_final_yet_is_named(cli: Cli, tmp_path: Path) -> None:
    line = ("report", "yesterday", "--no-feedback", "--json", "-o", str(tmp_path / "r.md"), "--force")

    def warnings(*more: str) -> list[str]:
        ended = cli(*line, *more)
        found: list[str] = json.loads(ended.out)["warnings"]
        return [said for said in found if "it is final" in said]

    said = warnings()
    assert [line.partition(" may ")[2] for line in said] == [
        "still change: it is final 2 days after its end"
    ] * 2
    assert len(warnings("--settle-days", "4294967295")) == 2
    assert signature(Client).parameters["settle_days"].default == SETTLE_DAYS
    assert warnings("--settle-days", "0") == []


def test_a_report_has_the_title_and_the_links_that_were_asked_for(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "r.html"
    more = ("--title", "Our <docs>", "--site-url", "https://docs.example.com/en/")
    assert cli("report", "2026-01", "-q", "-o", str(file), *more).status == 0
    html = file.read_text(encoding="utf-8")
    assert "<h1>Our &lt;docs&gt;</h1>" in html
    best = max(ROWS, key=lambda row: int(row["total"]))
    assert f'href="https://docs.example.com/en{best["path"]}"' in html
    sent = len(cli.stub.requests)
    for wrong in (
        "docs.example.com",
        "javascript:alert(1)",
        "https://",
        "https://u:p@example.com",
        "https://x.example/?q=1",
    ):
        ended = cli("report", "2026-01", "-o", str(file), "--force", "--site-url", wrong)
        assert (ended.status, len(cli.stub.requests)) == (2, sent)
        assert "--site-url must be an address such as https://docs.example.com" in ended.err


def test_a_file_that_ends_in_md_is_markdown(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "report.md"
    assert cli("report", "2026-01", "-o", str(file), "--site-url", "https://docs.example.com").status == 0
    text = file.read_text(encoding="utf-8")
    assert text.startswith("## Who reads the docs\n\n`demo`, January 2026\n")
    assert "| Page | People | AI agents | All |\n| --- | --: | --: | --: |\n| [`/" in text
    assert "<html" not in text


def test_a_brief_report_goes_to_standard_output_or_into_a_file(cli: Cli, tmp_path: Path) -> None:
    ended = cli("report", "2026-01", "--brief")
    assert (
        ended.status,
        ended.out.startswith("**Who reads the docs**, `demo`, January 2026\n- The number"),
    ) == (0, True)
    file = tmp_path / "brief.md"
    assert cli("report", "2026-01", "--brief", "-o", str(file)).status == 0
    assert file.read_text(encoding="utf-8") == ended.out
    wrong = cli("report", "2026-01", "--brief", "-o", str(tmp_path / "brief.html"))
    assert (wrong.status, "--brief writes Markdown" in wrong.err) == (2, True)


def test_a_dry_run_of_a_report_counts_all_its_parts(cli: Cli, tmp_path: Path) -> None:
    def cost(*more: str) -> list[str]:
        ended = cli("report", "2026-01", "-o", str(tmp_path / "r.html"), "--dry-run", *more)
        assert ended.status == 0
        assert ended.err.splitlines()[-1] == "Nothing was sent."
        return ended.out.split()[1::2][:3]

    # The pages, those of December, four listings of what readers say, twelve months.
    assert cost() == ["18", "0", "no"]
    assert cost("--no-feedback") == ["14", "0", "no"]
    assert cost("--brief") == ["6", "0", "no"]
    assert cost("--every", "day", *ALONE) == ["32", "0", "no"]
    assert cost("--every", "none", *ALONE) == ["1", "0", "no"]
    assert cli.stub.requests == []
    assert list(tmp_path.iterdir()) == []


def test_the_guide_shows_what_the_report_says(cli: Cli, tmp_path: Path) -> None:
    guide = (Path(__file__).parents[2] / "docs" / "how-to" / "report.md").read_text(encoding="utf-8")
    shown = guide.partition("```text\n")[2].partition("```")[0].split("\n")
    with StubServer() as stub:
        file = tmp_path / "report.html"
        line = ("report", "2026-10", "-o", str(file), "--every", "none", "--base-url", stub.url)
        assert cli(*line).status == 0
    html = file.read_text(encoding="utf-8")
    said = re.findall(r"<p>(.*?)</p>", html.partition('class="summary">')[2].partition("</section>")[0])
    assert unescape(re.sub("<[^>]*>", "", " ".join(said))) == " ".join(filter(None, shown))


# -- memory ----------------------------------------------------------------------------------------


@pytest.mark.row("J13")
@linux
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
            # With days, so that what is kept to be compared counts, too.
            days = ("--from", "2026-01-01", "--to", "2026-02-01")
            ended = run_script(script, "report", "-q", "-o", str(file), *days, stub=stub)
        assert (ended.status, ended.err) == (0, "")
        assert f"{rows:,}" in file.read_text(encoding="utf-8")
        peaks.append(int(ended.out))
    assert peaks[1] - peaks[0] < 16_000
