"""``docplatform views|searches|feedback|conversations``: what they print, what they ask for, and what they say of their numbers."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from docplatform.cli.listings import LISTINGS, Listing
from docplatform.testing import StubServer
from helpers.cli import Cli

pytestmark = pytest.mark.stub(visitors=60)

MONTH = "2025-12"
WEEKS = ["2025-12-01", "2025-12-08", "2025-12-15", "2025-12-22", "2025-12-29"]
EXPORTS = {
    "views": ("views",),
    "searches": ("searches",),
    "feedback": ("feedback",),
    "feedback_by_page": ("feedback", "--by-page"),
    "conversations": ("conversations",),
}
"""The client's method, the command and its flag."""
every_export = pytest.mark.parametrize("name", EXPORTS)
every_listing = pytest.mark.parametrize("listing", LISTINGS, ids=lambda listing: listing.name)


def export(name: str, *more: str) -> tuple[str, ...]:
    command, *flags = EXPORTS[name]
    return (command, "export", MONTH, *flags, *more)


def collected(stub: StubServer, name: str, **query: Any) -> Any:
    with stub.client() as client:
        return getattr(client, name)(MONTH, **query).collect()


# -- exports ---------------------------------------------------------------------------------------


@every_export
def test_an_export_has_the_rows_of_the_client(cli: Cli, tmp_path: Path, name: str) -> None:
    table = collected(cli.stub, name)
    assert len(table) > 1
    table.to_csv(tmp_path / "client.csv")
    ended = cli(*export(name))
    assert ended.out == (tmp_path / "client.csv").read_text(encoding="utf-8")
    said = ended.err.splitlines()
    assert said[:2] == [
        f"Reading {EXPORTS[name][0]}",
        f"Wrote {len(table)} rows; it took {table.requests} request{'s' * (table.requests > 1)}.",
    ]
    found = json.loads(cli(*export(name, "-o", str(tmp_path / "rows.csv"), "--json")).out)
    assert (found["rows"], "totals" in found) == (len(table), name == "views")


@pytest.mark.parametrize("name", [name for name in EXPORTS if name != "views"])
def test_an_export_reads_slice_by_slice(cli: Cli, name: str) -> None:
    dry = cli(*export(name, "--every", "week", "--dry-run"))
    assert (dry.out.splitlines()[0], cli.stub.requests) == ("requests\t5", [])
    rows = csv.DictReader(io.StringIO(cli(*export(name, "--every", "week")).out))
    assert list(dict.fromkeys(row["date_from"] for row in rows)) == WEEKS
    ended = cli(EXPORTS[name][0], "export", "--every", "week")
    assert (ended.status, "--every needs a period" in ended.err) == (2, True)


@pytest.mark.parametrize("name", ["feedback", "feedback_by_page"])
def test_feedback_is_chosen_by_source_and_status(cli: Cli, name: str) -> None:
    line = export(name, "--source", "agent", "--status", "pending", "--status", "resolved")
    assert cli(*line).status == 0
    query = cli.stub.requests[-1].query
    assert (query["source"], query["status"]) == ("agent", "pending,resolved")


def test_pages_have_the_size_that_the_service_grants_for_the_listing(cli: Cli) -> None:
    assert cli(*export("conversations", "--page-size", "1000")).status == 0
    assert cli.stub.requests[-1].query["limit"] == "1000"
    for name in ("searches", "feedback"):
        ended = cli(*export(name, "--page-size", "101"))
        assert (ended.status, "1<=x<=100" in ended.err) == (2, True)


def test_a_listing_of_one_page_has_an_exact_cost(cli: Cli) -> None:
    planned = cli(*export("feedback_by_page", "--max-rows", "500"), "--dry-run")
    assert ("requests\t1\n" in planned.out, "exact\tyes\n" in planned.out) == (True, True)
    assert planned.err == "Nothing was sent.\n"


