"""sync(): the store is filled for many projects; its report, its errors, and a second sync beside it."""

from __future__ import annotations

import logging
import pickle
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pytest

from docplatform import (
    BudgetError,
    ConfigurationError,
    DocPlatformError,
    NotFoundError,
    ResponseError,
    StoreBusyError,
    SyncError,
    SyncReport,
)
from docplatform._hooks.until import until
from docplatform.testing import StubServer
from helpers import Face
from helpers.exports import eventually
from helpers.scripts import Script

JANUARY: dict[str, Any] = {"date_from": "2024-01-01", "date_to": "2024-02-01"}


def test_sync_fetches_every_slice_once(face: Face, store: Path) -> None:
    with StubServer(projects=("demo", "other"), visitors=300) as stub:
        client = face.client(stub, store=store)
        report = face.run(client.sync(["demo", "other", "demo"], **JANUARY, every="week"))
        assert report == SyncReport(slices=10, cached=0, open=0, requests=20, rows=3_000)
        assert face.run(client.sync(iter(["other"]), **JANUARY, every="week")) == SyncReport(5, 5, 0, 0, 0)
        trend = face.run(client.visitor_trend(**JANUARY, every="week", by_path=True, project_id="other"))
        assert (len(trend), trend.requests) == (1_500, 0)
        # The totals came with the pages.
        assert face.run(client.visitor_trend(**JANUARY, every="week")).requests == 0
        assert face.run(client.sync("demo", **JANUARY, every="week", by_path=False)).cached == 5
        assert len(stub.requests) == 20
        totals = face.run(client.sync("demo", **JANUARY, by_path=False))
        assert (totals.slices, totals.requests, totals.rows) == (31, 31, 0)


def test_a_sync_that_the_budget_stopped_is_continued(face: Face, stub: StubServer, store: Path) -> None:
    client = face.client(stub, store=store, requests_per_hour=6)
    with pytest.raises(BudgetError) as caught:
        face.run(client.sync(["demo"], **JANUARY, every="week", on_budget="stop"))
    # One of the five was whole, and two pages of the second one came. Each of the four takes at least one more request.
    assert caught.value.report == SyncReport(5, cached=0, open=0, requests=6, rows=1_500, left=4, hours=1.0)
    rest = face.run(client.with_options(requests_per_hour=None).sync(["demo"], **JANUARY, every="week"))
    assert (rest.cached, rest.requests, len(stub.requests)) == (1, 14, 20)


def test_a_time_of_day_is_the_next_one_in_local_time() -> None:
    now = datetime.now(UTC)
    local = now.astimezone()
    for value, zone in (("06:30", local.tzinfo), ("6:30", local.tzinfo), (time(6, 30, tzinfo=UTC), UTC)):
        at = datetime.fromtimestamp((until(value) or 0) / 1000, zone)
        assert (at.hour, at.minute) == (6, 30)
        assert timedelta() < at - now < timedelta(hours=25)
    for over in (now, local.replace(tzinfo=None), "2024-01-01T06:00"):
        assert (until(over) or 0) / 1000 <= now.timestamp()


def test_sync_needs_a_store_and_valid_arguments(face: Face, stub: StubServer, store: Path) -> None:
    with pytest.raises(ConfigurationError, match="store="):
        face.client(stub).sync(["demo"], **JANUARY)
    client = face.client(stub, store=store)
    for wrong, error in [(5, TypeError), ([5], TypeError), (["a/b"], ValueError)]:
        with pytest.raises(error):
            client.sync(wrong, **JANUARY)
    with pytest.raises(ValueError, match="projects: \"# my list\" contains '#'"):
        client.sync(["a", "# my list"], **JANUARY)
    for error, option, says in (
        (ValueError, {"on_running": "leave"}, "on_running must be"),
        (ValueError, {"listing": ["visitors", "visits"]}, "listing must be one of"),
        (TypeError, {"listing": 5}, "listing must be a str or several, not int"),
        (ValueError, {"listing": ["visitors", "searches"], "by_path": False}, "not have of searches"),
        (ValueError, {"until": "25:00"}, "until must be a time such as \"06:00\" or .*; it is '25:00'"),
        (TypeError, {"until": date(2024, 1, 1)}, "until must be a str, time or datetime, not date"),
    ):
        with pytest.raises(error, match=says):
            client.sync("demo", **JANUARY, **option)
    assert face.run(client.sync([], **JANUARY)) == SyncReport(0, 0, 0, 0, 0)
    assert not stub.requests


