"""The optional parts of a report, the comparison, what to fix, and the trend: which are wanted and what they cost, before anything is sent."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from itertools import chain
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from docplatform import DocPlatformError, Plan
from docplatform.cli.cost import bound
from docplatform.cli.fix import plans
from docplatform.cli.output import count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from docplatform import Client, PlanSlice
    from docplatform.cli.days import Days
    from docplatform.cli.session import Session


class Part(StrEnum):
    """An optional part of the report."""

    COMPARISON = "comparison"
    FIXES = "fixes"
    TREND = "trend"


NAMES: dict[Part, str] = {
    Part.COMPARISON: "the pages that changed",
    Part.FIXES: "what readers stumble over",
    Part.TREND: "the trend",
}
"""The names of the parts, in the order of reading."""
MAX_UNASKED = 25
"""The most requests that a part may cost without its option."""
ROWS = 250
"""The rows of one request."""
LATER = "the period has not begun"
FORBIDDEN = "the API key may not read the numbers"
MONTHS = 12
"""The fewest months of a trend by month. With ``--every month``, a period of several months has only its own."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The wishes of the options. A part whose option is missing is added if it costs little."""

    days: Days
    """The period."""
    against: Days | None
    """The period that it is compared with."""
    number: int
    every: Literal["day", "week", "month"] | None = None
    wishes: Mapping[Part, bool | None] = field(default_factory=dict)
    """``True`` for a part that an option asks for: its cost is not limited, and its failure is the command's. ``False`` for one that an option excludes."""
    title: str | None = None
    site_url: str | None = None
    given: Mapping[Part, tuple[str, ...]] = field(default_factory=dict)
    """The options of the parts, as they were given."""
    output: str = "-"
    """The file to write, as it was given; ``-`` is standard output."""
    again: tuple[str, ...] = ()
    """The other options of a command that writes this report again."""