@pytest.mark.row("M10")
def test_feedback_that_is_cut_off_is_noted_and_with_strict_an_error(cli: Cli) -> None:
    line = export("feedback_by_page", "--page-size", "10")
    ended = cli(*line, "-q")
    assert (ended.status, len(ended.out.splitlines())) == (0, 11)
    assert ended.err.startswith("Note: the service cut the listing off after 10 rows")
    assert ended.err.endswith("such as each day, to get more\n")
    ended = cli(*line, "--strict")
    assert (ended.status, ended.out, "cut the listing off" in ended.err) == (1, "", True)
    ended = cli(*line, "--every", "day", "--page-size", "1", "-q")
    assert (
        "and does not list the rest: ask for larger pages, or choose rows by their source or status, or"
        in ended.err
    )


@pytest.mark.row("M9")
@pytest.mark.parametrize(
    ("name", "advice"),
    [
        (
            "searches",
            "read one week at a time, with a shorter period, or where the call has it with --every week",
        ),
        ("views", "read one week at a time"),
    ],
)
def test_a_range_that_is_too_long_says_how_to_ask_for_less(cli: Cli, name: str, advice: str) -> None:
    cli.stub.fail_next(status=504, path=f"/{name}", times=3)
    ended = cli(*export(name))
    assert (ended.status, ended.out) == (1, "")
    assert ended.err.splitlines()[1].endswith(f"the answer may be too large for the service: {advice}")


def test_a_cursor_that_expired_names_the_option_to_begin_again(cli: Cli, store: Path) -> None:
    line = export("searches", "--page-size", "50", "--store", str(store))
    with cli.stub.client(store=store) as client:
        next(client.searches(MONTH, page_size=50, prefetch=0))
    cli.stub.fail_next(status=400, body={"error": "cursor has expired"})
    ended = cli(*line)
    assert ended.status == 1
    assert "from its beginning, with --refresh where a store has a part of it" in ended.err
    assert "resume" not in ended.err
    assert len(cli(*line, "--refresh").out.splitlines()) == 121


# -- totals and top --------------------------------------------------------------------------------


def test_totals_and_top_of_views(cli: Cli) -> None:
    table = collected(cli.stub, "views")
    assert cli("views", "totals", MONTH).out.splitlines()[1].split("\t") == [str(n) for n in table.totals]
    ended = cli("views", "top", MONTH, "-n", "3", "--by", "ai")
    paths = [line.split("\t")[0] for line in ended.out.splitlines()[1:]]
    assert paths == [row["path"] for row in sorted(table, key=lambda row: -row["ai"])[:3]]
    assert ended.err.splitlines() == [
        "Reading views",
        f"It took 1 request. Views add up: the whole site has {table.totals.total:,} views.",
    ]
    found = json.loads(cli("views", "top", MONTH, "--json").out)
    assert (found["totals"], len(found["rows"])) == (table.totals._asdict(), 10)
    assert all("/views" in request.path for request in cli.stub.requests)


def test_a_trend_and_a_comparison_of_views(cli: Cli) -> None:
    days = [line.split("\t") for line in cli("views", "trend", MONTH, "--every", "week").out.splitlines()[1:]]
    with cli.stub.client() as client:
        assert [line[-1] for line in days] == [
            str(row["total"]) for row in client.view_trend(MONTH, every="week")
        ]
        totals = client.compare_views(MONTH).totals
    ended = cli("views", "compare", MONTH, "--json")
    assert json.loads(ended.out)["totals"] == totals._asdict()
    assert "Views add up" in cli("views", "trend", MONTH).err
    for command, sums in (("views", "sum up to"), ("visitors", "counts on both")):
        assert sums in cli(command, "trend", "--help").out


