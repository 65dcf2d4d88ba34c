"""The example notebooks run, and what a notebook shows of an object is safe."""

from __future__ import annotations

import re
import runpy
import tempfile
from collections.abc import Iterator
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from docplatform import Client, Plan, PlanSlice, SyncReport, Totals
from docplatform.testing import StubServer
from helpers import Face

EXAMPLES = Path(__file__).parents[2] / "examples"
steady = runpy.run_path(str(EXAMPLES.parent / "docs" / "draw.py"))["steady"]
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]  # as is all of nbformat


def outputs(notebook: Any) -> Iterator[Any]:
    for cell in notebook.cells:
        yield from cell.get("outputs", ())


def executed(path: Path, tmp_path: Path) -> tuple[list[Any], str, str]:
    """Runs every cell in a kernel of its own: its outputs, and their text and HTML.

    A cell that raises, writes a file beside the notebook or writes to stderr fails the test.

    What it prints is what is stored; pictures differ from machine to machine.
    """
    notebook = read(path)
    NotebookClient(notebook, timeout=100, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert list(tmp_path.iterdir()) == []
    made, stored = ([_words(output) for output in outputs(one)] for one in (steady(notebook), read(path)))
    assert made == stored, "the stored outputs are stale: run make pictures"
    shown = list(outputs(notebook))
    assert [output for output in shown if output.get("name") == "stderr"] == []
    html = (output.get("data", {}).get("text/html", "") for output in shown)
    return shown, "".join(output.get("text", "") for output in shown), "".join(html)


def _words(output: Any) -> Any:
    return output.get("text") or {kind: data for kind, data in output["data"].items() if kind != "image/png"}


@pytest.mark.row("H10")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_the_outputs_that_a_notebook_has_stored_hold_no_key_and_no_path(path: Path) -> None:
    notebook = read(path)
    nbformat.validate(notebook)
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code")
    text = path.read_text(encoding="utf-8")
    assert StubServer().api_key not in text
    assert str(Path.home()) not in text
    assert tempfile.gettempdir() not in text


def test_the_notebook_fix_the_docs_runs(tmp_path: Path) -> None:
    _, text, html = executed(EXAMPLES / "fix_the_docs.ipynb", tmp_path)
    assert "What to fix first" in html
    assert '> comment (12 times): "Step 3 fails with a proxy"' in text
    assert all(f"https://github.com/example/docs/pull/{number}" in html for number in (1, 2, 3))
    assert "still active" in text
    assert "thumbs down: 39 of 52 in October, 0 of " in text


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_runs_with_an_account_as_it_says(
    path: Path, tmp_path: Path, stub: StubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook = read(path)
    client = re.search(
        r"write `(client = .*)` into the first\ncell in place of its two lines", notebook.cells[0].source
    )
    assert client is not None
    code, lines = notebook.cells[1], notebook.cells[1].source.splitlines()
    lines = [client[1] if line.startswith("client =") else line for line in lines]
    code.source = "\n".join(line for line in lines if not line.startswith("stub ="))
    left_out = [
        at + 1 for at, cell in enumerate(notebook.cells) if "with your account." in cell.source and at
    ]
    assert len(left_out) == (2 if path.name == "fix_the_docs.ipynb" else 1)
    notebook.cells = [cell for at, cell in enumerate(notebook.cells) if at not in left_out]
    for name in ("base_url", "api_key", "project_id"):
        monkeypatch.setenv(f"DOCPLATFORM_{name.upper()}", getattr(stub, name.replace("base_", "")))
    NotebookClient(notebook, timeout=100, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert [file.name for file in tmp_path.iterdir()] == ["docs.db"]


def test_the_notebook_who_reads_our_docs_runs(tmp_path: Path) -> None:
    shown, text, html = executed(EXAMPLES / "who_reads_our_docs.ipynb", tmp_path)
    assert sum("image/png" in output.get("data", {}) for output in shown) == 4
    assert "first 10 of 1,000 pages" in html
    assert "people" in text
    assert "October 2026 (31 days) and September 2026 (30 days). " in html
    # Stored ranges cost nothing.
    assert "0" in [output.get("data", {}).get("text/plain") for output in shown]
    assert "Plan: 9 requests" in html
    assert "Visitors by week" in html
    assert "Totals of the whole site" in html
    # The listings were read once each: eight pages. A week is a request, and so are totals.
    assert "requests=18, retries=0" in shown[-1]["data"]["text/plain"]
    assert "october.csv october.parquet" in text


@pytest.mark.parametrize("call", ["stub.client().visitors()", "await stub.async_client().visitors()"])
def test_progress_in_a_notebook_is_a_widget(call: str, tmp_path: Path) -> None:
    """In a kernel, whose loop is running, tqdm is its widget; nothing of it is text."""
    v4 = nbformat.v4
    cells = [
        "from docplatform.testing import StubServer\nstub = StubServer(visitors=600).start()",
        f"table = {call.replace('visitors()', 'visitors().collect(progress=True)')}\nlen(table)",
    ]
    notebook = v4.new_notebook(cells=[v4.new_code_cell(cell) for cell in cells])  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=100, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = list(outputs(notebook))
    assert [output["output_type"] for output in shown] == ["display_data", "execute_result"]
    assert "application/vnd.jupyter.widget-view+json" in shown[0]["data"]
    assert shown[1]["data"]["text/plain"] == "600"
    (widgets,) = notebook.metadata.widgets.values()
    models = [
        model["state"] for model in widgets["state"].values() if "HTMLModel" in str(model["model_name"])
    ]
    assert any("600" in state["value"] for state in models)
    assert any("rows" in state["value"] for state in models)


def test_progress_in_a_notebook_without_widgets_is_a_line_and_no_warning(tmp_path: Path) -> None:
    """ipywidgets is not among what the extras bring."""
    v4 = nbformat.v4
    cell = (
        "import sys\nsys.modules['ipywidgets'] = None\nfrom docplatform.testing import StubServer\n"
        "with StubServer(visitors=600) as stub, stub.client() as client:\n    client.visitors().collect(progress=True)"
    )
    notebook = v4.new_notebook(cells=[v4.new_code_cell(cell)])  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=100, resources={"metadata": {"path": str(tmp_path)}}).execute()
    text = "".join(output.get("text", "") for output in outputs(notebook))
    assert "600 rows" in text
    assert "Warning" not in text


def test_plans_totals_and_reports_are_tables() -> None:
    days = [date(2026, 1, day) for day in range(1, 15)]
    slices = tuple(PlanSlice(*pair, 1_000, 0, False) for pair in pairwise(days))
    html = Plan(12_000, 3, False, 2.0, slices)._repr_html_()
    assert (
        "Plan: size unknown: at least 12,000 requests, 3 cached, at least 2 hours to wait for the budget; "
        "first 10 of 13 slices" in html
    )
    assert html.count("<tr>") == 11
    assert re.findall("<th [^>]*>(.*?)</th>", html) == [
        "date_from",
        "date_to",
        "requests",
        "cached",
        "exact",
        "estimated",
    ]
    assert "2026-01-02" in html
    assert "2026-01-12" not in html
    assert Plan(1, 0, True, None, slices[:1])._repr_html_().count("hours") == 0
    assert str(Plan(365, 1, True, None, (), totals=True)) == "365 requests for totals, 1 cached"
    assert "Totals of the whole site" in Totals(1, 2, 3_000)._repr_html_()
    assert ">3,000<" in Totals(1, 2, 3_000)._repr_html_()
    assert ">4,000<" in SyncReport(1, 2, 3, 4_000, 5)._repr_html_()


def test_a_client_shows_its_counts_and_no_key(face: Face, stub: StubServer) -> None:
    client = face.client(stub)
    html = client._repr_html_()
    assert type(client).__name__ in html
    assert stub.url in html
    assert stub.api_key not in html
    assert "<td>0 (0 of them retries)</td>" in html
    face.run(client.visitor_totals())
    assert "<td>1 (0 of them retries)</td>" in client._repr_html_()
    face.run(client.close())
    assert "<td>closed</td>" in client._repr_html_()


@pytest.mark.row("J7")
def test_a_client_is_shown_escaped() -> None:
    with Client("k" * 12, base_url="https://example.com", project_id="<b>'\"&\u202e") as client:
        html = client._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt;&#x27;&quot;&amp;" in html
    assert "kkk" not in html
    assert html.isprintable()
