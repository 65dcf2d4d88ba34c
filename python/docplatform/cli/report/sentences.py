"""What changed, and what to do about it, in a few sentences made from the numbers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from docplatform._native import _is_significant
from docplatform.cli.output import count
from docplatform.cli.report.figures import share
from docplatform.cli.report.words import AI_TRAFFIC, MINUS, part, percent, signed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from docplatform import Totals
    from docplatform.cli.report.figures import Change, Comparison, Report


class PagePath(str):
    """A path in a sentence, marked so that a page can set it as one."""

    __slots__ = ()


Sentence = list[str]
"""The parts of a sentence. Each path is a :class:`PagePath`."""

NOTHING = "No page changed by more than chance can explain. No page is new, and none has vanished."
_NAMED = 3
"""How many pages a sentence names."""
_DATED = re.compile(r"(?<!\d)20\d\d[-/_.]?(0[1-9]|1[0-2])(?!\d)")
"""A month or a day in a path, such as ``/changelog/2026-09``."""
_SEEN = 0.9
"""The share of AI agents from which the advice says that hardly any people read a page."""


def summary(report: Report) -> list[Sentence]:
    """Two or three sentences: how the number of readers changed, who they are, and which pages changed most. A period that is not
    over is not said to fall."""
    if report.totals is None or not report.totals.total:
        return []
    found = report.comparison
    readers = count(report.totals.total, "reader")
    so_far = capital(report.name) + (
        f" is not over: {readers} so far" if report.unfinished else f": {readers}"
    )
    if found is None or not found.totals.total:
        return [[f"{so_far}, {_kinds(report.totals)}."], [_agents(report.totals)]]
    if report.unfinished:
        sentences: list[Sentence] = [
            [f"{so_far}; {found.name} had {found.totals.total:,}."],
            [f"These are {_kinds(report.totals)}. {_agents(report.totals)}"],
        ]
    else:
        sentences = [[_readers(report.totals, found)], [_by_kind(report.totals, found.totals)]]
    pages = [*_pages(report.totals, found, report.unfinished)]
    return [*sentences, pages] if any(pages) else sentences


def _kinds(totals: Totals) -> str:
    return f"{totals.human:,} people and {count(totals.ai, 'AI agent')}"


def _agents(totals: Totals) -> str:
    return f"{part(totals.ai, totals.total)} of all readers are AI agents."


def _readers(now: Totals, found: Comparison) -> str:
    before = found.totals
    change = percent(before.total, now.total)
    if change == "0%" or not _is_significant(before.total, now.total):
        moved = "hardly changed"
    elif change.endswith("times"):
        moved = f"grew to {change} as many"
    else:
        moved = f"{'rose' if now.total > before.total else 'fell'} by {change.lstrip('+' + MINUS)}"
    # "in 5 May 2026" is no English.
    of_days = found.name[:1].isdigit() and " " in found.name
    when = f"({found.name})" if of_days else f"in {found.name}"
    return f"The number of readers {moved}: from {before.total:,} {when} to {now.total:,}."


def _by_kind(now: Totals, before: Totals) -> str:
    people, agents = _than(before.human, now.human, "people"), _than(before.ai, now.ai, "AI agents")
    return f"There were {people} and {agents}; {_agents(now)[0].lower()}{_agents(now)[1:]}"


def _than(before: int, now: int, kind: str) -> str:
    """Compares one kind of readers with the period before: ``14% more people``."""
    if now == before:
        return f"as many {kind}"
    if not now:
        return f"no {kind}"
    change = percent(before, now)
    if change == "new":
        return f"{kind} for the first time"
    if change == "0%" or not _is_significant(before, now):
        return f"about as many {kind}"
    if change.endswith("times"):
        return f"{change} as many {kind}"
    return f"{change.lstrip('+' + MINUS)} {'more' if now > before else 'fewer'} {kind}"


def _pages(now: Totals, found: Comparison, unfinished: bool) -> Iterator[str]:
    if found.rows is None:
        return
    gained = sorted([*found.risers, *found.new], key=lambda one: (-one.gain, one.path))[:_NAMED]
    lost = sorted([*found.fallers, *found.vanished], key=lambda one: (one.gain, one.path))[:_NAMED]
    vanished_pages = found.vanished_pages
    if unfinished:
        # Nearly every page has fewer readers than it will have.
        lost, vanished_pages = [], 0
    if now.total < found.totals.total and not unfinished:
        # A site that lost readers wants to know first where.
        yield from _most(lost, "lost the most readers")
        yield from _most(gained[:1], "gained the most", " ")
    else:
        yield from _most(gained, "gained the most readers")
        yield from _most(lost[:1], "lost the most", " ")
    came = (
        [f"{count(found.new_pages, 'page')} {_verb(found.new_pages, 'is', 'are')} new"]
        if found.new_pages
        else []
    )
    gone = (
        [f"{count(vanished_pages, 'page')} {_verb(vanished_pages, 'has', 'have')} vanished"]
        if vanished_pages
        else []
    )
    if came or gone:
        yield f" {', and '.join([*came, *gone])}."


def _verb(number: int, one: str, many: str) -> str:
    return one if number == 1 else many


def _most(pages: list[Change], verb: str, before: str = "") -> Iterator[str]:
    yield before if pages else ""
    for at, page in enumerate(pages):
        yield "" if not at else " and " if at == len(pages) - 1 else ", "
        yield PagePath(page.path)
        why = ", new" if not page.before.total else ", gone" if not page.now.total else ""
        yield f" ({signed(page.gain)}{why})"
    if pages:
        yield f" {verb}."


def advice(report: Report) -> Iterator[Sentence]:
    """What to look at. Each advice follows from a number of the report."""
    found = report.comparison
    if found is not None and found.fallers and not report.unfinished:
        # What is of a month or a day is read less when that is over.
        page = next((one for one in found.fallers if not _DATED.search(one.path)), found.fallers[0])
        yield [
            "Look at ",
            PagePath(page.path),
            f" first: it lost {_readers_of(-page.gain)} ({percent(page.before.total, page.now.total)}).",
            " Was it moved, or was a link to it removed?",
        ]
    if found is not None and found.vanished and not report.unfinished:
        pages = found.vanished[:_NAMED]
        more = found.vanished_pages - len(pages)
        yield [
            f"Nobody reads {'this page' if found.vanished_pages == 1 else 'these pages'} any more: ",
            *_paths(pages),
            f" and {more:,} more" if more else "",
            ". If it was moved, check its redirect."
            if found.vanished_pages == 1
            else ". If they were moved, check their redirects.",
        ]
    alone = next((row for row in report.top_ai if share(row) >= _SEEN), None)
    if alone is not None:
        yield [
            "AI agents read ",
            PagePath(alone["path"]),
            f", but hardly any people do: {part(alone['ai'], alone['total'])} of its readers are agents.",
            " Agents do not report mistakes, so check that the page is up to date.",
        ]
    if found is not None and found.risers:
        page = found.risers[0]
        yield [
            PagePath(page.path),
            f" gained {_readers_of(page.gain)}, so it is a good page to improve next.",
        ]


def _readers_of(number: int) -> str:
    return count(number, "reader")


def _paths(pages: Sequence[Change]) -> Iterator[str]:
    for at, page in enumerate(pages):
        if at:
            yield ", "
        yield PagePath(page.path)


def notes(report: Report) -> Iterator[str]:
    """What the reader must know to judge the comparison."""
    found = report.comparison
    late = "had not ended when this report was made, so its numbers are lower than those of the whole period"
    if report.unfinished:
        yield f"{capital(report.name)} {late}. A page may seem to fall or to vanish for that reason alone."
    if found is None:
        return
    if found.unfinished:
        yield f"{capital(found.name)} {late}."
    if not found.totals.total:
        yield f"There is nothing to compare with: the service has no visitors of {found.name}."
    if report.days is not None and report.days != found.days:
        yield f"{capital(report.name)} has {count(report.days, 'day')}, {found.name} has {found.days:,}."


def trend_notes(report: Report) -> Iterator[str]:
    """What the reader must know to judge the trend."""
    trend = report.trend
    if trend is None:
        return
    whole = f" to the period's {report.totals.total:,}" if report.totals is not None else ""
    yield (
        f"Each point is the number of unique visitors in one {trend.every}. Points do not add up{whole}: "
        f"a visitor who comes in two {trend.every}s counts in both, but only once in the period."
    )
    why = ""
    if any(map(trend.cut, trend.slices)):
        why = f"The period begins or ends in the middle of a {trend.every}. "
    if any(map(trend.is_running, trend.slices)):
        why += f"The last {trend.every} was not over when this report was made. "
    if why:
        yield f"{why}A hollow point covers less time, so it is lower, and the line leaves it out."
    if trend.open_from is not None:
        yield f"Counts from {trend.open_from} on may still change."
    yield AI_TRAFFIC


READING = (
    "All counts are unique visitors: a visitor who comes back is counted once, so they do not add up.",
    "Pages: a visitor who reads two pages counts for both, but only once in the site's total.",
    "Days: a visitor who comes on two days counts on both, so the months of a year add up to more than the year.",
    "Kinds: a visitor seen both as a person and as an AI agent counts as both, but only once in “All”.",
    "The counts are approximate, and those of the last days may still change.",
)
"""How to read the numbers."""


def checks(report: Report) -> list[str]:
    """What to check if there are no visitors."""
    return [
        f"Is this the right project? The report is about {report.project}.",
        "Was the site public then, and did it have visitors? Try another period, such as the month before.",
        "Does the service count this site's visitors? Its dashboard shows whether it does.",
        "Does the API key belong to this project? The command docplatform doctor checks key, address and project.",
    ]


def capital(words: str) -> str:
    """Words that begin a sentence."""
    return words[:1].upper() + words[1:]