def test_a_dataset_is_written_of_what_the_store_has(cli: Cli, store: Path, tmp_path: Path) -> None:
    filled = ("--listing", "searches", "--store", str(store))
    assert cli("sync", MONTH, "demo", *filled, "--every", "week").status == 0
    sent = len(cli.stub.requests)
    line = ("dataset", str(tmp_path / "lake"), MONTH, *filled, "--every", "week", "--json")
    found = json.loads(cli(*line).out)
    # The days after the last Sunday of the month are in no whole week.
    assert (found["listing"], found["written"], found["rows"]) == ("searches", 4, 480)
    assert json.loads(cli(*line).out)["kept"] == 4
    wider = cli(*line[:2], "2025-12-01 to 2026-01-11", *filled, "--every", "week", "--json")
    assert (wider.status, json.loads(wider.out)["missing"]) == (0, 2)
    assert "Note: the store lacks 2 of the 6 slices, the first from 2025-12-29 of project 'demo'" in wider.err
    strict = cli(*line[:2], "2025-12-01 to 2026-01-11", *filled, "--every", "week", "--strict")
    assert (strict.status, "missing\t2" in strict.out) == (1, True)
    assert strict.err.splitlines()[-1].startswith("docplatform: the store lacks 2 of the 6 slices")
    strict = cli(*line[:2], "2025-12-01 to 2026-01-11", *filled, "--every", "week", "--strict", "--json")
    assert json.loads(strict.out)["error"]["class"] == "DatasetError"
    assert cli(*line, "--strict").status == 0
    assert pl.read_parquet(tmp_path / "lake" / "listing=searches").height == 480
    assert len(cli.stub.requests) == sent
    assert cli("sync", MONTH, "demo", *filled).status == 0
    stranger = tmp_path / "other" / "listing=searches" / "project=a" / "date=b" / "part-0.parquet"
    stranger.mkdir(parents=True)
    for folder, wrong, says in (
        ("lake", (), "name its file with --store"),
        ("lake", filled, "has a slice for each week, and"),
        ("lake", (*filled, "demo"), "The PERIOD comes first, and projects come after it"),
        (
            "lake",
            (*filled, "--project", "demo", MONTH, "nope"),
            "name the project with --project, or projects",
        ),
        (
            "new",
            (*filled, "--every", "month"),
            "give --every week, or fetch whole ones with docplatform sync, --listing searches and --every month",
        ),
        ("other", filled, "was not written by this version as a part of a dataset"),
    ):
        ended = cli("dataset", str(tmp_path / folder), *wrong)
        assert (ended.status, says in ended.err) == (2, True), ended.err
    ended = cli("sync", MONTH, "demo", *filled, "--totals")
    assert (ended.status, "no totals of searches" in ended.err) == (2, True)


# -- organizations and help ------------------------------------------------------------------------


def test_a_dataset_is_of_the_organization_of_the_environment(
    cli: Cli, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = ("dataset", str(tmp_path / "lake"), "--store", str(store), "--every", "week")
    filled = (MONTH, "demo", "--every", "week", "--store", str(store))
    assert cli("sync", *filled).status == 0
    monkeypatch.setenv("DOCPLATFORM_ORGANIZATION", "acme")
    ended = cli("sync", *filled)
    assert ended.out.splitlines()[0] == "listing\tvisitors"
    monkeypatch.delenv("DOCPLATFORM_API_KEY")
    ended = cli(*line)
    assert (ended.status, ended.out.splitlines()[:2]) == (0, ["listing\tvisitors", "written\t4"])
    monkeypatch.delenv("DOCPLATFORM_ORGANIZATION")
    ended = cli(*line)
    assert (ended.status, "--organization name:acme" in ended.err) == (2, True)


@every_listing
def test_help_says_what_the_rows_are_and_whether_they_add_up(cli: Cli, listing: Listing) -> None:
    said = " ".join(cli(listing.name, "export", "--help").out.split())
    assert f"Export {listing.rows}." in said
    assert listing.meaning in said
    assert f"one request for each {listing.endpoint.page_size:,} rows" in said
    assert ("--every" in said) is not listing.endpoint.has_totals
    assert f"docplatform {listing.name} export 2026-01" in said
    assert listing.summary in cli(listing.name, "--help").out
