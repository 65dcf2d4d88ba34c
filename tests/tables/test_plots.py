"""`VisitorTable.plot()` and `TrendTable.plot()`: what is in the chart, and that it can be read."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest

from docplatform import Client, Comparison, VisitorTable, read_visitors
from docplatform.testing import StubServer
from helpers.exports import collect
from helpers.lake import alter

mpl.use("agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.container import BarContainer

EVIL = "/$\\frac{1}$<script>\u202e\x1b[31m" + "x" * 1_000


@pytest.fixture(autouse=True)
def no_figure_is_left() -> Iterator[None]:
    plt.close("all")
    yield
    plt.close("all")


@pytest.fixture
def client(stub: StubServer) -> Iterator[Client]:
    """Tables are the same from either client."""
    with stub.client() as client:
        yield client


def counted(number: int) -> list[dict[str, Any]]:
    return [{"path": f"/{i}", "human": 10 * i, "ai": 1000 - i, "total": 2 * i} for i in range(number)]


def containers(axes: Axes) -> list[BarContainer]:
    return [found for found in axes.containers if isinstance(found, BarContainer)]


def bars(axes: Axes) -> dict[Any, list[float]]:
    return {found.get_label(): [patch.get_width() for patch in found.patches] for found in containers(axes)}


def labels(axes: Axes) -> list[str]:
    return [label.get_text() for label in axes.get_yticklabels()]


def shown(axes: Axes, name: str) -> list[str]:
    """The numbers at an axis, within its limits."""
    axis, limits = (axes.xaxis, axes.get_xlim()) if name == "x" else (axes.yaxis, axes.get_ylim())
    return [
        label.get_text()
        for label, place in zip(axis.get_ticklabels(), axis.get_ticklocs(), strict=True)
        if min(limits) <= place <= max(limits)
    ]


def grey(color: Any) -> float:
    """How light it is in print."""
    return sum(weight * part for weight, part in zip((0.299, 0.587, 0.114), to_rgb(color), strict=True))


def drawn(axes: Axes) -> bytes:
    file = BytesIO()
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.savefig(file, format="png")
    return file.getvalue()


@pytest.mark.parametrize(
    ("by", "best", "readers"),
    [("total", "/49", "readers"), ("human", "/49", "people"), ("ai", "/0", "AI agents")],
)
def test_the_most_read_pages_are_on_top(by: Any, best: str, readers: str) -> None:
    axes = collect(counted(50), date_from="2026-01-01", date_to="2026-02-01").plot(3, by=by)
    assert isinstance(axes, Axes)
    assert labels(axes)[0] == best
    assert list(bars(axes)) == ["people", "AI agents"]
    at = 49 if best == "/49" else 0
    assert [widths[0] for widths in bars(axes).values()] == [10 * at, 1000 - at]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]
    assert axes.get_title() == f"These 3 of 50 pages had the most {readers}, January 2026"
    assert collect(counted(50)).plot(1, by=by).get_title() == f"This one of 50 pages had the most {readers}"
    assert "do not add up" in axes.get_xlabel()
    assert drawn(axes).startswith(b"\x89PNG")
    with pytest.raises(TypeError, match="by must be a str, not int"):
        collect(counted(5)).plot(by=1)  # type: ignore[arg-type]


def test_no_bar_covers_another() -> None:
    axes = collect(counted(5)).plot()
    places = sorted((p.get_y(), p.get_y() + p.get_height()) for c in containers(axes) for p in c.patches)
    assert all(before[1] <= after[0] + 1e-9 for before, after in pairwise(places))


def test_other_scripts_use_a_font_that_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("docplatform._hooks.plots.FONTS", ("STIXGeneral", "No Such Font"))
    axes = collect([{"path": path, "human": 1, "ai": 1, "total": 1} for path in ("/日本語", "/صفحة")]).plot()
    families = {tuple(label.get_fontfamily()) for label in axes.get_yticklabels()}
    assert families == {("sans-serif", "STIXGeneral")}
    axes = collect(counted(2)).plot()
    assert {tuple(label.get_fontfamily()) for label in axes.get_yticklabels()} == {("sans-serif",)}


def test_the_key_is_below_the_axis_and_its_caption(client: Client) -> None:
    axes = collect(counted(15)).plot(15)
    trend = client.visitor_trend(date_from="2026-01-01", date_to="2026-01-20", every="week").plot()
    for one in (axes, trend):
        for title, below in (
            (one.get_title(), one.get_xlabel()),
            (
                "A title of the user's own, which is as long as the whole picture is wide, or more",
                "and\na caption",
            ),
            ("A title\nof three\nlines", ""),
        ):
            one.set_title(title)
            one.set_xlabel(below)
            assert drawn(one)
            legend = one.get_legend()
            assert legend is not None
            key, axis, caption = legend.get_window_extent(), one.xaxis.get_tightbbox(), one.xaxis.label
            assert axis is not None
            assert one.figure.bbox.y0 <= key.y0 < key.y1 < axis.y0
            assert not key.overlaps(caption.get_window_extent())
            assert one.title.get_window_extent().y0 >= one.get_window_extent().y1


def test_no_more_pages_are_drawn_than_can_be_read() -> None:
    found = collect(counted(400))
    axes = found.plot(400)
    assert len(labels(axes)) == 40
    assert axes.get_title() == "These 40 of 400 pages had the most readers"
    figure, small = plt.subplots(figsize=(4, 3))
    assert len(labels(found.plot(400, ax=small))) < 12
    for one in (axes, small):
        assert drawn(one)
        boxes = [label.get_window_extent() for label in one.get_yticklabels()]
        assert all(lower.y1 <= upper.y0 + 1 for upper, lower in pairwise(boxes))
    assert plt.fignum_exists(figure.number)


@pytest.mark.parametrize("compared", [False, True])
def test_two_charts_beside_each_other_do_not_write_on_each_other(compared: bool) -> None:
    long = [
        {"path": f"/{'x' * 60}/{at}/the-end", "human": 10, "ai": 90_000, "total": 90_000 + at}
        for at in range(9)
    ]
    found: VisitorTable | Comparison = collect(long, date_from="2026-01-01", date_to="2026-02-01")
    if compared:
        with StubServer(lambda start, _: long if start.month == 1 else []) as stub, stub.client() as client:
            found = client.compare_visitors("2026-01")
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.5), layout="constrained")
    for axes in (left, right):
        assert found.plot(ax=axes) is axes
    assert drawn(left)
    halves = [axes.get_tightbbox() for axes in (left, right)]
    assert halves[0] is not None
    assert halves[1] is not None
    assert halves[0].x1 <= halves[1].x0
    assert halves[1].x1 <= figure.bbox.x1
    assert halves[0].y1 <= figure.bbox.y1
    assert all(label.endswith("the-end") and "…" in label for label in labels(left))
    # The bars keep the most of it.
    assert left.bbox.width > 0.55 * figure.bbox.width / 2
    for axes in (left, right):
        numbers = [label.get_window_extent() for label in axes.get_xticklabels()]
        assert all(before.x1 < after.x0 for before, after in pairwise(numbers))


def test_large_letters_stay_within_the_picture(client: Client) -> None:
    weeks = client.visitor_trend("2026", every="week")
    with plt.rc_context({"font.size": 16}):
        for found in (client.visitors("2026-01").collect(), weeks, client.compare_visitors("2026-01")):
            axes = found.plot()
            assert drawn(axes)
            for words in (axes.title, axes.xaxis.label):
                box = words.get_window_extent()
                assert axes.figure.bbox.x0 <= box.x0 <= box.x1 <= axes.figure.bbox.x1
            below = [label.get_window_extent() for label in axes.get_xticklabels() if label.get_text()]
            assert all(before.x1 < after.x0 for before, after in pairwise(below))


# -- trends ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "end", "every", "slices"),
    [
        ("2024-01-01", "2024-02-01", None, 1),
        ("2024-01-01", "2024-01-08", "day", 7),
        ("2024-01-01", "2025-02-04", "day", 400),
        # The first week has one day.
        ("2026-08-30", "2026-11-24", "week", 14),
    ],
)
def test_the_dates_of_a_trend_do_not_overlap(
    client: Client, start: str, end: str, every: Any, slices: int
) -> None:
    found = client.visitor_trend(date_from=start, date_to=end, every=every)
    assert len(found) == slices
    axes = found.plot()
    _, small = plt.subplots(figsize=(3, 3))
    for one in (axes, found.plot(ax=small)):
        assert drawn(one)
        named = [label for label in one.get_xticklabels() if label.get_text()]
        assert named[0].get_text() == start
        boxes = [label.get_window_extent() for label in named]
        assert all(before.x1 < after.x0 for before, after in pairwise(boxes))
    assert len(axes.get_xticks()) >= min(slices, 5)


def test_slices_that_are_cut_are_hollow_and_off_the_line(client: Client) -> None:
    weeks = client.visitor_trend(date_from="2026-01-01", date_to="2026-01-20", every="week")
    axes: Any = weeks.plot()
    people, agents = axes.collections
    assert [tuple(place) for place in people.get_offsets()] == [
        ((weeks[at]["date_from"] - date(1970, 1, 1)).days, weeks[at]["human"]) for at in (0, 3)
    ]
    assert len(agents.get_offsets()) == 2
    assert [list(line.get_ydata()) for line in axes.get_lines()] == [
        [weeks[at][kind] for at in (1, 2)] for kind in ("human", "ai")
    ]
    assert axes.get_xlabel() == "Hollow points are weeks with fewer than seven days in the range."
    whole = client.visitor_trend(date_from="2026-01-05", date_to="2026-01-19", every="week").plot()
    assert list(whole.collections) == []
    assert whole.get_xlabel() == ""


def test_a_slice_that_was_not_over_is_hollow_and_off_the_line(stub: StubServer, store: Path) -> None:
    months: dict[str, Any] = {"date_from": "2025-12-01", "every": "month"}
    months["date_to"] = datetime.now(UTC).date() + timedelta(400)
    with stub.client(store=store) as client:
        now = client.visitor_trend(**months)
        client.visitor_trend("2024-01 to 2024-03", every="month")
    # A month that was read in its middle is still half a month when it is drawn later.
    middle = datetime(2024, 2, 15, tzinfo=UTC).timestamp() * 1_000
    alter(store, f"UPDATE export SET begun = {middle:.0f} WHERE date_from = '2024-02-01'")
    then = read_visitors(store, "2024-01 to 2024-03", every="month")
    for found, at in (
        (now, len(now) - 1),
        (pickle.loads(pickle.dumps(now)), len(now) - 1),
        (read_visitors(store, **months), len(now) - 1),
        (then, 1),
    ):
        axes: Any = found.plot()
        assert [[count for _, count in one.get_offsets()] for one in axes.collections] == [
            [found[at][kind]] for kind in ("human", "ai")
        ]
        whole = [row["human"] for row in found if row != found[at]]
        assert list(axes.get_lines()[0].get_ydata()) == whole
        said = "Hollow points are months that were not over when they were read."
        assert axes.get_xlabel().replace("\n", " ").startswith(said)


TREND_TITLES: list[tuple[list[tuple[int, int]], str, str]] = [
    (
        [(1_000, 500), (700, 600), (1_200, 900)],
        "month",
        "People rose from 1,000 to 1,200, and AI agents rose from 500 to 900",
    ),
    (
        [(1_000, 500), (800, 350)],
        "month",
        "People fell from 1,000 to 800, and AI agents fell from 500 to 350",
    ),
    # The second month has three days fewer.
    (
        [(31_000, 15_500), (28_000, 14_000)],
        "month",
        "People hardly changed, from 31,000 to 28,000, and AI agents hardly changed, from 15,500 to 14,000",
    ),
    # Chance alone may take a tenth of so few.
    (
        [(100, 50), (90, 45)],
        "week",
        "People hardly changed, from 100 to 90, and AI agents hardly changed, from 50 to 45",
    ),
    (
        [(1_000, 500), (1_005, 504)],
        "week",
        "People hardly changed, from 1,000 to 1,005, and AI agents hardly changed, from 500 to 504",
    ),
    ([(100, 50), (100, 50)], "week", "People stayed at 100, and AI agents stayed at 50"),
    (
        [(1_000, 500), (700, 900)],
        "month",
        "People fell from 1,000 to 700, and AI agents rose from 500 to 900",
    ),
    (
        [(1_000, 500), (1_010, 900)],
        "month",
        "People hardly changed, from 1,000 to 1,010, and AI agents rose from 500 to 900",
    ),
    ([(100, 50)], "month", "People were 100, and AI agents were 50"),
    # The last day may be a Sunday.
    (
        [(100, 50), (300, 90), (40, 10)],
        "day",
        "People were between 40 and 300 a day, and AI agents were between 10 and 90 a day",
    ),
]


@pytest.mark.parametrize(("counts", "every", "said"), TREND_TITLES)
def test_the_title_of_a_trend_is_a_sentence(counts: list[tuple[int, int]], every: Any, said: str) -> None:
    given = {
        "month": "2026-01 to 2026-03",
        "week": "2026-W02 to 2026-W03",
        "day": "2026-01-01 to 2026-01-03",
    }[every]
    left = iter(counts)

    def rows(*_: object) -> list[dict[str, Any]]:
        human, ai = next(left)
        return [{"path": "/", "human": human, "ai": ai, "total": human + ai}]

    with StubServer(rows) as stub, stub.client() as client:
        whole = client.plan_visitors(given, every=every).slices[: len(counts)]
        ends: dict[str, Any] = {"date_from": whole[0].date_from, "date_to": whole[-1].date_to, "every": every}
        title = client.visitor_trend(**ends).plot().get_title().replace("\n", " ")
    assert title.startswith(f"{said} By {every}, ")
    left = iter(counts)
    with StubServer(views=rows) as stub, stub.client() as client:
        title = client.view_trend(**ends).plot().get_title().replace("\n", " ")
    views = (
        said.replace("Readers", "Views")
        .replace("People", "Views by people")
        .replace("AI agents", "views by AI agents")
    )
    assert title.startswith(f"{views} By {every}, ")


def test_the_axis_of_months_names_them(client: Client) -> None:
    axes = client.visitor_trend("2025-11 to 2026-01", every="month").plot()
    assert drawn(axes)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["Nov 2025", "Dec 2025", "Jan 2026"]


def test_lines_and_bars_differ_without_colours(client: Client) -> None:
    for days in ("2026-01-08", "2027-02-05"):
        found = client.visitor_trend(date_from="2026-01-01", date_to=days)
        people, agents = found.plot().get_lines()
        assert (people.get_linestyle(), agents.get_linestyle()) == ("-", "--")
        assert (people.get_marker() == agents.get_marker()) == (len(found) > 100)
        assert abs(grey(people.get_color()) - grey(agents.get_color())) > 0.25
    bars_of = collect(counted(3)).plot()
    people_bar, agents_bar = (container.patches[0] for container in containers(bars_of))
    assert grey(agents_bar.get_facecolor()) - grey(people_bar.get_facecolor()) > 0.25
    assert agents_bar.get_hatch() == "////" != people_bar.get_hatch()


def test_a_chart_without_visitors_has_an_axis_from_0_to_1() -> None:
    with StubServer([]) as stub, stub.client() as client:
        axes = client.visitor_trend(date_from="2026-01-01", date_to="2026-01-08").plot()
    assert drawn(axes)
    assert shown(axes, "y") == ["0", "1"]
    assert axes.get_title() == "People stayed at 0, and AI agents stayed at 0\nBy day, 1 to 7 January 2026"
    axes = collect([{"path": "/", "human": 0, "ai": 0, "total": 0}]).plot()
    assert drawn(axes)
    assert shown(axes, "x") == ["0", "1"]


@pytest.mark.row("J8")
def test_a_path_is_no_formula_in_a_chart() -> None:
    axes = collect([{"path": EVIL, "human": 1, "ai": 1, "total": 1}]).plot()
    (label,) = labels(axes)
    assert label.startswith("/$\\frac{1}$<s")
    # It is cut in the middle.
    assert "…" in label[:-1]
    assert label.isprintable()
    assert len(label) <= 40
    assert not axes.get_yticklabels()[0].get_parse_math()
    assert drawn(axes)


def test_wrong_plot_arguments_are_value_errors(client: Client) -> None:
    found = collect(counted(3))
    with pytest.raises(ValueError, match="n: must be 1 or more"):
        found.plot(0)
    with pytest.raises(ValueError, match="by: must be one of human, ai, total"):
        found.plot(by="path")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="by_path=False"):
        client.visitor_trend("2024-01", every=None, by_path=True).plot()
    assert plt.get_fignums() == []


def test_missing_matplotlib_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = collect(counted(3))
    monkeypatch.setattr("docplatform._hooks.plots.find_spec", lambda _: None)
    with pytest.raises(ImportError, match=r'pip install "docplatform\[plot\]"') as caught:
        found.plot()
    assert caught.value.name == "matplotlib"
