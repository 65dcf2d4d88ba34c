"""Pages that more visitors read than in the days before: which they are, and how the report's page shows them."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from docplatform.cli.output import count
from docplatform.cli.report.markup import bars, cell, section, table, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import date

    from docplatform import Totals

MAX_COMPARED = 20_000
"""How many pages are compared, which limits the memory that a range takes."""


class Rising(NamedTuple):
    """A page, and how many unique visitors it had before and has now."""

    path: str
    before: int
    now: int

    @property
    def gain(self) -> int:
        """How many more."""
        return self.now - self.before

    @property
    def growth(self) -> str:
        """The gain as a share of what was there before."""
        if not self.before:
            return "new"
        return f"+{self.gain / self.before:.0%}" if self.gain < 10 * self.before else ">999%"

    def stands_out(self) -> bool:
        """Whether it is more than two counts of the same would differ by chance: two standard deviations of theirs."""
        return self.gain > 0 and self.gain**2 > 4 * (self.before + self.now)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A range beside the one of the same length before it."""

    date_from: date
    """Where the range before begins."""
    date_to: date
    """Where it ends, and the range itself begins."""
    pages: int
    """How many pages had visitors in it."""
    totals: Totals | None
    """The site's visitors in it."""
    rows: Sequence[Rising]
    """The pages that gained most, the first one ahead."""
    whole: bool = True
    """Whether all pages were compared, and not the :data:`MAX_COMPARED` most read alone."""
    unfinished: bool = False
    """Whether the range itself had days to come."""

    @property
    def days(self) -> int:
        """How long each of the two is."""
        return (self.date_to - self.date_from).days


def risen(before: Mapping[str, int], now: Mapping[str, int], number: int) -> list[Rising]:
    """The ``number`` pages that gained most visitors."""
    pages = (Rising(path, before.get(path, 0), read) for path, read in now.items())
    return heapq.nsmallest(
        number, filter(Rising.stands_out, pages), key=lambda page: (-page.gain, -page.now, page.path)
    )


def show(found: Comparison, totals: Totals | None) -> str:
    """The section of the page; ``totals`` are those of the range itself."""
    return section(
        "Rising pages", "".join(f"<p>{line}</p>" for line in _notes(found, totals)) + _rows(found), "rising"
    )


def _notes(found: Comparison, totals: Totals | None) -> Iterator[str]:
    before = f"the {count(found.days, 'day')} before ({text(found.date_from)} up to, not including, {text(found.date_to)})"
    if not found.pages:
        yield f"There is nothing to compare with: no page had a visitor in {before}, or the service does not know of them."
        return
    yield (
        f"The pages that gained most unique visitors over {before}, by their number and not by their share, so that a few "
        "visitors more of a quiet page do not outweigh many of a busy one; what chance alone may bring is left out."
    )
    if totals is not None and found.totals is not None:
        change = f" ({totals.total / found.totals.total - 1:+,.0%})" if found.totals.total else ""
        yield f"The whole site had {found.totals.total:,} visitors then, and {totals.total:,} now{change}."
    if not found.whole:
        yield f"Compared were the {MAX_COMPARED:,} most read pages."
    if found.unfinished:
        yield "The range had not ended when this page was made: its pages had fewer days than those before, and show less of a gain."
    if not found.rows:
        yield "No page gained more than chance may bring."


def _rows(found: Comparison) -> str:
    if not found.rows:
        return ""
    most = max(page.now for page in found.rows)
    key = '<p class="quiet"><span class="key before">Before</span> <span class="key now">Now</span></p>'
    rows = [
        f'<th scope="row"><bdi>{text(page.path)}</bdi>{bars(("before", page.before), ("now", page.now), most)}</th>'
        + "".join(map(cell, (page.before, page.now, f"+{page.gain:,}", page.growth)))
        for page in found.rows
    ]
    new = "<p>“new”: nobody read it before.</p>" if any(not page.before for page in found.rows) else ""
    return key + table(("Page", "Before", "Now", "Gain", "Growth"), rows) + new
