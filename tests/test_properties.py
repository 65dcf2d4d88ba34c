"""Any date, id, prompt, row and cut, through the wheel. The same cases in every run: what fails can be looked at again."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from docplatform import DataWarning
from docplatform.testing import StubServer
from support import Face
from support.pages import page, rows, serve

quick = settings(
    derandomize=True,
    max_examples=60,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

OFFSETS = st.timedeltas(timedelta(hours=-23, minutes=-59), timedelta(hours=23, minutes=59)).map(timezone)
MOMENTS = st.dates() | st.datetimes() | st.datetimes(timezones=st.just(UTC) | OFFSETS)
COUNTS = st.integers(0, 2**63 - 1)
LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=6)
ANY_TEXT = st.text(st.characters())
"""With lone surrogates."""


@pytest.fixture(scope="module")
def silent() -> Iterator[StubServer]:
    """One stub for all examples of all tests: an example needs no fresh one."""
    with StubServer() as stub:
        yield stub


@pytest.fixture
def client(face: Face, silent: StubServer) -> Any:
    return face.client(silent)


def queried(visitors: Any) -> dict[str, str]:
    return dict(json.loads(visitors.checkpoint)["listing"]["query"])


@quick
@given(moment=MOMENTS)
@example(moment=datetime(1900, 1, 1, tzinfo=timezone(timedelta(minutes=9, seconds=21))))
def test_a_date_goes_on_the_wire_as_python_writes_it(client: Any, moment: date) -> None:
    midnight = moment.isoformat().endswith("T00:00:00")
    wire = queried(client.visitors(date_from=moment))["dateFrom"]
    assert wire == (moment.isoformat()[:10] if midnight else moment.isoformat())
    assert queried(client.visitors(date_from=moment.isoformat()))["dateFrom"] == wire


@pytest.mark.row("E12")
@quick
@given(a=st.dates() | st.datetimes(), b=st.dates() | st.datetimes())
def test_an_empty_range_is_refused(client: Any, a: date, b: date) -> None:
    def begin(day: date) -> datetime:
        return day if isinstance(day, datetime) else datetime(day.year, day.month, day.day)  # noqa: DTZ001

    if begin(a) < begin(b):
        assert len(queried(client.visitors(date_from=a, date_to=b))) == 2
    else:
        with pytest.raises(ValueError, match="exclusive"):
            client.visitors(date_from=a, date_to=b)


@quick
@given(text=ANY_TEXT | st.text("0123456789-T:+Z. "))
def test_any_text_is_a_date_or_a_value_error(client: Any, text: str) -> None:
    try:
        visitors = client.visitors(date_to=text)
    except ValueError:
        with pytest.raises(ValueError, match=r"^date_to "):
            client.visitors(date_to=text)
    else:
        assert datetime.fromisoformat(queried(visitors)["dateTo"]).year == int(text[:4])


@pytest.mark.row("J14")
@quick
@given(text=ANY_TEXT | st.builds(json.dumps, VALUES))
def test_any_text_is_no_checkpoint(client: Any, text: str) -> None:
    with pytest.raises(ValueError, match=r"resume|surrogates"):
        client.visitors(resume=text)


@pytest.mark.row("G8")
@quick
@given(name=ANY_TEXT)
@example(name="..")
@example(name="//evil.example")
@example(name="a%2e%2e")
@example(name="{project_id}")
@example(name="\u202e{id}\U0001f600")
def test_an_id_is_refused_or_asked_for_as_it_is(
    face: Face, silent: StubServer, client: Any, name: str
) -> None:
    silent.reset()
    silent.fail_next(status=200, body={"id": name, "status": "active"})
    try:
        job = face.run(client.get_job(name))
    except ValueError:
        assert silent.requests == []
        return
    assert job.id == name
    (request,) = silent.requests
    assert request.path.isascii()
    assert unquote(request.path) == f"/v2/agent/demo/job/{name}"
    assert request.path.count("/") == 5


@pytest.mark.row("A18")
@quick
@given(prompt=ANY_TEXT)
def test_a_prompt_arrives_as_it_is(face: Face, silent: StubServer, client: Any, prompt: str) -> None:
    silent.reset()
    try:
        face.run(client.create_job(prompt))
    except ValueError:
        assert silent.requests == []
        assert not prompt.strip() or prompt.encode(errors="ignore") != prompt.encode(errors="replace")
    else:
        assert [job.prompts for job in silent.jobs] == [[prompt]]


@st.composite
def odd_rows(draw: st.DrawFn) -> list[dict[str, Any]]:
    extras = st.dictionaries(
        st.text().filter(lambda name: name not in {"path", "human", "ai", "total"}), VALUES
    )
    paths = draw(st.lists(ANY_TEXT, max_size=8, unique_by=readable))
    counts = st.fixed_dictionaries({"human": COUNTS, "ai": COUNTS, "total": COUNTS})
    return [{"path": path} | draw(counts) | draw(extras) for path in paths]


def readable(text: str) -> str:
    """``text`` with U+FFFD for what is no text."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def well_formed(value: object) -> bool:
    text = json.dumps(value, ensure_ascii=False)
    return text == readable(text)


@pytest.mark.row("D13")
@quick
@given(table=odd_rows())
def test_rows_arrive_as_they_are(
    face: Face, silent: StubServer, client: Any, table: list[dict[str, Any]]
) -> None:
    silent.reset()
    serve(silent, page(table))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        came = face.all(client.visitors())
    assert came == [row | {"path": readable(row["path"])} for row in table]
    known = ["path", "human", "ai", "total"]
    assert [list(row) for row in came] == [known + [n for n in row if n not in known] for row in table]
    lost = not all(well_formed(row["path"]) for row in table)
    assert [warning.category for warning in told] == ([DataWarning] if lost else [])


@pytest.mark.row("E10")
@quick
@given(
    length=st.integers(0, 40),
    size=st.integers(1, 20),
    steps=st.lists(st.integers(1, 15), min_size=1, max_size=5),
    prefetch=st.integers(0, 3),
)
def test_an_export_may_be_cut_anywhere(
    face: Face, length: int, size: int, steps: list[int], prefetch: int
) -> None:
    table = rows(0, length)
    with StubServer(table) as stub:
        client = face.client(stub)
        visitors = client.visitors(page_size=size, prefetch=prefetch)
        came: list[Any] = []
        for step in steps:
            came += [face.next(visitors) for _ in range(min(step, length - len(came)))]
            visitors = client.visitors(resume=visitors.checkpoint, prefetch=prefetch)
        assert came + face.all(visitors) == table


@pytest.mark.row("D7")
@quick
@given(table=odd_rows(), at=st.integers(0, 7), field=st.sampled_from(["human", "ai", "total"]), bad=VALUES)
def test_a_count_that_is_none_is_an_error_that_names_the_row(
    face: Face, silent: StubServer, client: Any, table: list[dict[str, Any]], at: int, field: str, bad: object
) -> None:
    assume(at < len(table))
    assume(isinstance(bad, bool) or not isinstance(bad, int | float) or bad < 0 or bad >= 2**63 or bad % 1)
    silent.reset()
    serve(silent, page([*table[:at], table[at] | {field: bad}, *table[at + 1 :]]))
    with pytest.raises(ValueError, match=rf"visitors\[{at}\]"):
        face.all(client.visitors())
