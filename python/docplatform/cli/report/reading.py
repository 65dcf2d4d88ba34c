"""What the report reads: the range, then its trend, and the days before it for what rises.

The range is what the page is about, and fails with it. Where the trend or the rising pages cannot be read, the page is
made without them and says why.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil
from typing import TYPE_CHECKING, Any, Literal

from docplatform import BudgetError, DocPlatformError, RateLimitError
from docplatform.cli.output import Progress, count, shown
from docplatform.cli.report import chart, parts, rising
from docplatform.cli.report.page import Report
from docplatform.cli.report.parts import Part
from docplatform.cli.report.top import Top
from docplatform.cli.visitors import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docplatform import Client
    from docplatform.cli.report.parts import Ahead, Asked
    from docplatform.cli.session import Session


@dataclass(kw_only=True)
class Found(Report):
    """What was read."""

    failed: DocPlatformError | None = None
    """What a part failed with that was asked for by name."""


def read(session: Session, client: Client, asked: Asked) -> Found:
    """Says what it will take, and reads it; raises what the range itself fails with."""
    reading = _Reading(session, client, asked)
    reading.range()
    reading.trend()
    reading.rising()
    return reading.found


class _Reading:
    def __init__(self, session: Session, client: Client, asked: Asked) -> None:
        self._session, self._client, self._asked = session, client, asked
        # Says what is wrong with the days, before anything is printed or sent.
        self._visitors = client.visitors(
            date_from=asked.date_from, date_to=asked.date_to, on_budget=session.on_budget
        )
        self._ahead: Ahead = parts.plan(client, asked)
        self._compared: Top[str] = Top(rising.MAX_COMPARED if Part.RISING in self._ahead.plans else 0)
        self.found = Found(
            project=session.project_id(),
            date_from=asked.date_from,
            date_to=asked.date_to,
            made=datetime.now(UTC),
            left_out=self._ahead.left_out,
        )
        for line in self._ahead.announced():
            session.say(line)

    def range(self) -> None:
        """The range's rows, of which only those are kept that are shown or compared."""
        top, top_ai = Top[dict[str, Any]](self._asked.number), Top[dict[str, Any]](self._asked.number)
        found = self.found
        with self._counted("the pages"), self._progress("Reading visitors") as progress:
            for row in counted(self._visitors, progress):
                top.add(row["total"], row)
                top_ai.add(row["ai"], row)
                self._compared.add(row["total"], row["path"])
            found.totals = self._visitors.totals()
        found.pages = top.seen
        found.top, found.top_ai = ([row for _, row in ranked.ranked()] for ranked in (top, top_ai))
        found.warnings += self._visitors.warnings

    def trend(self) -> None:
        """The range in slices."""
        every, days = self._ahead.every, self._ahead.days
        plan = self._ahead.plans.get(Part.TREND)
        if plan is None or days is None or every is None or not self._affords(Part.TREND, plan.requests):
            return
        with self._part(Part.TREND), self._progress(f"Reading the trend by {every}"):
            read = self._client.visitor_trend(
                date_from=days.date_from,
                date_to=days.date_to,
                every=every,
                on_budget=self._on_budget(Part.TREND),
            )
            slices = [chart.Slice(**{name: row[name] for name in chart.Slice._fields}) for row in read]
            self.found.trend = chart.Trend(every=every, slices=slices, open_from=read.open_from)
            self.found.warnings += read.warnings

    def rising(self) -> None:
        """What rose over the days before."""
        plan, days = self._ahead.plans.get(Part.RISING), self._ahead.days
        if plan is None or days is None:
            return
        # Where the store does not know, most likely as many as the range has.
        if not self._affords(
            Part.RISING, plan.requests if plan.exact else max(1, ceil(self.found.pages / parts.ROWS))
        ):
            return
        ((before_from, before_to, *_),) = plan.slices
        text = f"Reading the {count((before_to - before_from).days, 'day')} before"
        now = {path: read for read, path in reversed(self._compared.ranked())}
        before: dict[str, int] = {}
        with self._part(Part.RISING), self._progress(text) as progress:
            visitors = self._client.visitors(
                date_from=before_from, date_to=before_to, on_budget=self._on_budget(Part.RISING)
            )
            pages = 0
            for row in counted(visitors, progress, text):
                pages += 1
                if row["path"] in now:
                    before[row["path"]] = max(row["total"], before.get(row["path"], 0))
            self.found.rising = rising.Comparison(
                date_from=before_from,
                date_to=before_to,
                pages=pages,
                totals=visitors.totals(),
                rows=rising.risen(before, now, self._asked.number) if pages else (),
                whole=self._compared.seen <= rising.MAX_COMPARED,
                unfinished=days.date_to > self.found.made.date(),
            )
            self.found.warnings += [f"in the days before: {warning}" for warning in visitors.warnings]

    def _on_budget(self, part: Part) -> Literal["wait", "stop"]:
        """Nobody is to wait an hour for what nobody asked for."""
        return self._session.on_budget if self._asked.named(part) else "stop"

    def _progress(self, text: str) -> Progress:
        return Progress(text, quiet=self._session.quiet)

    @contextmanager
    def _counted(self, what: str) -> Iterator[None]:
        before = self._client.stats.requests
        try:
            yield
        finally:
            self.found.requests[what] = self._client.stats.requests - before

    @contextmanager
    def _part(self, part: Part) -> Iterator[None]:
        """What fails in it leaves it out."""
        try:
            with self._counted(parts.NAMES[part]):
                yield
        except DocPlatformError as error:
            limit = isinstance(error, BudgetError | RateLimitError)
            why = (
                "the limit of requests was reached"
                if limit
                else f"it could not be read ({type(error).__name__})"
            )
            self._ahead.leave_out(part, why)
            if self._asked.named(part):
                self.found.failed = self.found.failed or error
            else:
                self._session.say(f"Left out: {parts.NAMES[part]}. {shown(error)}")

    def _affords(self, part: Part, requests: int) -> bool:
        """Whether there is enough left for a part; if not, it is left out."""
        self._ahead.afford(part, requests)
        if part in self._ahead.left_out:
            self._session.say(self._ahead.why(part))
            return False
        return True
