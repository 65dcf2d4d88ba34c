"""Reads what the report shows: its period, then the trend, then the period before.

If the period cannot be read, the report fails. If the trend or the period before cannot be read, the report is made without it
and says why.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil
from typing import TYPE_CHECKING, Literal

from docplatform import BudgetError, DocPlatformError, RateLimitError
from docplatform._hooks import ranges
from docplatform.cli import phrases
from docplatform.cli.output import Progress, shown
from docplatform.cli.report import figures, parts
from docplatform.cli.report.parts import Part
from docplatform.cli.visitors import counted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from docplatform import Client, Totals
    from docplatform.cli.days import Days
    from docplatform.cli.report.parts import Ahead, Asked
    from docplatform.cli.session import Session

MAX_COMPARED = parts.MAX_UNASKED * parts.ROWS
"""The most rows that are kept for a comparison without ``--before``: if there are more, the period before is not read."""


@dataclass(kw_only=True)
class Found(figures.Report):
    """A report's figures as they were read."""

    failed: DocPlatformError | None = None
    """The error of a part that an option asked for."""


def read(session: Session, client: Client, ahead: Ahead) -> Found:
    """Reads what is planned. Raises only if the period itself cannot be read."""
    reading = _Reading(session, client, ahead)
    reading.period()
    reading.trend()
    reading.comparison()
    return reading.found


class _Reading:
    def __init__(self, session: Session, client: Client, ahead: Ahead) -> None:
        asked, days = ahead.asked, ahead.days
        self._session, self._client, self._ahead = session, client, ahead
        self._asked: Asked = asked
        self._visitors = client.visitors(
            date_from=asked.date_from, date_to=asked.date_to, on_budget=session.on_budget
        )
        self._now: dict[str, Totals] = {}
        self.found = Found(
            project=session.project_id(),
            name=ranges.name(asked.date_from, asked.date_to) or "",
            days=days.number if days is not None else None,
            date_from=asked.date_from,
            date_to=asked.date_to,
            made=datetime.now(UTC),
            site_url=asked.site_url,
            left_out=ahead.left_out,
        )
        if asked.title is not None:
            self.found.title = asked.title
        if days is not None:
            self.found.unfinished = self._is_running(days)

    def period(self) -> None:
        """Reads the rows of the period, and keeps only those that are shown or compared."""
        gathering = figures.Gathering(self._asked.number)
        plan = self._ahead.plans.get(Part.COMPARISON)
        kept = plan is not None
        most = None if self._asked.named(Part.COMPARISON) else MAX_COMPARED
        found = self.found
        with self._counted("the pages"), self._progress("Reading visitors") as progress:
            for row in counted(self._visitors, progress):
                gathering.add(row)
                if kept:
                    figures.keep(row, self._now)
                    kept = most is None or len(self._now) <= most
            found.totals = self._visitors.totals()
        if plan is not None and plan.exact and not kept:
            # The period before is in the store and costs nothing, but there is nothing to compare it with.
            why = f"the period has more than {MAX_COMPARED:,} pages, and --before was not given"
            self._ahead.leave_out(Part.COMPARISON, why)
            self._session.say(self._ahead.why(Part.COMPARISON))
        vars(found).update(vars(gathering.figures()))
        found.warnings += self._visitors.warnings

    def trend(self) -> None:
        """Reads the period in slices."""
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
            slices = [figures.Slice(**{name: row[name] for name in figures.Slice._fields}) for row in read]
            self.found.trend = figures.Trend(
                every=every, slices=slices, open_from=read.open_from, running=read._running
            )
            self.found.warnings += read.warnings

    def comparison(self) -> None:
        """Reads the period before: its pages, or only its totals if the pages cost too much."""
        plan, before = self._ahead.plans.get(Part.COMPARISON), self._ahead.before
        if before is None:
            return
        # If the store does not know how many rows it has, assume as many as the period has.
        if plan is not None and self._affords(
            Part.COMPARISON, plan.requests if plan.exact else max(1, ceil(self.found.rows / parts.ROWS))
        ):
            self._pages(before)
        else:
            self._totals(before)

    def _pages(self, before: Days) -> None:
        text = f"Reading {before.name}"
        with self._part(Part.COMPARISON), self._progress(text) as progress:
            visitors = self._client.visitors(
                date_from=before.date_from, date_to=before.date_to, on_budget=self._on_budget(Part.COMPARISON)
            )
            rows = list(counted(visitors, progress, text))
            self.found.comparison = figures.compare(
                rows,
                self._now,
                self._asked.number,
                name=before.name,
                dates=self._dates(before),
                totals=visitors.totals(),
                totals_now=self._visitors.totals(),
                unfinished=self._is_running(before),
            )
            self.found.warnings += [f"in {before.name}: {warning}" for warning in visitors.warnings]

    def _totals(self, before: Days) -> None:
        """Reads only the totals: one request, which is enough to say whether the site grew."""
        left = self._client.stats.budget_left
        if left is not None and left < 1:
            return
        with self._part(Part.COMPARISON), self._progress(f"Reading the totals of {before.name}"):
            totals = self._client.visitor_totals(
                date_from=before.date_from, date_to=before.date_to, on_budget="stop"
            )
            self.found.comparison = figures.Comparison(
                name=before.name,
                dates=self._dates(before),
                totals=totals,
                unfinished=self._is_running(before),
            )

    def _dates(self, before: Days) -> tuple[tuple[date, date], tuple[date, date]]:
        """The days of both periods, those of the one before first."""
        days = self._ahead.days or before
        return before[:2], days[:2]

    def _is_running(self, days: Days) -> bool:
        """Whether a period is not over."""
        return days.date_to > self.found.made.date()

    def _on_budget(self, part: Part) -> Literal["wait", "stop"]:
        """Only a part that an option asked for may wait for the budget."""
        return self._session.on_budget if self._asked.named(part) else "stop"

    def _progress(self, text: str) -> Progress:
        return Progress(text, quiet=self._session.quiet)

    @contextmanager
    def _counted(self, what: str) -> Iterator[None]:
        before = self._client.stats.requests
        try:
            yield
        finally:
            sent = self._client.stats.requests - before
            self.found.requests[what] = self.found.requests.get(what, 0) + sent

    @contextmanager
    def _part(self, part: Part) -> Iterator[None]:
        """Leaves the part out if reading it fails."""
        try:
            with self._counted(parts.NAMES[part]):
                yield
        except DocPlatformError as error:
            limit = isinstance(error, BudgetError | RateLimitError)
            why = (
                "the request limit was reached" if limit else f"it could not be read ({type(error).__name__})"
            )
            self._ahead.leave_out(part, why)
            if self._asked.named(part):
                self.found.failed = self.found.failed or error
            else:
                self._session.say(
                    f"Left out: {parts.NAMES[part]}. {shown(phrases.sentence(error, self._session.again))}"
                )

    def _affords(self, part: Part, requests: int) -> bool:
        """Whether the budget allows a part. If not, it is left out."""
        self._ahead.afford(part, requests)
        if part in self._ahead.left_out:
            self._session.say(self._ahead.why(part))
            return False
        return True
