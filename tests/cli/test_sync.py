"""``docplatform sync``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from docplatform.testing import StubServer
from helpers.cli import Cli

JANUARY = ("--from", "2024-01-01", "--to", "2024-02-01")


@pytest.fixture
def stub() -> Iterator[StubServer]:
    with StubServer(projects=("demo", "other", "-odd"), visitors=3) as stub:
        yield stub


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DOCPLATFORM_STORE", str(tmp_path / "visitors.db"))
    return tmp_path / "visitors.db"


def document(cli: Cli, *arguments: str, status: int = 0) -> dict[str, Any]:
    ended = cli("sync", *arguments, "--json", "-q")
    assert ended.status == status, ended.err
    found: dict[str, Any] = json.loads(ended.out)
    return found


def test_it_fills_the_store_and_says_what_it_did(cli: Cli, store: Path) -> None:
    ended = cli("sync", "demo", "other", *JANUARY)
    assert ended.out == "slices\t62\ncached\t0\nopen\t0\nrequests\t62\nrows\t186\n"
    assert ended.err == "Filling the store\n"
    assert store.is_file()
    before = len(cli.stub.requests)
    assert cli("sync", "other", *JANUARY).out.splitlines()[1] == "cached\t31"
    trend = cli("visitors", "trend", "--project", "other", *JANUARY)
    assert (trend.status, len(cli.stub.requests)) == (0, before)


def test_as_json(cli: Cli, store: Path) -> None:
    found = document(cli, "demo", *JANUARY, "--every", "week", "--totals")
    assert found == {
        "date_from": "2024-01-01",
        "date_to": "2024-02-01",
        "every": "week",
        "by_path": False,
        "complete": True,
        "slices": 5,
        "cached": 0,
        "open": 0,
        "requests": 5,
        "rows": 0,
        "failures": [],
    }


def test_projects_come_from_a_file_or_a_pipe(cli: Cli, store: Path, tmp_path: Path) -> None:
    (tmp_path / "projects.txt").write_text("\ufeffother\n\n  demo \nother\n", encoding="utf-8")
    day = ("--from", "2024-01-01", "--to", "2024-01-02")
    assert document(cli, "-f", str(tmp_path / "projects.txt"), *day)["slices"] == 2
    ended = cli("sync", "--file", "-", *day, "--json", stdin=b"other\n-odd\n")
    assert json.loads(ended.out)["cached"] == 1
    assert "Reading the projects from standard input." in ended.err
    assert cli("sync", *day, "--", "-odd").out.splitlines()[1] == "cached\t1"


def test_what_failed_is_listed_and_the_rest_is_there(cli: Cli, store: Path) -> None:
    day = ("--from", "2024-01-01", "--to", "2024-01-02")
    ended = cli("sync", "demo", "gone", "other", *day)
    assert ended.status == 1
    assert ended.out.splitlines()[0] == "slices\t3"
    assert "some slices could not be bought: gone from 2024-01-01: " in ended.err
    found = document(cli, "demo", "gone", "other", *day, status=1)
    assert (found["complete"], found["cached"]) == (False, 2)
    ((failure),) = found["failures"]
    assert (failure["project_id"], failure["date_from"]) == ("gone", "2024-01-01")
    assert "No such project" in failure["error"]


def test_wrong_usage_is_told_before_anything_is_sent(
    cli: Cli, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = tmp_path / "empty.txt"
    empty.write_text("\n")
    for arguments, says in [
        ((), "--last"),
        (("--from", "2024-01-01"), "--last"),
        (("--last", "3", *JANUARY), "give one or the other"),
        (("--last", "0"), "--last"),
        (("--last", "9999999"), "too far"),
        ((*JANUARY, "-f", str(empty)), "there is no project"),
        ((*JANUARY, "-f", str(tmp_path)), "cannot be read"),
        (("a/b", *JANUARY), "projects"),
        # Which of them was meant?
        (("other", "--project", "demo", *JANUARY), "with --project, or"),
        (("--project", "demo", "-f", str(empty), *JANUARY), "with --project, or"),
    ]:
        ended = cli("sync", *arguments)
        assert (ended.status, ended.out) == (2, ""), arguments
        assert says in ended.err
    monkeypatch.delenv("DOCPLATFORM_PROJECT_ID")
    assert "name a project" in cli("sync", *JANUARY).err
    monkeypatch.delenv("DOCPLATFORM_STORE")
    assert "--store" in cli("sync", "demo", *JANUARY).err
    assert not cli.stub.requests
