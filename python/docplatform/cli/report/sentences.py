"""What changed, and what to do about it, in a few sentences made from the numbers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from docplatform._hooks import changes
from docplatform.cli.output import count
from docplatform.cli.report.figures import share
from docplatform.cli.report.words import AI_TRAFFIC, part, percent, signed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from docplatform import Totals
    from docplatform.cli.report.figures import Change, Comparison, Report


class PagePath(str):
    """A path in a sentence, marked so that a page can set it as one."""

    __slots__ = ()


Sentence = list[str]
"""The parts of a sentence. Each path is a :class:`PagePath`."""

NOTHING = "No page changed by more than chance, the growth of the whole site and the usual ups and downs of its pages explain."
READERS = {"human": "people", "ai": "AI agents", "total": "readers"}
"""The kinds of readers in a sentence."""
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
        sentences = [[one] for one in _site(report.totals, found)]
    pages = [*_pages(report.totals, found, report.unfinished)]
    return [*sentences, pages] if any(pages) else sentences


def _kinds(totals: Totals) -> str:
    return f"{totals.human:,} people and {count(totals.ai, 'AI agent')}"


def _agents(totals: Totals) -> str:
    return f"{part(totals.ai, totals.total)} of all readers are AI agents."


def _site(now: Totals, found: Comparison) -> Iterator[str]:
    """How the site changed: people and AI agents first if one of them rose and the other did not."""
    before = found.totals
    # "in 5 May 2026" is no English.
    of_days = found.name[:1].isdigit() and " " in found.name
    when = f"({found.name})" if of_days else f"in {found.name}"
    ends = f"from {before.total:,} {when} to {now.total:,}"
    people, agents, readers = (found.moved(kind, now) for kind in READERS)
    kinds = f"People {people.said}, and AI agents {agents.said}"
    if found.parted(now):
        yield f"{kinds}. Readers in all: {percent(before.total, now.total)}, {ends}."
        yield _agents(now)
        return
    more = f" ({readers.more})" if readers.more else ""
    yield f"The number of readers {readers.said}{f', counted per {readers.per}' if readers.per else ''}: {ends}{more}."
    yield f"{kinds}; {_agents(now)[0].lower()}{_agents(now)[1:]}"


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
        yield from _most(lost, f"lost the most {READERS[found.of]}")
        yield from _most(gained[:1], "gained the most", " ")
    else:
        yield from _most(gained, f"gained the most {READERS[found.of]}")
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
        before_, now = page.counts
        why = ", new" if not before_ else ", gone" if not now else ""
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
            f" first: it lost {_readers_of(page)} ({percent(*page.counts)}).",
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
            f" gained {_readers_of(page)}, so it is a good page to improve next.",
        ]


def _readers_of(page: Change) -> str:
    number = abs(page.gain)
    return count(number, "reader") if page.of == "total" else f"{number:,} {READERS[page.of]}"


def _paths(pages: Sequence[Change]) -> Iterator[str]:
    for at, page in enumerate(pages):
        if at:
            yield ", "
        yield PagePath(page.path)


def chance(found: Comparison) -> str:
    """Which changes are listed, and of whom."""
    counted = "" if found.of == "total" else f" The counts are of {READERS[found.of]}."
    return f"{changes.CHANCE}{counted}"


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
    if report.totals is not None and any(found.moved(kind, report.totals).per for kind in READERS):
        yield "Changes are counted per day or per working day where that explains a part of them."


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
