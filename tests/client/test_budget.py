"""The budget through the wheel, one case a verdict: granted, waited for, an error with ``on_budget="stop"``.

Its policy and its ledger are tested in ``tests/rust/budget``.
"""

from __future__ import annotations

import logging
import pickle
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from docplatform import BudgetError
from docplatform.testing import StubServer
from helpers import AsyncFace, Face
from helpers.exports import eventually, names

DATES: dict[str, Any] = {"date_from": "2026-01-01", "date_to": "2026-02-01"}


def ask(face: Face, client: Any, times: int = 1) -> None:
    for _ in range(times):
        face.run(client.visitor_totals(on_budget="stop"))


def spent(face: Face, client: Any) -> BudgetError:
    with pytest.raises(BudgetError) as caught:
        ask(face, client)
    return caught.value


def test_a_spent_budget_is_an_error_with_the_time_of_the_next_request(face: Face, stub: StubServer) -> None:
    client = face.client(stub, requests_per_hour=5, reserve=1)
    assert client.stats.budget_left == 4
    ask(face, client, 3)
    # A handle with other connections has the same budget.
    ask(face, client.with_options(connect_timeout=1))
    error = spent(face, client)
    assert (client.stats.budget_left, len(stub.requests)) == (0, 4)
    assert error.resets_at is not None
    assert error.resets_at.tzinfo is not None
    assert timedelta(minutes=55) < error.resets_at - datetime.now(UTC) < timedelta(minutes=61)
    assert error.outcome == "not_sent"
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.resets_at, str(copy)) == (error.resets_at, str(error))


def test_other_endpoints_stop_at_the_budget_too(face: Face, stub: StubServer) -> None:
    client = face.client(stub, requests_per_hour=2, jobs_per_hour=1)
    path = "/v1/analytics/{project_id}/visitors"
    rows = client.paginate(path, items="visitors", on_budget="stop")
    with pytest.raises(BudgetError) as caught:
        face.all(rows)
    assert caught.value.checkpoint == rows.checkpoint
    with pytest.raises(BudgetError):
        face.run(client.request("GET", path, on_budget="stop"))
    create: dict[str, Any] = {"json": {"prompt": "Fix it"}, "on_budget": "stop"}
    face.run(client.request("POST", "/v2/agent/{project_id}/job", **create))
    for path in ("/v2/agent/{project_id}/job", f"/v2/agent/{stub.project_id}/job"):
        with pytest.raises(BudgetError) as caught:
            face.run(client.request("POST", path, **create))
    assert (caught.value.outcome, len(stub.requests)) == ("not_sent", 3)


@pytest.mark.row("M12")
def test_a_wait_for_the_budget_is_logged_and_can_be_cancelled(
    stub: StubServer, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(AsyncFace()) as face:
        client = face.client(stub, requests_per_hour=3)
        rows = client.visitors(**DATES, prefetch=0)
        caplog.set_level(logging.INFO, "docplatform")

        def waits() -> bool:
            return "budget is spent" in caplog.text

        face.cancel(partial(rows.collect, progress=True), waits)
        assert len(stub.requests) == 3
        assert sum("waiting for the next request until 20" in line for line in caplog.messages) == 1
    assert "budget is spent" in capsys.readouterr().err


def test_new_jobs_have_a_budget_for_each_project(face: Face, store: Path) -> None:
    settings: dict[str, Any] = {"jobs_per_hour": 1, "store": store}
    with StubServer(projects=["demo", "blog"]) as stub:
        client = face.client(stub, **settings)
        assert (client.stats.jobs_left, client.stats.budget_left) == (1, None)
        face.run(client.create_job("Fix it", on_budget="stop"))
        assert client.stats.jobs_left == 0
        for method in (client.create_job, client.run_job):
            with pytest.raises(BudgetError, match="budget of new jobs") as caught:
                face.run(method("Fix it", once="docs-1.4", on_budget="stop"))
            assert caught.value.outcome == "not_sent"
            assert caught.value.resets_at is not None
        assert len(stub.requests) == 1
        # The name is free, and other projects and organizations have budgets of their own.
        other = face.client(stub, store=store)
        assert face.run(other.create_job("Fix that", once="docs-1.4")).id == "job-2"
        face.run(client.create_job("Fix it", project_id="blog", on_budget="stop"))
        assert face.client(stub, **settings, organization="acme").stats.jobs_left == 1


def test_settings_are_checked(face: Face, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make = {"api_key": "dp_0123456789abcdefghij", "base_url": "https://docs.example.com"}
    wrong: dict[str, Any]
    for wrong in (
        {"requests_per_hour": 10, "reserve": 10},
        {"reserve": 1},
        {"jobs_per_hour": 0},
        {"settle_days": -1},
        {"organization": ""},
        {"organization": "a\nb"},
    ):
        with pytest.raises(ValueError, match=r"s_per_hour|settle_days|organization"):
            face.make(**make, **wrong)
    for wrong in ({"requests_per_hour": 1.5}, {"store": 5}, {"organization": 5}, {"reserve": True}):
        with pytest.raises(TypeError, match=next(iter(wrong))):
            face.make(**make, **wrong)
    for call in (lambda client: client.visitors, lambda client: partial(client.create_job, "Fix it")):
        with pytest.raises(ValueError, match="on_budget"):
            call(face.make(**make, project_id="demo"))(on_budget="hope")
    # A relative path means the same file wherever the pickle is read, or there would be two budgets.
    monkeypatch.chdir(tmp_path)
    settings = {"requests_per_hour": 7, "reserve": 2, "store": "v.db", "settle_days": 3}
    carried = face.make(**make, **settings).__reduce__()[0].keywords
    assert {name: carried[name] for name in settings} == {**settings, "store": str(tmp_path / "v.db")}


@pytest.mark.row("M13")
def test_the_store_holds_no_key(face: Face, stub: StubServer, store: Path) -> None:
    client = face.client(stub, store=store, requests_per_hour=50, headers={"x-team": "s3cret-header-value"})
    ask(face, client)
    face.all(client.visitors(**DATES))
    face.close_clients()
    eventually(lambda: names(store.parent) == [store.name])
    content = store.read_bytes()
    for secret in (stub.api_key.encode(), b"s3cret-header-value", b"Bearer"):
        assert secret not in content
