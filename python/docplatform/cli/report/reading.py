"""Reads what the report shows: its period, the period before, what readers stumble over, and the trend.

If the period cannot be read, the report fails. If another part cannot be read, the report is made without it and says why.
"""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime
from math import ceil
from typing import TYPE_CHECKING, Any, Literal, cast

from docplatform import (
    AuthenticationError,
    BudgetError,
    DocPlatformError,
    PermissionDeniedError,
    RateLimitError,
)
from docplatform._hooks.fix import fix_first, not_allowed
from docplatform.cli import phrases
from docplatform.cli.fix import command, known_jobs, with_jobs
from docplatform.cli.output import Progress, count, shown
from docplatform.cli.report import figures, parts
from docplatform.cli.report.parts import Part
from docplatform.cli.visitors import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docplatform import FixList, Totals
    from docplatform.cli.days import Days
    from docplatform.cli.report.parts import Ahead

LIMIT = "the request limit was reached"
SPENT = "the request budget is spent"
SETTLE_DAYS = 2
"""The client's default."""
MAX_KEPT = 40_000
"""The most rows that are kept, unless they are certainly compared."""


def read(ahead: Ahead) -> figures.Report:
    """Reads what is planned. Raises only if the period itself, or the store, cannot be read."""
    reading = _Reading(ahead)
    reading.period()
    if reading.found.totals and reading.found.totals.total:
        reading.comparison()
        reading.fixes()
        reading.trend()
    return reading.found


