"""`VisitorTable.plot()`: what is in the picture, and that it is matplotlib's own."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from itertools import pairwise
from typing import Any

import matplotlib as mpl
import pytest

from docplatform import VisitorTable
from docplatform.testing import StubServer
from support import Face

mpl.use("agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.container import BarContainer

EVIL = "/$\\frac{1}$<script>\u202e\x1b[31m" + "x" * 1_000


@pytest.fixture(autouse=True)
def no_figure_is_left() -> Iterator[None]:
    yield
    plt.close("all")


def table(face: Face, rows: list[dict[str, Any]], **query: Any) -> VisitorTable:
    with StubServer(visitors=rows, totals={"human": 1, "ai": 1, "total": 1}) as stub:
        made: VisitorTable = face.run(face.client(stub).visitors(**query).collect())
        return made


def counted(number: int) -> list[dict[str, Any]]:
    return [{"path": f"/{i}", "human": 10 * i, "ai": 1000 - i, "total": 2 * i} for i in range(number)]


def containers(axes: Axes) -> list[BarContainer]:
    return [found for found in axes.containers if isinstance(found, BarContainer)]


def bars(axes: Axes) -> dict[Any, list[float]]:
    return {found.get_label(): [patch.get_width() for patch in found.patches] for found in containers(axes)}


def labels(axes: Axes) -> list[str]:
    return [label.get_text() for label in axes.get_yticklabels()]


def drawn(axes: Axes) -> bytes:
    file = BytesIO()
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.savefig(file, format="png")
    return file.getvalue()


@pytest.mark.parametrize(("by", "best"), [("total", "/49"), ("human", "/49"), ("ai", "/0")])
def test_the_most_read_pages_the_first_on_top(face: Face, by: Any, best: str) -> None:
    axes = table(face, counted(50), date_from="2026-01-01", date_to="2026-02-01").plot(3, by=by)
    assert isinstance(axes, Axes)
    assert labels(axes)[0] == best
    assert list(bars(axes)) == ["people", "AI agents"]
    at = 49 if best == "/49" else 0
    assert [widths[0] for widths in bars(axes).values()] == [10 * at, 1000 - at]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]
    assert axes.get_title() == "The 3 most read of 50 pages, from 2026-01-01 up to 2026-02-01"
    assert "do not add up" in axes.get_xlabel()
    assert drawn(axes).startswith(b"\x89PNG")


def test_no_bar_covers_another(face: Face) -> None:
    axes = table(face, counted(5)).plot()
    places = sorted((p.get_y(), p.get_y() + p.get_height()) for c in containers(axes) for p in c.patches)
    assert all(before[1] <= after[0] + 1e-9 for before, after in pairwise(places))


def test_few_pages_or_none(face: Face) -> None:
    for number in (0, 1):
        axes = table(face, counted(number)).plot()
        assert len(labels(axes)) == number
        assert drawn(axes)


@pytest.mark.row("J8")
def test_a_path_is_shown_and_no_formula(face: Face) -> None:
    axes = table(face, [{"path": EVIL, "human": 1, "ai": 1, "total": 1}]).plot()
    (label,) = labels(axes)
    assert label.startswith("/$\\frac{1}$<script>")
    assert label.isprintable()
    assert len(label) < 80
    assert not axes.get_yticklabels()[0].get_parse_math()
    assert drawn(axes)


def test_into_axes_of_ones_own(face: Face) -> None:
    figure, (left, right) = plt.subplots(1, 2)
    found = table(face, counted(3))
    assert found.plot(ax=left) is left
    assert found.plot(ax=right, by="ai") is right
    assert plt.get_fignums() == [figure.number]


def test_the_two_differ_in_grey_and_by_their_hatching(face: Face) -> None:
    axes = table(face, counted(3)).plot()
    people, agents = (container.patches[0] for container in containers(axes))
    grey = [
        sum(w * c for w, c in zip((0.299, 0.587, 0.114), to_rgb(p.get_facecolor()), strict=True))
        for p in (people, agents)
    ]
    assert grey[1] - grey[0] > 0.25
    assert agents.get_hatch() == "////" != people.get_hatch()


def test_wrong_arguments(face: Face) -> None:
    found = table(face, counted(3))
    with pytest.raises(ValueError, match="n: must be 1 or more"):
        found.plot(0)
    with pytest.raises(ValueError, match="by: must be one of human, ai, total"):
        found.plot(by="path")  # type: ignore[arg-type]
    assert plt.get_fignums() == []


def test_a_missing_library_is_named(face: Face, monkeypatch: pytest.MonkeyPatch) -> None:
    found = table(face, counted(3))
    monkeypatch.setattr("docplatform._plots.find_spec", lambda _: None)
    with pytest.raises(ImportError, match=r'pip install "docplatform\[plot\]"') as caught:
        found.plot()
    assert caught.value.name == "matplotlib"