def test_a_project_that_fails_does_not_stop_the_others(face: Face, store: Path) -> None:
    with StubServer(projects=("a", "c"), visitors=3) as stub:
        client = face.client(stub, store=store)
        with pytest.raises(SyncError, match="visitors of gone from 2024-01-01") as caught:
            face.run(client.sync(["a", "gone", "c"], **JANUARY))
        again = pickle.loads(pickle.dumps(caught.value))
        for error in (caught.value, again):
            ((project, *days, why, listing),) = error.failures
            assert (project, days, listing) == ("gone", [date(2024, 1, 1), date(2024, 1, 2)], "visitors")
            assert isinstance(why, NotFoundError)
            assert why.status == 404
            assert error.report == SyncReport(slices=93, cached=0, open=0, requests=63, rows=186, left=31)
        stub.fail_next(status=200, body={"nonsense": 1}, path="/a/")
        with pytest.raises(SyncError) as caught:
            face.run(client.sync(["a", "c"], date_from="2024-02-01", date_to="2024-02-03"))
        ((project, first, _, why, _),) = caught.value.failures
        assert (project, first) == ("a", date(2024, 2, 1))
        assert isinstance(why, ResponseError)
        assert isinstance(caught.value.report, SyncReport)
        assert caught.value.report.rows == 9


def test_many_failures_are_reported_briefly(face: Face, store: Path) -> None:
    gone = [f"gone-{number}" for number in range(9)]
    with StubServer(projects=("a",), visitors=3) as stub:
        client = face.client(stub, store=store)
        with pytest.raises(SyncError, match="; and 6 more") as caught:
            face.run(client.sync(["a", *gone], **JANUARY))
        assert len(caught.value.failures) == 9
        before = len(stub.requests)
        with pytest.raises(SyncError, match="repeated failures") as caught:
            face.run(client.sync(gone, **JANUARY))
        assert (len(caught.value.failures), len(stub.requests) - before) == (3, 3)


SYNC = """
import sys, docplatform
client = docplatform.Client(store=sys.argv[1])
print("running", flush=True)
client.sync(["demo"], date_from="2024-01-01", date_to="2024-01-03")
"""


def test_a_second_sync_waits_or_stops(face: Face, store: Path, caplog: pytest.LogCaptureFixture) -> None:
    days = {"date_from": "2024-01-01", "date_to": "2024-01-03"}
    with StubServer(visitors=3, latency=30.0) as slow, Script(SYNC, str(store), stub=slow) as other:
        assert other.read() == "running"
        eventually(lambda: slow.requests)
        with StubServer(visitors=3) as stub:
            client = face.client(stub, store=store)
            with pytest.raises(StoreBusyError) as caught:
                face.run(client.sync(["demo"], **days, on_running="stop"))
            assert isinstance(caught.value, DocPlatformError)
            assert caught.value.report == SyncReport(2, 0, 0, 0, 0, left=2)
            assert not stub.requests

            waiting = "another sync fills this store: waiting for it"

            class Killer(logging.Handler):
                def emit(self, record: logging.LogRecord) -> None:
                    if record.getMessage() == waiting:
                        assert record.__dict__["host"] == "127.0.0.1"
                        other.signal(9)

            logger, killer = logging.getLogger("docplatform"), Killer()
            logger.addHandler(killer)
            with caplog.at_level(logging.INFO, "docplatform"):
                report = face.run(client.sync(["demo"], **days))
            logger.removeHandler(killer)
            assert caplog.messages[:2] == [waiting, "missing requests: at least 2"]
            assert (report.requests, report.rows) == (2, 6)
    assert store.with_name("visitors.db-sync").stat().st_mode & 0o077 == 0


def test_progress_counts_slices(
    face: Face, stub: StubServer, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[object] = []

    class Bar:
        def __init__(self, total: int, unit: str) -> None:
            shown.append((total, unit))

        def update(self, done: int) -> None:
            shown.append(done)

    monkeypatch.setattr("docplatform._hooks.progress.bar", Bar)
    client = face.client(stub, store=store)
    four = {"date_from": "2024-01-01", "date_to": "2024-01-05"}
    face.run(client.sync("demo", date_from="2024-01-01", date_to="2024-01-02"))
    assert shown == []
    face.run(client.sync("demo", **four, progress=True))
    assert (shown[0], shown[-1]) == ((4, "slices"), 4)
    shown.clear()
    face.run(client.visitor_trend(**four, progress=True))
    assert (shown[0], shown[-1]) == ((4, "slices"), 4)
    shown.clear()
    with pytest.raises(ConfigurationError):
        face.run(client.with_options(store="").sync("demo", **four, progress=True))
    assert shown == [], "no bar is left above the error"