class _Reading:
    def __init__(self, ahead: Ahead) -> None:
        asked, days = ahead.asked, ahead.asked.days
        self._session, self._client, self._ahead, self._asked = ahead.session, ahead.client, ahead, asked
        self._visitors = self._client.visitors(
            date_from=days.date_from, date_to=days.date_to, on_budget=self._session.on_budget
        )
        self._now: list[figures.Row] | None = None
        self.found = figures.Report(
            project=self._session.project_id(),
            name=days.name,
            days=days.number,
            made=datetime.now(UTC),
            site_url=asked.site_url,
            number=asked.number,
            left_out=ahead.left_out,
            more=ahead.more,
        )
        if asked.title is not None:
            self.found.title = asked.title
        self.found.unfinished = days.date_to > self.found.made.date()

    def period(self) -> None:
        """Reads the rows of the period, and keeps those that are shown, compared, or joined with what readers say."""
        gathering = figures.Gathering(self._asked.number)
        plans = self._ahead.plans.get(Part.COMPARISON, [])
        is_certain = bool(plans) and (self._asked.wishes.get(Part.COMPARISON) or plans[0].exact)
        kept: list[figures.Row] | None = []
        found = self.found
        with self._counted("the pages"), self._session.progress("Reading visitors") as progress:
            for row in counted(self._visitors, progress):
                gathering.add(row)
                if kept is not None:
                    kept.append(_row(row))
                    kept = kept if is_certain or len(kept) <= MAX_KEPT else None
            found.totals = self._visitors.totals()
        self._now = kept
        vars(found).update(vars(gathering.figures()))
        found.warnings += self._visitors.warnings
        settles = self._session.settle_days
        settles = SETTLE_DAYS if settles is None else settles
        for days in filter(None, (self._asked.days, self._asked.against)):
            if 0 <= (found.made.date() - days.date_to).days < settles:
                found.warnings.append(
                    f"{days.name} may still change: it is final {count(settles, 'day')} after its end"
                )

    def comparison(self) -> None:
        """Reads the period before: its pages, or only its totals if the pages cost too much."""
        plans, before = self._ahead.plans.get(Part.COMPARISON), self._asked.against
        if before is None:
            return
        # If the store does not know how many rows it has, assume as many as the period has.
        if plans and self._affords(
            Part.COMPARISON, plans[0].requests if plans[0].exact else max(1, self._pages_of_rows())
        ):
            self._pages(before)
        else:
            self._totals(before)

    def _pages_of_rows(self) -> int:
        return ceil(self.found.rows / parts.ROWS)

    def _pages(self, before: Days) -> None:
        text = f"Reading {before.name}"
        with self._part(Part.COMPARISON, text) as progress:
            visitors = self._client.visitors(
                date_from=before.date_from, date_to=before.date_to, on_budget=self._on_budget(Part.COMPARISON)
            )
            rows = [_row(row) for row in counted(visitors, progress, text)]
            site = self._site(before, visitors.totals())
            self.found.comparison = figures.compare(site, rows, self._now or [], self._visitors.totals())
            self.found.warnings += [f"in {before.name}: {warning}" for warning in visitors.warnings]

    def fixes(self) -> None:
        """Reads what readers stumble over. The visitors were read before, or are in the store; without a store, more than
        ``MAX_KEPT`` are read again."""
        plans, days = self._ahead.plans.get(Part.FIXES), self._asked.days
        if not plans:
            return
        requests = sum(plan.requests for plan in plans)
        if self._now is None:
            whole = self._client.plan_visitors(date_from=days.date_from, date_to=days.date_to)
            requests += whole.requests if whole.exact else self._pages_of_rows()
        if not self._affords(Part.FIXES, requests):
            return
        rows = None if self._now is None else ({"path": row[0], "human": row[1]} for row in self._now)
        with self._part(Part.FIXES, "Reading what readers say"):
            on_budget = self._on_budget(Part.FIXES)
            refused: dict[str, PermissionDeniedError] = {}
            read = fix_first(
                self._client,
                days.written,
                self._asked.number,
                None,
                on_budget=on_budget,
                visitors=rows,
                refused=refused,
            )
            self.found.warnings += map(not_allowed, refused)
            shared = self._ahead.shared
            listed = with_jobs(known_jobs(shared, self._client), days, cast("FixList", read))
            self.found.fixes = [(row, command(shared, days, row)) for row in listed]

    def trend(self) -> None:
        """Reads a range in slices."""
        every, days = self._ahead.every, self._ahead.trend
        if Part.TREND not in self._ahead.plans or days is None or every is None:
            return
        # Some of its months may have come with the other parts.
        (plan,) = self._ahead.plans[Part.TREND] = self._ahead.look(Part.TREND)
        if not self._affords(Part.TREND, plan.requests):
            return
        with self._part(Part.TREND, f"Reading the trend by {every}"):
            read = self._client.visitor_trend(
                date_from=days[0], date_to=days[1], every=every, on_budget=self._on_budget(Part.TREND)
            )
            slices = [figures.Slice(**{name: row[name] for name in figures.Slice._fields}) for row in read]
            period = self._asked.days[:2]
            wider = any(one.date_to <= period[0] for one in slices)
            self.found.trend = figures.Trend(
                every=every,
                slices=slices,
                open_from=read.open_from,
                running=read._running,
                period=period if wider else None,
            )
            self.found.warnings += read.warnings

    def _totals(self, before: Days) -> None:
        """Reads only the totals: one request, which is enough to say whether the site grew."""
        left = self._client.stats.budget_left
        if left is not None and left < 1:
            return
        what = f"the totals of {before.name}"
        with self._part(Part.COMPARISON, f"Reading {what}", what):
            totals = self._client.visitor_totals(
                date_from=before.date_from, date_to=before.date_to, on_budget="stop"
            )
            self.found.comparison = self._site(before, totals)

    def _site(self, before: Days, totals: Totals) -> figures.Comparison:
        return figures.Comparison(
            name=before.name,
            dates=(before[:2], self._asked.days[:2]),
            totals=totals,
        )

    def _on_budget(self, part: Part) -> Literal["wait", "stop"]:
        """Only a part that an option asked for may wait for the budget."""
        return self._session.on_budget if self._asked.wishes.get(part) else "stop"

    @contextmanager
    def _counted(self, what: str) -> Iterator[None]:
        before = self._client.stats.requests
        try:
            yield
        finally:
            sent = self._client.stats.requests - before
            self.found.requests[what] = self.found.requests.get(what, 0) + sent

    @contextmanager
    def _part(self, part: Part, text: str, what: str | None = None) -> Iterator[Progress]:
        """Leaves the part out if reading it fails."""
        try:
            with self._counted(what or parts.NAMES[part]), self._session.progress(text) as progress:
                yield progress
        except DocPlatformError as error:
            ahead = self._ahead
            match error:
                case BudgetError():
                    ahead.offer(part, SPENT)
                case RateLimitError():
                    ahead.offer(part, LIMIT)
                case AuthenticationError() | PermissionDeniedError():
                    ahead.leave_out(part, parts.FORBIDDEN)
                case _:
                    ahead.leave_out(part, "the numbers could not be read")
            if self._asked.wishes.get(part):
                self.found.failed = self.found.failed or error
            else:
                # No part waits for the budget unless its option is given, so the advice is the command with that option.
                advises = not isinstance(error, BudgetError)
                said = shown(phrases.sentence(error, self._session.again, advises=advises))
                self._session.say(f"Left out: {parts.NAMES[part]}. {said}.")

    def _affords(self, part: Part, requests: int) -> bool:
        """Whether the budget allows a part. If not, it is left out."""
        affords = self._ahead.afford(part, requests)
        if not affords:
            self._session.say(self._ahead.why(part))
        return affords


def _row(row: dict[str, Any]) -> figures.Row:
    return row["path"], row["human"], row["ai"], row["total"]
