"""``read_visitors`` reads what a client stored, without a client, a key or a request; missing data is an error."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from docplatform import (
    Client,
    ConfigurationError,
    DataChangedWarning,
    TrendTable,
    VisitorTable,
    read_visitors,
)
from docplatform.cli import phrases
from docplatform.testing import StubServer
from helpers.cli import SCRIPT as MAIN
from helpers.lake import alter
from helpers.pages import page, row, serve
from helpers.scripts import run_script

JANUARY: dict[str, Any] = {"date_from": "2024-01-01", "date_to": "2024-02-01"}


@pytest.fixture
def client(stub: StubServer, store: Path) -> Iterator[Client]:
    """A client that fills the store. Either client writes the same: test_store.py."""
    with stub.client(store=store) as client:
        yield client


@pytest.mark.parametrize("days", [JANUARY, {"period": "2024-01"}], ids=["dates", "period"])
def test_a_range_is_read_as_the_client_had_it(
    client: Client, stub: StubServer, store: Path, days: dict[str, Any]
) -> None:
    serve(stub, page([row(1), row(1)]))
    with pytest.warns(DataChangedWarning):
        fetched: VisitorTable = client.visitors(**JANUARY).collect()
    sent = len(stub.requests)
    table = read_visitors(store, **days)
    assert isinstance(table, VisitorTable)
    assert list(table) == list(fetched)
    assert (table.totals, table.requests, table.warnings) == (fetched.totals, 0, fetched.warnings)
    assert (table.date_from, table.date_to, table.project_id) == (date(2024, 1, 1), date(2024, 2, 1), "demo")
    assert len(stub.requests) == sent


@pytest.mark.parametrize("by_path", [False, True])
@pytest.mark.parametrize("every", ["day", "week", "month"])
def test_slices_are_read_as_the_client_had_them(
    client: Client, stub: StubServer, store: Path, every: str, by_path: bool
) -> None:
    how: dict[str, Any] = {**JANUARY, "every": every, "by_path": by_path}
    fetched: TrendTable = client.visitor_trend(**how)
    trend = read_visitors(store, **how)
    assert isinstance(trend, TrendTable)
    assert list(trend) == list(fetched)
    assert (trend.every, trend.open_from, trend.requests) == (every, None, 0)
    assert (trend.date_from, trend.date_to) == (date(2024, 1, 1), date(2024, 2, 1))


def test_totals_come_from_pages_too(client: Client, stub: StubServer, store: Path) -> None:
    client.sync("demo", **JANUARY, every="week")
    trend = read_visitors(store, **JANUARY, every="week")
    sent = len(stub.requests)
    assert list(trend) == list(client.visitor_trend(**JANUARY, every="week"))
    assert len(stub.requests) == sent
    whole = client.visitor_totals(**JANUARY)
    [row] = read_visitors(store, **JANUARY, by_path=False)
    assert (row["human"], row["ai"], row["total"]) == whole


def test_what_may_still_change_is_read_with_a_warning(client: Client, stub: StubServer, store: Path) -> None:
    today = date.today()  # noqa: DTZ011  # a day more or less
    days: dict[str, Any] = {"date_from": today - timedelta(days=9), "date_to": today + timedelta(days=1)}
    fetched = client.visitor_trend(**days)
    trend = read_visitors(store, **days, every="day")
    assert isinstance(trend, TrendTable)
    assert (trend.open_from, trend.warnings) == (fetched.open_from, fetched.warnings)
    assert trend.open_from is not None
    client.visitors(**days).collect()
    assert "may still change" in read_visitors(store, **days).warnings[0]


SCRIPT = """
import sys
import docplatform
table = docplatform.read_visitors(sys.argv[1], "2024-01")
print(len(table))
"""


def test_no_key_and_no_service_is_needed(client: Client, stub: StubServer, store: Path) -> None:
    fetched = client.visitors(**JANUARY).collect()
    ended = run_script(SCRIPT, str(store))
    assert (ended.status, ended.out, ended.err) == (0, f"{len(fetched)}\n", "")


@pytest.mark.parametrize(
    ("how", "lacks", "call"),
    [
        (
            {},
            "the range as a whole is missing (it has no rows of visitors of this project)",
            'client.visitors(date_from="2024-01-01", date_to="2024-02-01", project_id="demo").collect()',
        ),
        (
            {"by_path": False},
            "the range as a whole is missing",
            'client.visitor_totals(date_from="2024-01-01", date_to="2024-02-01", project_id="demo")',
        ),
        (
            {"every": "week"},
            "5 of 5 slices are missing, first week 1 of 2024 (from 1 January)",
            'client.sync("demo", date_from="2024-01-01", date_to="2024-02-01", every="week", by_path=False)',
        ),
        (
            {"every": "day", "by_path": True},
            "31 of 31 slices are missing",
            'client.sync("demo", date_from="2024-01-01", date_to="2024-02-01", every="day", by_path=True)',
        ),
    ],
)
def test_what_is_missing_is_an_error_that_says_how_to_fetch_it(
    stub: StubServer, store: Path, how: dict[str, Any], lacks: str, call: str
) -> None:
    with stub.client(store=store) as client:
        client.visitor_totals(date_from="2023-01-01", date_to="2023-01-02", project_id="demo")
        how = {**JANUARY, "project_id": "demo", **how}
        with pytest.raises(ValueError, match=re.escape(lacks)) as caught:
            read_visitors(store, **how)
        assert str(caught.value).endswith(f"; fetch them with {call}")
        # The advice helps.
        made = eval(call, {"client": client})
        assert made is not None
    assert len(read_visitors(store, **how)) > 0


@pytest.mark.parametrize(
    "how", [{}, {"by_path": False}, {"every": "week"}, {"every": "day", "by_path": True}]
)
def test_the_command_of_the_error_fetches_what_is_missing(
    stub: StubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: dict[str, Any]
) -> None:
    monkeypatch.chdir(tmp_path)
    store = tmp_path / "my visitors' store.db"
    with stub.client(store=store) as client:
        client.visitor_totals(date_from="2023-01-01", date_to="2023-01-02")
    how = {**JANUARY, "project_id": "demo", **how}
    with pytest.raises(ValueError, match="missing") as caught:
        read_visitors(store, **how)
    said = phrases.sentence(caught.value, lambda *words: phrases.command(*words, "--store", str(store)))
    line = shlex.split(said.split("`")[1])
    assert line[0] == "docplatform"
    assert run_script(MAIN, *line[1:], stub=stub).status == 0
    assert len(read_visitors(store, **how)) > 0


def test_one_missing_day_is_named(client: Client, stub: StubServer, store: Path) -> None:
    client.visitor_trend(**JANUARY)
    alter(store, "DELETE FROM export WHERE date_from = ?", "2024-01-17")
    with pytest.raises(ValueError, match="1 of 31 slices is missing, first 17 January 2024"):
        read_visitors(store, **JANUARY, every="day")


def test_several_projects_have_to_be_told_apart(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with StubServer(visitors=3, projects=("a", "b")) as stub, stub.client(store=store) as client:
        for project in ("a", "b"):
            client.visitors(**JANUARY, project_id=project).collect()
    with pytest.raises(ValueError, match=r'name one with project_id; it has "a", "b"'):
        read_visitors(store, **JANUARY)
    assert read_visitors(store, **JANUARY, project_id="b").project_id == "b"
    monkeypatch.setenv("DOCPLATFORM_PROJECT_ID", "a")
    assert read_visitors(store, **JANUARY).project_id == "a"
    assert read_visitors(store, **JANUARY, project_id="b").project_id == "b"


def test_several_organizations_have_to_be_told_apart(stub: StubServer, store: Path) -> None:
    for name in ("one", "two"):
        with stub.client(store=store, organization=name) as client:
            client.visitors(**JANUARY).collect()
    with pytest.raises(
        ValueError, match=r'several addresses or organizations: name one.*organization="name:two"'
    ):
        read_visitors(store, **JANUARY)
    assert len(read_visitors(store, **JANUARY, organization="two")) == 1_000


@pytest.mark.parametrize(
    ("variable", "value", "rows"),
    [
        ("ORGANIZATION", "two", 2),
        ("API_KEY", "the key", 1),
        ("BASE_URL", "the second address", 2),
        ("ORGANIZATION", "three", None),
        ("BASE_URL", "https://docs.example.com", None),
    ],
)
def test_the_environment_chooses_among_several_owners(
    store: Path,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    value: str,
    rows: int | None,
) -> None:
    """As for the calls that send; an organization or an address that the store does not know chooses nothing."""
    for name in ("ORGANIZATION", "API_KEY", "API_KEY_FILE", "BASE_URL"):
        monkeypatch.delenv(f"DOCPLATFORM_{name}", raising=False)
    port = 0
    for organization, number in ((None, 1), ("two", 2)):
        with StubServer(visitors=number, port=port) as stub:
            url, key = stub.url, stub.api_key
            # At one address, unless that is to choose.
            elsewhere = variable == "BASE_URL" and value != "https://docs.example.com"
            port = 0 if elsewhere else int(url.rpartition(":")[2])
            with stub.client(store=store, organization=organization) as client:
                client.visitors(**JANUARY).collect()
    given = {"the key": key, "the second address": url + "/"}.get(value, value)
    monkeypatch.setenv(f"DOCPLATFORM_{variable}", given)
    if rows is None:
        with pytest.raises(ValueError, match="several addresses"):
            read_visitors(store, **JANUARY)
        return
    assert len(read_visitors(store, **JANUARY)) == rows


def test_what_cannot_be_read_is_an_error(store: Path, stub: StubServer) -> None:
    with pytest.raises(ConfigurationError):
        read_visitors(store, **JANUARY)
    assert not store.exists()
    with stub.client(store=store) as client:
        client.visitor_totals(**JANUARY)
    with pytest.raises(
        ValueError,
        match=r'no rows of visitors yet; fill it with client\.sync\(\.\.\., listing="visitors", every=None\)',
    ):
        read_visitors(store, **JANUARY)
    with pytest.raises(ValueError, match="no rows of visitors of this base_url yet"):
        read_visitors(store, **JANUARY, base_url="https://docs.example.com")
    with pytest.raises(ValueError, match="both ends"):
        read_visitors(store)
    with pytest.raises(ValueError, match="every must be"):
        read_visitors(store, **JANUARY, every="year")  # type: ignore[call-overload]