@dataclass
class Ahead:
    """The parts to read, their costs, and the parts that are left out."""

    session: Session
    client: Client
    asked: Asked
    whole: Plan
    """The cost of the period."""
    plans: dict[Part, list[Plan]] = field(default_factory=dict)
    """The cost of each part to read."""
    looks: dict[Part, Callable[[], list[Plan]]] = field(default_factory=dict)
    """Plans each part again: what was read since then is in the store, and costs less."""
    every: Literal["day", "week", "month"] | None = None
    """The length of the trend's slices."""
    trend: tuple[date, date] | None = None
    """The days of the trend."""
    needed: dict[Part, int] = field(default_factory=dict)
    """The requests of each part, by the newest figures."""
    left_out: dict[Part, str] = field(default_factory=dict)
    """Why a part is missing that no option excludes."""
    offered: dict[Part, list[Plan]] = field(default_factory=dict)
    """The cost of each part that a command can add."""
    more: dict[Part, tuple[str, str]] = field(default_factory=dict)
    """For each part that a command can add: the command, which adds all of them, and what it costs."""

    def add(self, part: Part, look: Callable[[], list[Plan]]) -> list[Plan]:
        """Plans a part."""
        self.looks[part] = look
        found = self.plans[part] = look()
        return found

    def look(self, part: Part) -> list[Plan]:
        """Plans a part again. If the store fails, the cost is the last one that was known."""
        with suppress(DocPlatformError):
            return self.looks[part]()
        return self.known(part)

    def known(self, part: Part) -> list[Plan]:
        """The last plans of a part that is read, or that a command can add."""
        return self.plans.get(part) or self.offered[part]

    def leave_out(self, part: Part, why: str) -> None:
        """Leaves a part out that no command can add."""
        self.plans.pop(part, None)
        self.offered.pop(part, None)
        self.left_out[part] = why

    def afford(self, part: Part, requests: int) -> bool:
        """Whether a part is read. It is left out if it costs too much and no option asks for it."""
        self.needed[part] = requests
        left = self.client.stats.budget_left
        few = left is None or requests <= left
        if self.asked.wishes.get(part) or (few and requests <= MAX_UNASKED):
            return True
        why = "too little of the request budget is left"
        self.offer(part, f"that takes {self._bound(part)}{count(requests, 'more request')}" if few else why)
        return False

    def offer(self, part: Part, why: str) -> None:
        """Leaves a part out that a command can add."""
        found = self.known(part)
        self.leave_out(part, why)
        self.offered[part] = found

    def finish(self) -> Iterator[str]:
        """Makes the command that adds the parts, after the others were read. Yields the line that tells a person."""
        if not self.offered:
            return
        cost, others = self._cost(), ", with the other parts that are left out" * (len(self.offered) > 1)
        force = () if self.asked.output == "-" else ("--force",)
        # A report is sent to others, so its command does not name the folder of the report.
        line = self._command(self.shared, "-o", Path(self.asked.output).name, *force)
        self.more.update(dict.fromkeys(self.offered, (line, cost + others)))
        names = " and ".join(name for part, name in NAMES.items() if part in self.offered)
        yield f"To add {names} ({cost}): {self._command(self.session, '-o', self.asked.output, *force)}"

    def _cost(self) -> str:
        """The cost of the command."""
        has_store = self.session.store is not None
        if has_store:
            for part in self.offered:
                self.offered[part] = self.look(part)
                self.needed[part] = _requests(self.offered[part])
        requests = sum(self.needed[part] for part in self.offered)
        hours = self.client._hours(requests)
        waits = "" if not hours else f", about {count(ceil(hours), 'hour')}"
        # Without a store, the command reads all the other parts again.
        more = "" if has_store else " more than this report"
        return f"{self._bound(*self.offered)}{count(requests, 'request')}{more}{waits}"

    def _bound(self, *parts: Part) -> str:
        """Whether parts may cost more or less than their plans. A store keeps a month's totals with its pages, so a trend may cost less."""
        if parts == (Part.TREND,):
            return "" if self.session.store is None else "at most "
        found = bound([*chain.from_iterable(map(self.known, parts))])
        # The period before has about as many pages as this one.
        return "about " if found and Part.FIXES not in parts else found

    def _command(self, session: Session, *file: str) -> str:
        """A command to copy that adds the parts."""
        adds = [*self.offered]
        if session.store is None and self.client.stats.budget_left is not None:
            # The command reads all parts again, and without its option a part may no longer fit into the budget.
            adds += self.plans
        given = {**self.asked.given, **{part: self._option(part) for part in adds}}
        options = chain.from_iterable(given.values())
        return session.again("report", self.asked.days.written, *options, *file, *self.asked.again)

    def _option(self, part: Part) -> tuple[str, str] | tuple[str]:
        """The option that adds a part at any cost."""
        before = self.asked.against
        if part is Part.COMPARISON and before is not None:
            return "--before", before.written
        return ("--feedback",) if part is Part.FIXES else ("--every", self.every or "month")

    @property
    def shared(self) -> Session:
        """The session for commands in the report. A report is sent to others, so they do not name the file of the key."""
        return replace(self.session, api_key_file=None)

    def costs(self) -> list[Plan]:
        """The cost of the report, part by part."""
        return [self.whole, *chain(*self.plans.values()), *self._totals_before()]

    def _totals_before(self) -> list[Plan]:
        """The cost of the totals of the period before, if its pages are not read."""
        before = self.asked.against
        if before is None or Part.COMPARISON in self.plans:
            return []
        return [self.client._plan("visitors", **before.ends, every=None, by_path=False)]

    def announced(self) -> Iterator[str]:
        """Lines that tell a person what will be sent."""
        before = self.asked.against
        costs = [_cost(self.whole, f"pages of {self.asked.days.name}")]
        if before is not None:
            what = "pages" if Part.COMPARISON in self.plans else "totals"
            (plan,) = self.plans.get(Part.COMPARISON) or self._totals_before()
            costs.append(_cost(plan, f"{what} of {before.name}"))
        for part, text in ((Part.FIXES, "what readers say"), (Part.TREND, f"the trend by {self.every}")):
            if part in self.plans:
                requests = _requests(self.plans[part])
                costs.append(f"{f'{self._bound(part)}{requests}' if requests else 'none'} for {text}")
        yield f"Requests: {'; '.join(costs)}."
        yield from map(self.why, self.left_out)

    def why(self, part: Part) -> str:
        """A line that tells a person why a part is left out."""
        return f"Left out: {NAMES[part]}, because {self.left_out[part]}."


