"""Missing libraries are named before a request is sent; progress goes to stderr alone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from docplatform import VisitorTable
from docplatform._hooks import progress
from docplatform.testing import StubServer
from helpers import Face
from helpers.exports import FILES, ROWS, export, read
from helpers.scripts import run_script

MISSING = {
    "to_pandas": (["pandas"], 'to_pandas() needs pandas: pip install "docplatform[pandas]"'),
    "to_polars": (["polars"], 'to_polars() needs polars: pip install "docplatform[polars]"'),
    "to_arrow": (["pyarrow"], 'to_arrow() needs pyarrow: pip install "docplatform[arrow]"'),
    "to_parquet": (
        ["pyarrow", "polars", "duckdb"],
        'to_parquet() needs pyarrow or polars or duckdb: pip install "docplatform[arrow]"',
    ),
    "to_excel": (["xlsxwriter"], 'to_excel() needs xlsxwriter: pip install "docplatform[excel]"'),
}


@pytest.mark.parametrize(("way", "modules", "text"), [(way, *rest) for way, rest in MISSING.items()])
def test_a_missing_library_is_named_before_anything_is_sent(
    face: Face,
    given: StubServer,
    way: str,
    modules: list[str],
    text: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client = face.client(given)
    table: VisitorTable = face.run(client.visitors(max_rows=3).collect())
    asked = len(given.requests)
    visitors = client.visitors()
    target = [tmp_path / "file"] if way in FILES else []
    with monkeypatch.context() as patch:
        for module in modules:
            patch.setitem(sys.modules, module, None)
        for call in (getattr(visitors, way), getattr(table, way)):
            # At the call, also where it would have to be awaited.
            with pytest.raises(ImportError) as caught:
                call(*target)
            assert (str(caught.value), caught.value.name) == (text, modules[0])
    assert len(given.requests) == asked
    assert list(tmp_path.iterdir()) == []
    assert export(face, visitors, way, tmp_path / "file") == ROWS


@pytest.mark.parametrize("left", ["pyarrow", "polars", "duckdb"])
def test_any_one_library_writes_parquet(
    face: Face, given: StubServer, left: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    targets = [tmp_path / "quoted '\" file.parquet", tmp_path / "empty"]
    with monkeypatch.context() as patch:
        for module in {"pyarrow", "pyarrow.parquet", "polars", "duckdb"} - {left, f"{left}.parquet"}:
            patch.setitem(sys.modules, module, None)
        client = face.client(given)
        assert face.run(client.visitors().to_parquet(targets[0])) == 600
        assert face.run(client.visitors(max_rows=0).to_parquet(targets[1])) == 0
    assert [read(target, "to_parquet") for target in targets] == [ROWS, []]
    assert len(given.requests) == 3


def test_no_library_is_imported_before_it_is_needed(given: StubServer, tmp_path: Path) -> None:
    script = """
import sys
import docplatform
client = docplatform.Client()
client.visitors().to_csv(sys.argv[1])
client.visitors().to_jsonl(sys.argv[1])
table = client.visitors().collect()
table.to_dicts(), table._repr_html_(), table.__arrow_c_stream__()
print(sorted({"pandas", "numpy", "polars", "pyarrow", "duckdb", "tqdm", "asyncio"} & set(sys.modules)))
"""
    ended = run_script(script, str(tmp_path / "file"), stub=given)
    assert (ended.status, ended.out, ended.err) == (0, "[]\n", "")


# -- progress ----------------------------------------------------------------------------------------


@pytest.mark.row("J11")
@pytest.mark.parametrize("way", ["collect", "to_pandas", "to_csv"])
def test_progress_is_shown_on_stderr_alone(
    face: Face, given: StubServer, way: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    target = [tmp_path / "file"] if way in FILES else []
    for shown in (None, False, True):
        visitors = face.client(given).visitors(max_rows=550)
        face.run(face.call(getattr(visitors, way), *target, progress=shown))
        out, err = capfd.readouterr()
        assert out == ""
        # Its bar is that of every listing.
        assert (" rows" in err, "visitors" in err) == (bool(shown), False)
        if shown:
            assert "550/550" in err.replace(",", "")


@pytest.mark.row("J11")
def test_without_tqdm_progress_is_a_line_now_and_then(
    face: Face, given: StubServer, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("tqdm", "tqdm.auto"):
        monkeypatch.setitem(sys.modules, name, None)
    assert len(face.run(face.client(given).visitors().collect(progress=True))) == 600
    assert capfd.readouterr() == ("", ""), "nothing of what is over at once"
    monkeypatch.setattr("docplatform._hooks.progress._EVERY", 0.0)
    assert len(face.run(face.client(given).visitors(max_rows=550).collect(progress=True))) == 550
    out, err = capfd.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert lines[-1] == "docplatform: 550 rows of at most 550"
    assert all(line.startswith("docplatform: ") for line in lines)


def test_the_last_line_of_progress_has_the_whole_number(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "_EVERY", 0.0)
    lines = progress._Lines(None, "rows")
    monkeypatch.setattr(progress, "_EVERY", 60.0)
    for done in (250, 500, 750):
        lines.update(done)
    del lines
    assert capfd.readouterr().err == "docplatform: 250 rows\ndocplatform: 750 rows\n"


def test_progress_is_a_bool(face: Face, given: StubServer) -> None:
    wrong: Any
    for wrong in ("yes", 1, sys.stderr):
        with pytest.raises(TypeError, match="progress"):
            face.client(given).visitors().collect(wrong)
    assert given.peak_connections == 0
