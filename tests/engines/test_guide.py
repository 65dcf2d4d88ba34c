"""The guide to engines runs as it is shown."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from docplatform.testing import StubServer
from helpers.lake import guide
from helpers.scripts import run_script


def test_every_snippet_of_the_guide_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first, *others = guide()
    with StubServer() as stub:
        done = run_script(first, stub=stub)
        assert (done.status, done.err) == (0, "")
        sent = len(stub.requests)
        for piece in others:
            if "pyspark" in piece and shutil.which("java") is None:
                continue
            done = run_script(piece, env={"PYSPARK_PYTHON": sys.executable})
            assert done.status == 0, done.err
            assert "/getting-started" in done.out or "date_from" in done.out
        assert len(stub.requests) == sent == 28
    assert "docplatform.spark" in "".join(others)
    assert "docplatform.dask" in "".join(others)
