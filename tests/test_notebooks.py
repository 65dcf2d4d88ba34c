"""What notebooks show of an object, and the example notebooks, executed as a reader would."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from docplatform import Client
from docplatform.testing import StubServer
from support import Face

EXAMPLES = Path(__file__).parent.parent / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
EVIL = "<script>alert('1')</script>\"&\u202e\x1b[31m"


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]  # as is all of nbformat


def outputs(notebook: Any) -> Iterator[Any]:
    for cell in notebook.cells:
        yield from cell.get("outputs", ())


def executed(path: Path, tmp_path: Path) -> Any:
    """Runs every cell in a kernel of its own; a cell that raises fails the test."""
    notebook = read(path)
    NotebookClient(notebook, timeout=100, resources={"metadata": {"path": str(tmp_path)}}).execute()
    return notebook


@pytest.mark.row("H10")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_is_stored_without_outputs(path: Path) -> None:
    notebook = read(path)
    nbformat.validate(notebook)
    assert list(outputs(notebook)) == []
    assert all(cell.get("execution_count") is None for cell in notebook.cells)


def test_fix_the_docs(tmp_path: Path) -> None:
    notebook = executed(EXAMPLES / "fix_the_docs.ipynb", tmp_path)
    shown = list(outputs(notebook))
    text = "".join(output.get("text", "") for output in shown)
    html = "".join(output.get("data", {}).get("text/html", "") for output in shown)
    assert [output for output in shown if output.get("name") == "stderr"] == []
    assert "active\nactive\ncompleted\n" in text
    assert 'href="https://github.com/example/docs/pull/1"' in html
    assert "still active" in text
    assert "completed completed completed" in text


def test_who_reads_our_docs(tmp_path: Path) -> None:
    notebook = executed(EXAMPLES / "who_reads_our_docs.ipynb", tmp_path)
    shown = list(outputs(notebook))
    text = "".join(output.get("text", "") for output in shown)
    html = "".join(output.get("data", {}).get("text/html", "") for output in shown)
    assert [output for output in shown if output.get("name") == "stderr"] == []
    assert sum("image/png" in output.get("data", {}) for output in shown) == 2
    assert "Visitors: first 10 of 1,000 pages; from 2026-01-01 up to 2026-02-01" in html
    assert "people" in text
    assert "the whole site: " in text
    # The listings were read once each: eight pages.
    assert "requests=8, retries=0" in shown[-1]["data"]["text/plain"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["january.csv", "january.parquet"]


def test_a_client(face: Face, stub: StubServer) -> None:
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


def test_a_listing_is_shown_without_asking_for_anything(face: Face, stub: StubServer) -> None:
    client = face.client(stub)
    visitors = client.visitors(date_from="2026-01-01")
    rows = client.paginate("/v1/analytics/{project_id}/visitors", items="visitors", params={"q": EVIL})
    for listing in (visitors, rows):
        html = listing._repr_html_()
        assert type(listing).__name__ in html
        assert "<td>0</td>" in html
        assert "<script" not in html
        assert html.isprintable()
    assert "<th>dateFrom</th><td>2026-01-01</td>" in visitors._repr_html_()
    assert stub.requests == []
    face.next(visitors)
    assert "<td>1</td>" in visitors._repr_html_()


@pytest.mark.row("J7")
def test_every_value_of_a_client_is_escaped() -> None:
    with Client("k" * 12, base_url="https://example.com", project_id="<b>'\"&\u202e") as client:
        html = client._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt;&#x27;&quot;&amp;" in html
    assert "kkk" not in html
    assert html.isprintable()
