"""A store that was filled from a stub, without anything with which an engine could reach the stub."""

from __future__ import annotations

import doctest
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from docplatform import export_dataset
from docplatform.testing import StubServer
from helpers.lake import expected, fill, ordered

PROJECTS = ("docs", "blog", "007")
ROWS = 300
DAYS = 4


class Filled(NamedTuple):
    """Where everything is, and what has to come out of it."""

    stub: StubServer
    store: Path
    dataset: Path
    rows: list[dict[str, Any]]


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    folder = tmp_path_factory.mktemp("lake")
    store, dataset = folder / "visitors.db", folder / "visitors"
    with StubServer(visitors=ROWS, projects=PROJECTS) as stub:
        fill(store, stub, PROJECTS)
        rows = ordered(row for project in PROJECTS for row in expected(stub, store, project, DAYS))
        export_dataset(dataset, store=store)
        yield Filled(stub, store, dataset, rows)


def check_example(documented: Any, store: Path, **names: Any) -> None:
    """The example of a docstring prints what it shows. Its store is given whole: an engine's processes have folders of their own."""
    (found,) = doctest.DocTestFinder(recurse=False).find(documented, "example", globs=names)
    assert found.examples
    for example in found.examples:
        example.source = example.source.replace('"visitors.db"', repr(str(store)))
    assert doctest.DocTestRunner().run(found).failed == 0


@pytest.fixture(autouse=True)
def no_request(filled: Filled) -> Iterator[None]:
    """No engine has a key, or asks the service for anything."""
    assert not [name for name in os.environ if name.startswith("DOCPLATFORM_")]
    before = len(filled.stub.requests)
    assert before == len(PROJECTS) * DAYS * 2
    yield
    assert len(filled.stub.requests) == before


@pytest.fixture(params=["store", "dataset"])
def source(request: pytest.FixtureRequest, filled: Filled) -> dict[str, str]:
    """A test that takes this reads once from each."""
    return {request.param: str(getattr(filled, request.param))}


LISTINGS = ("views", "searches", "feedback", "conversations")


@pytest.fixture(scope="session")
def listings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with two weeks of every other listing."""
    store = tmp_path_factory.mktemp("listings") / "listings.db"
    with StubServer(visitors=20) as stub:
        for listing in LISTINGS:
            fill(store, stub, listing=listing, date_to="2024-01-15", every="week")
    return store


@pytest.fixture(autouse=True, scope="session")
def quiet() -> None:
    for name in ("py4j", "distributed"):
        logging.getLogger(name).setLevel(logging.ERROR)
