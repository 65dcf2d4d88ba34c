"""``docplatform sync``: fills a store for many projects, and lists what failed."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from helpers.cli import JANUARY, Cli

pytestmark = pytest.mark.stub(projects=("demo", "other", "-odd"), visitors=3)

DAY = ("--from", "2024-01-01", "--to", "2024-01-02")


@pytest.fixture(autouse=True)
def in_the_environment(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCPLATFORM_STORE", str(store))


def document(cli: Cli, *arguments: str, status: int = 0, stdin: bytes = b"") -> dict[str, Any]:
    ended = cli("sync", "--json", *arguments, stdin=stdin)
    assert ended.status == status, ended.err
    found: dict[str, Any] = json.loads(ended.out)
    return found


def test_sync_fills_the_store_and_prints_a_summary(cli: Cli, store: Path) -> None:
    ended = cli("sync", "demo", "other", *JANUARY)
    assert (
        ended.out == "listing\tvisitors\nslices\t62\ncached\t0\nopen\t0\nrequests\t62\nrows\t186\nleft\t0\n"
    )
    assert ended.err == "Filling the store\nmissing requests: at least 62\n"
    before = len(cli.stub.requests)
    assert cli("sync", "other", *JANUARY).out.splitlines()[2] == "cached\t31"
    assert cli("visitors", "trend", "--project", "other", *JANUARY).status == 0
    assert len(cli.stub.requests) == before


@pytest.mark.parametrize("every", ["day", "week", "month"])
def test_the_last_days_are_fetched_in_whole_slices(cli: Cli, tmp_path: Path, every: str) -> None:
    line = ("--last", "40", "--every", every)
    found = document(cli, "demo", *line)
    first, end = (date.fromisoformat(found[name]) for name in ("date_from", "date_to"))
    today = datetime.now(UTC).date()
    assert first <= today - timedelta(days=40) < first + timedelta(days=31)
    assert today <= end < today + timedelta(days=31)
    days = {
        "day": (first, today - end),
        "week": (first.weekday(), end.weekday()),
        "month": (first.day, end.day),
    }
    assert (
        days[every]
        == {"day": (today - timedelta(days=40), timedelta()), "week": (0, 0), "month": (1, 1)}[every]
    )
    # So the dataset has them all, the open one included.
    written = cli("dataset", str(tmp_path / "lake"), *line, "--strict")
    assert (written.status, written.out.splitlines()[1]) == (0, f"written\t{found['slices']}")


def test_sync_as_json(cli: Cli) -> None:
    asked = {
        "listing": ["visitors"],
        "date_from": "2024-01-01",
        "date_to": "2024-02-01",
        "every": "week",
        "by_path": False,
    }
    counts = {"slices": 5, "cached": 0, "open": 0, "requests": 5, "rows": 0, "left": 0, "hours": None}
    found = document(cli, "demo", *JANUARY, "--every", "week", "--totals")
    assert found == {**asked, "complete": True, **counts, "failures": [], "error": None}


def test_a_night_fetches_several_listings_and_says_what_is_left(cli: Cli) -> None:
    night = ("demo", *DAY, "--listing", "views", "--listing", "searches", "--requests-per-hour", "2")
    planned = cli("sync", *night, "--dry-run")
    assert "requests\t2\n" in planned.out
    assert "Every 100 or 250 rows of a slice cost a request, depending on the listing." in planned.err
    stopped = document(cli, *night, "--until", "2024-01-01T06:00")
    assert (stopped["listing"], stopped["complete"]) == (["views", "searches"], False)
    assert (stopped["requests"], stopped["left"], stopped["hours"]) == (0, 2, 0.0)
    over = cli("sync", *night, "--until", "2024-01-01T06:00")
    assert "The time of --until was over: run it again for the rest." in over.err
    ended = cli("sync", *night, "--until", "23:59:59", "--on-budget", "stop")
    assert "left\t1\nhours\t1.0\n" in ended.out
    assert (ended.status, cli.stub.requests[0].path.rpartition("/")[2]) == (4, "views")
    forecasts = [line for line in ended.err.splitlines() if line.startswith("missing")]
    assert forecasts == [
        "missing requests: at least 2; hours at the request budget: 0",
        "missing requests: at least 1; hours at the request budget: 1",
    ]
    wrong = cli("sync", *night, "--until", "25:00")
    assert (wrong.status, "--until must be a time such as" in wrong.err) == (2, True)


def test_projects_come_from_arguments_a_file_or_a_pipe(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "projects.txt").write_text("\ufeffother\n\n  demo \nother\n", encoding="utf-8")
    assert document(cli, "-f", str(tmp_path / "projects.txt"), *DAY)["slices"] == 2
    assert document(cli, "--file", "-", *DAY, stdin=b"other\n-odd\n")["cached"] == 1
    assert document(cli, *DAY, "--", "-odd")["cached"] == 1


@pytest.mark.parametrize(
    "period",
    ["2024-01-01 to 2024-01-02", "January 2024", "last 7 days", "last 2 months", "last month", "yesterday"],
)
def test_a_period_may_have_several_words(cli: Cli, period: str) -> None:
    spoken, quoted = (document(cli, *words, "other", "--dry-run") for words in (period.split(), [period]))
    assert {(one["listing"], one["project"]) for one in spoken["slices"]} == {("visitors", "other")}
    assert [one["date_from"] for one in spoken["slices"]] == [one["date_from"] for one in quoted["slices"]]


def test_failures_are_listed_and_the_rest_is_in_the_store(cli: Cli) -> None:
    projects = ("demo", "gone", "other", *DAY)
    ended = cli("sync", *projects)
    assert (ended.status, ended.out.splitlines()[1]) == (1, "slices\t3")
    assert "visitors of gone from 2024-01-01: " in ended.err
    found = document(cli, *projects, status=1)
    assert (found["complete"], found["cached"], found["error"]["class"]) == (False, 2, "SyncError")
    ((failure),) = found["failures"]
    assert (failure["project_id"], failure["date_from"]) == ("gone", "2024-01-01")
    assert (failure["listing"], found["left"]) == ("visitors", 1)
    assert (failure["error"]["class"], failure["error"]["status"]) == ("NotFoundError", 404)
    assert "No such project" in failure["error"]["message"]
