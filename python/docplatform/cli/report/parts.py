"""The optional parts of a report, the trend and the comparison: which are wanted and what they cost, before anything is sent."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

import click

from docplatform import DocPlatformError, Plan
from docplatform.cli.days import beside
from docplatform.cli.output import count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docplatform import Client
    from docplatform.cli.days import Days


class Part(StrEnum):
    """An optional part of the report."""

    TREND = "trend"
    COMPARISON = "comparison"


NAMES: dict[Part, str] = {Part.TREND: "the trend", Part.COMPARISON: "the pages that changed"}
OPTIONS: dict[Part, str] = {Part.TREND: "--every", Part.COMPARISON: "--before"}
"""The option that asks for a part."""
MAX_UNASKED = 25
"""The most requests that a part may cost without its option."""
ROWS = 250
"""The rows of one request."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the options ask for. A part whose option is missing is added if it costs little."""

    date_from: str | None
    date_to: str | None
    number: int
    every: Literal["day", "week", "month", "none"] | None = None
    before: str | None = None
    """The period to compare with."""
    compared: bool = True
    """``False`` for ``--no-compare``."""
    title: str | None = None
    site_url: str | None = None

    def named(self, part: Part) -> bool:
        """Whether an option asks for the part. Then its cost is not limited, and its failure is the command's."""
        return self.before is not None if part is Part.COMPARISON else self.every not in (None, "none")

    def unwanted(self, part: Part) -> bool:
        """Whether an option excludes the part."""
        return not self.compared if part is Part.COMPARISON else self.every == "none"


@dataclass
class Ahead:
    """What will be read, what it costs, and which parts are left out."""

    client: Client
    asked: Asked
    days: Days | None = None
    """The period; ``None`` if its days are not known."""
    before: Days | None = None
    """The period that it is compared with."""
    whole: Plan | None = None
    """What the period costs; ``None`` if its days are not known."""
    plans: dict[Part, Plan] = field(default_factory=dict)
    """What each part costs that will be read."""
    every: Literal["day", "week", "month"] | None = None
    """The length of the trend's slices."""
    left_out: dict[Part, str] = field(default_factory=dict)
    """Why a part is missing that no option excludes."""

    def leave_out(self, part: Part, why: str) -> None:
        """Leaves a part out."""
        self.plans.pop(part, None)
        self.left_out[part] = why

    def afford(self, part: Part, requests: int) -> None:
        """Leaves a part out if it costs too much and no option asks for it."""
        if self.asked.named(part):
            return
        left = self.client.stats.budget_left
        if requests > MAX_UNASKED:
            self.leave_out(
                part, f"that takes {count(requests, 'more request')}, and {OPTIONS[part]} was not given"
            )
        elif left is not None and requests > left:
            self.leave_out(part, "too little of the request budget is left")

    def costs(self) -> list[Plan]:
        """What each request of the report costs, part by part."""
        unknown, one = Plan(1, 0, False, None, ()), Plan(1, 0, True, None, ())
        totals = [one] if self.before is not None and Part.COMPARISON not in self.plans else []
        return [self.whole or unknown, *self.plans.values(), *totals]

    def announced(self) -> Iterator[str]:
        """Lines that tell a person what will be sent."""
        costs = [_cost(self.whole, f"pages of {self.days.name}" if self.days is not None else "pages")]
        if Part.TREND in self.plans:
            costs.append(f"{self.plans[Part.TREND].requests or 'none'} for the trend by {self.every}")
        if Part.COMPARISON in self.plans and self.before is not None:
            costs.append(_cost(self.plans[Part.COMPARISON], f"pages of {self.before.name}"))
        elif self.before is not None:
            costs.append(f"one for the totals of {self.before.name}")
        yield f"Requests: {'; '.join(costs)}."
        yield from map(self.why, self.left_out)

    def why(self, part: Part) -> str:
        """A line that tells a person why a part is left out."""
        return f"Left out: {NAMES[part]}, because {self.left_out[part]}."


def plan(client: Client, asked: Asked) -> Ahead:
    """Plans the report without sending anything. A usage error if a part that an option asks for is impossible."""
    ahead = Ahead(client, asked)
    wanted = [part for part in NAMES if not asked.unwanted(part)]
    if why := _days(ahead):
        for part in wanted:
            if asked.named(part):
                raise click.UsageError(f"{OPTIONS[part]} needs a period such as 2026-01: {why}")
            ahead.leave_out(part, why)
        return ahead
    if Part.TREND in wanted:
        _plan_trend(ahead)
    if Part.COMPARISON in wanted:
        _plan_comparison(ahead)
    return ahead


def _days(ahead: Ahead) -> str | None:
    """Sets the period and the one before. Returns the reason if the period has no trend and no comparison."""
    first, last = ahead.asked.date_from, ahead.asked.date_to
    if first is None or last is None:
        return "the first or the last day was not given"
    found = beside(first, last, OPTIONS[Part.COMPARISON], ahead.asked.before)
    if found is None:
        return "the period does not consist of whole days"
    ahead.days, before = found
    if ahead.asked.compared:
        ahead.before = before
    ahead.whole = ahead.client.plan_visitors(date_from=first, date_to=last)
    return None


def _plan_trend(ahead: Ahead) -> None:
    days = ahead.days
    if days is None:
        return
    every = ahead.asked.every or _every(days.number)
    if every == "none":
        return
    try:
        found = ahead.client.plan_visitors(
            date_from=days.date_from, date_to=days.date_to, every=every, by_path=False
        )
    except DocPlatformError:
        raise
    except ValueError:
        if ahead.asked.named(Part.TREND):
            raise
        later = days.date_from > datetime.now(UTC).date()
        ahead.leave_out(Part.TREND, f"the period {'has not begun' if later else 'is too long'}")
        return
    if len(found.slices) == 1:
        cut = found.slices[0].date_to < days.date_to
        why = (
            f"only one {every} of the period has begun" if cut else f"the period lies within a single {every}"
        )
        ahead.leave_out(Part.TREND, why)
        return
    ahead.every, ahead.plans[Part.TREND] = every, found
    ahead.afford(Part.TREND, found.requests)


def _every(days: int) -> Literal["day", "week", "month"]:
    """Days up to a fortnight, weeks up to a quarter, else months, because each slice costs a request."""
    return "day" if days <= 14 else "week" if days <= 92 else "month"


def _plan_comparison(ahead: Ahead) -> None:
    before = ahead.before
    if before is None:
        ahead.leave_out(Part.COMPARISON, "there is no period before it")
        return
    found = ahead.client.plan_visitors(date_from=before.date_from, date_to=before.date_to)
    ahead.plans[Part.COMPARISON] = found
    if found.exact:
        ahead.afford(Part.COMPARISON, found.requests)


def _cost(plan: Plan | None, what: str) -> str:
    if plan is not None and plan.exact:
        return f"{plan.requests or 'none'} for the {what}"
    return f"one for each {ROWS} {what}"
