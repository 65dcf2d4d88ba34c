"""The parts of a report that cost requests beyond the range itself: which are wanted, and what they cost, before anything
is sent.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

import click

from docplatform import DocPlatformError
from docplatform.cli.output import count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docplatform import Client, Plan, PlanSlice


class Part(StrEnum):
    """A part, as the options, the summary and the page know it."""

    TREND = "trend"
    RISING = "rising"


NAMES: dict[Part, str] = {Part.TREND: "the trend", Part.RISING: "rising pages"}
OPTIONS: dict[Part, str] = {Part.TREND: "--every", Part.RISING: "--rising"}
"""What asks for a part by name."""
MAX_UNASKED = 25
"""How many requests a part may take that was not asked for by its option."""
ROWS = 250
"""The rows that one request brings."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the options ask for. A part that is ``None`` is there where it costs little."""

    date_from: str | None
    date_to: str | None
    number: int
    every: Literal["day", "week", "month", "none"] | None
    rising: bool | None

    def named(self, part: Part) -> bool:
        """Whether a part was asked for by name: then it may cost what it costs, and its failing is the command's."""
        return bool(self.rising) if part is Part.RISING else self.every not in (None, "none")

    def unwanted(self, part: Part) -> bool:
        """Whether it is not to be there."""
        return self.rising is False if part is Part.RISING else self.every == "none"


@dataclass
class Ahead:
    """What is to be read, and what of it is not."""

    client: Client
    asked: Asked
    whole: Plan | None = None
    """What the range costs; ``None`` where it is not known which days it has."""
    plans: dict[Part, Plan] = field(default_factory=dict)
    """What the parts cost that are to be there."""
    every: Literal["day", "week", "month"] | None = None
    """How long a slice of the trend is."""
    left_out: dict[Part, str] = field(default_factory=dict)
    """Why a part is not there that was not unwanted."""

    @property
    def days(self) -> PlanSlice | None:
        """The range, where its days are known."""
        return self.whole.slices[0] if self.whole is not None else None

    def leave_out(self, part: Part, why: str) -> None:
        """Does without a part."""
        self.plans.pop(part, None)
        self.left_out[part] = why

    def afford(self, part: Part, requests: int) -> None:
        """Does without a part that costs more than one would want to spend unasked."""
        if self.asked.named(part):
            return
        left = self.client.stats.budget_left
        if requests > MAX_UNASKED:
            self.leave_out(
                part, f"it takes {count(requests, 'more request')}, and {OPTIONS[part]} was not given"
            )
        elif left is not None and requests > left:
            self.leave_out(part, "the request budget does not have enough left for it")

    def announced(self) -> Iterator[str]:
        """What is about to be sent, for people."""
        costs = [_cost(self.whole, "pages")]
        if Part.TREND in self.plans:
            costs.append(f"{self.plans[Part.TREND].requests or 'none'} for the trend by {self.every}")
        if Part.RISING in self.plans:
            costs.append(_cost(self.plans[Part.RISING], "pages of the days before"))
        yield f"Requests: {'; '.join(costs)}."
        yield from map(self.why, self.left_out)

    def why(self, part: Part) -> str:
        """Why a part is left out, for people."""
        return f"Left out: {NAMES[part]}, as {self.left_out[part]}."


def plan(client: Client, asked: Asked) -> Ahead:
    """Looks ahead, and sends nothing. A usage error where a part that was asked for by name cannot be had."""
    ahead = Ahead(client, asked)
    wanted = [part for part in NAMES if not asked.unwanted(part)]
    if why := _cut(ahead):
        for part in wanted:
            if asked.named(part):
                raise click.UsageError(f"{OPTIONS[part]} needs --from and --to, as 2026-01-31: {why}")
            ahead.leave_out(part, why)
        return ahead
    if Part.TREND in wanted:
        _plan_trend(ahead)
    if Part.RISING in wanted:
        _plan_rising(ahead)
    return ahead


def _cut(ahead: Ahead) -> str | None:
    """Why the range can neither be cut into slices nor be compared with the days before it, if so."""
    first, last = ahead.asked.date_from, ahead.asked.date_to
    if first is None or last is None:
        return "no first and last day were named"
    try:
        ahead.whole = ahead.client.plan_visitors(date_from=first, date_to=last)
    except DocPlatformError:
        # A store that cannot be read says nothing of the days.
        raise
    except ValueError:
        return "the range does not consist of whole days"
    return None


def _plan_trend(ahead: Ahead) -> None:
    days = ahead.days
    if days is None:
        return
    every = ahead.asked.every or _every((days.date_to - days.date_from).days)
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
        ahead.leave_out(Part.TREND, "the range is too long for it")
        return
    if len(found.slices) == 1:
        ahead.leave_out(Part.TREND, f"the range lies within a single {every}")
        return
    ahead.every, ahead.plans[Part.TREND] = every, found
    ahead.afford(Part.TREND, found.requests)


def _every(days: int) -> Literal["day", "week", "month"]:
    """Days up to a fortnight, weeks up to a quarter, else months: a slice is a request."""
    return "day" if days <= 14 else "week" if days <= 92 else "month"


def _plan_rising(ahead: Ahead) -> None:
    days = ahead.days
    if days is None:
        return
    try:
        before = days.date_from - (days.date_to - days.date_from)
    except OverflowError:
        ahead.leave_out(Part.RISING, "there are not as many days before the range")
        return
    ahead.plans[Part.RISING] = ahead.client.plan_visitors(date_from=before, date_to=days.date_from)
    if ahead.plans[Part.RISING].exact:
        ahead.afford(Part.RISING, ahead.plans[Part.RISING].requests)


def _cost(plan: Plan | None, what: str) -> str:
    if plan is not None and plan.exact:
        return f"{plan.requests or 'none'} for the {what}"
    return f"one for each {ROWS} {what}"
