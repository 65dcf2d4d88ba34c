"""A dataset in a folder, and an S3 server of this machine. No engine has a key of the platform."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from moto.server import ThreadedMotoServer  # type: ignore[import-not-found]
from pyarrow import fs  # type: ignore[import-untyped]

from docplatform import export_dataset
from docplatform.testing import StubServer
from helpers.lake import expected, fill, ordered

PROJECTS = ("docs", "bücher", "007")
ROWS = 300
DAYS = 4


class Filled(NamedTuple):
    """A store, the dataset in a folder, and the rows that each engine must read."""

    store: Path
    dataset: Path
    rows: list[dict[str, Any]]


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    folder = tmp_path_factory.mktemp("engines")
    store, dataset = folder / "visitors.db", folder / "lake"
    with StubServer(visitors=ROWS, projects=PROJECTS) as stub:
        fill(store, stub, PROJECTS)
        rows = ordered(row for project in PROJECTS for row in expected(stub, store, project, DAYS))
        sent = len(stub.requests)
        export_dataset(dataset, store=store)
        yield Filled(store, dataset, rows)
        assert len(stub.requests) == sent


@pytest.fixture(scope="session")
def s3() -> Iterator[Any]:
    """The server has the bucket `bucket`. The environment leads every library to it, as it leads them to Amazon's."""
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    url = "http://{}:{}".format(*server.get_host_and_port())
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {
            "ENDPOINT_URL": url,
            "ACCESS_KEY_ID": "key",
            "SECRET_ACCESS_KEY": "secret",
            "REGION": "us-east-1",
            "DEFAULT_REGION": "us-east-1",
            "ALLOW_HTTP": "true",
            "EC2_METADATA_DISABLED": "true",
        }.items():
            patch.setenv(f"AWS_{name}", value)
        system = fs.S3FileSystem(endpoint_override=url, allow_bucket_creation=True)
        system.create_dir("bucket")
        yield system
    server.stop()


@pytest.fixture(autouse=True, scope="session")
def without_a_key() -> None:
    assert not [name for name in os.environ if name.startswith("DOCPLATFORM_")]
