"""Waits of more than ten seconds are announced once, at the line of the call, unless a bar or the command line shows them."""

from __future__ import annotations

import inspect
import pickle
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from docplatform import WaitWarning
from docplatform.testing import StubServer
from helpers import AsyncFace, Face
from helpers.children import tell
from helpers.once import creating
from helpers.scripts import environment

JANUARY: dict[str, Any] = {"date_from": "2026-01-01", "date_to": "2026-02-01"}


@pytest.fixture
def ends_at_warning() -> Iterator[None]:
    """The warning ends the call, so that no test waits."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", WaitWarning)
        yield


def budget(stub: StubServer) -> dict[str, Any]:
    return {"requests_per_hour": 1}


def throttled(stub: StubServer) -> dict[str, Any]:
    stub.fail_next(status=503, retry_after=30)
    return {}


@pytest.mark.usefixtures("ends_at_warning")
@pytest.mark.parametrize(
    ("prepare", "why", "seconds"),
    [
        (budget, "the request budget is spent", 3600),
        (throttled, "the service asked this client to wait", 30),
    ],
)
def test_a_long_wait_warns_with_the_time_at_which_it_ends(
    face: Face, stub: StubServer, prepare: Callable[[StubServer], dict[str, Any]], why: str, seconds: float
) -> None:
    client = face.client(stub, **prepare(stub))
    with pytest.raises(WaitWarning) as caught:
        face.run(client.visitors(**JANUARY).collect())
    warning = caught.value
    assert warning.until is not None
    assert abs(warning.until - datetime.now(UTC) - timedelta(seconds=seconds)) < timedelta(seconds=10)
    assert str(warning).startswith(f"{why}: the next request is sent at ")
    left = f"{seconds / 60:.0f} minutes" if seconds > 60 else r"\d\d seconds"
    assert re.search(f"{warning.until.astimezone():%H:%M:%S %Z}, in {left}$", str(warning))
    assert len(stub.requests) == 1
    copy = pickle.loads(pickle.dumps(warning))
    assert (str(copy), copy.until) == (str(warning), warning.until)


WAITING = """
import ctypes, logging, os, warnings

class Leaps(logging.Handler):
    def emit(self, record):
        # Once the call has told of its wait, it has taken ten seconds more.
        ctypes.CDLL(None).leap(10)

warnings.simplefilter("error", docplatform.WaitWarning)
ours = client(store=os.environ["STORE"])
logging.getLogger("docplatform").addHandler(Leaps())
logging.getLogger("docplatform").setLevel(logging.INFO)
try:
    run(lambda: ours.create_job("Document release 1.4", once="docs-1.4"))
except docplatform.WaitWarning as warning:
    print(json.dumps([str(warning), warning.until]))
"""


def test_a_long_wait_for_anothers_creation_warns(
    face: Face, stub: StubServer, store: Path, clock_library: Path
) -> None:
    with creating(stub, store):
        env = environment(stub, STORE=str(store), LD_PRELOAD=str(clock_library))
        text, until = tell(face.name, WAITING, **env)
    assert text == "another call under this name is under way: waiting for it"
    assert until is None
    assert len(stub.requests) == 1


def test_the_warning_is_raised_once_and_points_at_the_users_line(stub: StubServer) -> None:
    with closing(AsyncFace()) as face:
        client = face.client(stub, requests_per_hour=1)
        face.run(client.visitor_totals())

        async def ask() -> None:
            await client.visitor_totals()

        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            face.cancel(ask, lambda: told)
            [warning] = told
            assert warning.category is WaitWarning
            assert warning.filename == __file__
            lines, first = inspect.getsourcelines(
                test_the_warning_is_raised_once_and_points_at_the_users_line
            )
            assert lines[warning.lineno - first].strip() == "await client.visitor_totals()"
            # Each wait has one of its own.
            told.clear()
            face.cancel(ask, lambda: told)
            assert len(told) == 1


@pytest.mark.usefixtures("ends_at_warning")
def test_a_progress_bar_shows_the_wait_instead(
    face: Face, stub: StubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Seen(BaseException):
        """Ends the call, as Ctrl-C would."""

    class Bar:
        def update(self, done: int) -> None:
            pass

        def waits(self, why: str, until: datetime | None) -> None:
            raise Seen(why, until)

    monkeypatch.setattr("docplatform._hooks.progress.bar", lambda *_: Bar())
    client = face.client(stub, requests_per_hour=1)
    with pytest.raises(Seen) as caught:
        face.run(client.visitors(**JANUARY).collect(progress=True))
    why, until = caught.value.args
    assert why == "the request budget is spent"
    assert until > datetime.now(UTC)