def plan(session: Session, client: Client, asked: Asked) -> Ahead:
    """Plans the report without sending anything. A usage error if the trend of --every cannot be planned; a trend of one slice is left out."""
    days = asked.days
    whole = client.plan_visitors(date_from=days.date_from, date_to=days.date_to)
    ahead = Ahead(session, client, asked, whole)
    steps = {Part.COMPARISON: _plan_comparison, Part.FIXES: _plan_fixes, Part.TREND: _plan_trend}
    for part, step in steps.items():
        if asked.wishes.get(part) is not False:
            step(ahead)
    return ahead


def _plan_comparison(ahead: Ahead) -> None:
    before = ahead.asked.against
    if before is None:
        ahead.leave_out(Part.COMPARISON, "there is no period before it")
        return
    (found,) = ahead.add(
        Part.COMPARISON,
        lambda: [ahead.client.plan_visitors(date_from=before.date_from, date_to=before.date_to)],
    )
    if found.exact or found.estimated:
        ahead.afford(Part.COMPARISON, found.requests)


def _plan_fixes(ahead: Ahead) -> None:
    """Plans the other listings alone, because the visitors are read anyway."""
    if _is_later(ahead):
        ahead.leave_out(Part.FIXES, LATER)
    else:
        found = ahead.add(Part.FIXES, lambda: plans(ahead.client, ahead.asked.days)[1:])
        ahead.afford(Part.FIXES, _requests(found))


def _plan_trend(ahead: Ahead) -> None:
    every = ahead.asked.every or "month"
    first, end = ahead.asked.days[:2]
    last = end - timedelta(1)
    if every == "month" and (
        ahead.asked.every is None or (first.year, first.month) == (last.year, last.month)
    ):
        # Whole months, so that next month only one of them is new.
        months = 12 * last.year + last.month - 1
        first, end = min(first.replace(day=1), _month(months - MONTHS + 1)), _month(months + 1)
    client = ahead.client
    try:
        (found,) = ahead.add(
            Part.TREND,
            lambda: [client.plan_visitors(date_from=first, date_to=end, every=every, by_path=False)],
        )
    except DocPlatformError:
        raise
    except ValueError:
        if ahead.asked.every is not None:
            raise
        ahead.leave_out(Part.TREND, LATER if _is_later(ahead) else "the period is too long")
        return
    if len(found.slices) == 1:
        cut = found.slices[0].date_to < end
        why = (
            f"only one {every} of the period has begun" if cut else f"the period lies within a single {every}"
        )
        ahead.leave_out(Part.TREND, why)
        return
    ahead.every, ahead.trend = every, (first, end)
    # With a store, the totals of months that the report reads anyway cost nothing more. What they leave is known later.
    read = [each[:2] for each in (ahead.asked.days, ahead.asked.against) if each and ahead.session.store]
    new = [one for one in found.slices if (one.date_from, one.date_to) not in read]
    ahead.afford(Part.TREND, _requests(new))


def _requests(plans: Iterable[Plan | PlanSlice]) -> int:
    return sum(one.requests for one in plans)


def _is_later(ahead: Ahead) -> bool:
    return ahead.asked.days.date_from > datetime.now(UTC).date()


def _month(number: int) -> date:
    """The first day of a month, counted from the year 0."""
    year, month = divmod(min(max(number, 12), 12 * 9999 + 11), 12)
    return date(year, month + 1, 1)


def _cost(plan: Plan, what: str) -> str:
    if plan.exact:
        return f"{plan.requests or 'none'} for the {what}"
    return f"one for each {ROWS} {what}"
