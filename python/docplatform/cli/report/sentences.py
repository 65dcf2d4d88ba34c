"""What changed, and what to do about it, in a few sentences made from the numbers."""

from __future__ import annotations

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
"""Its parts; those that are a :class:`PagePath` are paths."""

NOTHING = "No page changed more than chance may bring, none is new, and none vanished."
_NAMED = 3
"""How many pages a sentence names."""
_SEEN = 0.9
"""From which share on a page is said to be read by one kind of readers alone."""


def summary(report: Report) -> list[Sentence]:
    """Two or three sentences: whether readers grew, who they are, and which pages made it so."""
    if report.totals is None or not report.totals.total:
        return []
    found = report.comparison
    if found is None or not found.totals.total:
        return [
            [f"{count(report.totals.total, 'reader')} came in {report.name}: {_kinds(report.totals)}."],
            [_agents(report.totals)],
        ]
    sentences: list[Sentence] = [[_readers(report.totals, found)], [_by_kind(report.totals, found.totals)]]
    pages = [*_pages(report.totals, found)]
    if pages:
        sentences.append(pages)
    return sentences


def _kinds(totals: Totals) -> str:
    return f"{totals.human:,} were people, {totals.ai:,} AI agents"


def _agents(totals: Totals) -> str:
    return f"{part(totals.ai, totals.total)} of all readers are AI agents."


def _readers(now: Totals, found: Comparison) -> str:
    before = found.totals
    if not _is_significant(before.total, now.total):
        return f"Readers are about as many as in {found.name}: {now.total:,}, after {before.total:,}."
    return f"Readers {_moved(before.total, now.total)} against {found.name}: {now.total:,}, after {before.total:,}."


def _moved(before: int, now: int) -> str:
    if now == before:
        return "stayed the same"
    change = percent(before, now)
    if change == "0%":
        return "hardly changed"
    if change == "new":
        return "are new"
    if change.endswith("times"):
        return f"rose to {change} as many"
    return f"{'rose' if now > before else 'fell'} {change.lstrip('+' + MINUS)}"


def _by_kind(now: Totals, before: Totals) -> str:
    return f"People {_moved(before.human, now.human)}, AI agents {_moved(before.ai, now.ai)}; {_agents(now)[0].lower()}{_agents(now)[1:]}"


def _pages(now: Totals, found: Comparison) -> Iterator[str]:
    if found.pages is None:
        return
    gained = sorted([*found.risers, *found.new], key=lambda one: (-one.gain, one.path))[:_NAMED]
    lost = sorted([*found.fallers, *found.vanished], key=lambda one: (one.gain, one.path))[:_NAMED]
    if now.total < found.totals.total:
        # Where it fell comes first, and whole.
        yield from _most(lost, "lost most")
        yield from _most(gained[:1], "gained most", " ")
    else:
        yield from _most(gained, "gained most")
        yield from _most(lost[:1], "lost most", " ")
    came = [f"{count(found.new_pages, 'page')} new"] if found.new_pages else []
    gone = [f"{count(found.vanished_pages, 'page')} vanished"] if found.vanished_pages else []
    if came or gone:
        yield f" {' and '.join([*came, *gone])}."


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
    """What to look at, each from a number of the report."""
    found = report.comparison
    if found is not None and found.fallers:
        page = found.fallers[0]
        yield [
            "Look at ",
            PagePath(page.path),
            f" first: it lost {_readers_of(-page.gain)} ({percent(page.before.total, page.now.total)}).",
            " Was it moved, or is a link to it gone?",
        ]
    if found is not None and found.vanished:
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
            f" and people hardly do: {part(alone['ai'], alone['human'] + alone['ai'])} of its readers are agents.",
            " They report no errors, so check that it is up to date.",
        ]
    if found is not None and found.risers:
        page = found.risers[0]
        yield [
            "More readers depend on ",
            PagePath(page.path),
            f", which gained {_readers_of(page.gain)}: a good page to improve next.",
        ]


def _readers_of(number: int) -> str:
    return count(number, "reader")


def _paths(pages: Sequence[Change]) -> Iterator[str]:
    for at, page in enumerate(pages):
        if at:
            yield ", "
        yield PagePath(page.path)


def notes(report: Report) -> Iterator[str]:
    """What to know about the comparison."""
    found = report.comparison
    if found is None:
        return
    if not found.totals.total:
        yield f"There is nothing to compare with: nobody came in {found.name}, or the service does not know of it."
    if report.days is not None and report.days != found.days:
        yield f"{_capital(report.name)} has {count(report.days, 'day')}, {found.name} has {found.days:,}."
    if report.unfinished:
        yield "The period had not ended when this was made: it has fewer days than the one before it, and shows less."


def trend_notes(report: Report) -> Iterator[str]:
    """What to know about the trend."""
    trend = report.trend
    if trend is None:
        return
    whole = f": the whole period has {report.totals.total:,}" if report.totals is not None else ""
    yield (
        f"Each point is the unique visitors of one {trend.every}. They do not add up{whole}. A visitor of two {trend.every}s is in "
        "both, and once in the period."
    )
    if any(map(trend.cut, trend.slices)):
        yield (
            f"The period begins or ends in the middle of a {trend.every}: a hollow point has fewer days than the others, is lower for "
            "that reason, and is not on the line."
        )
    if trend.open_from is not None:
        yield f"From {trend.open_from} on the counts may still change."
    yield AI_TRAFFIC


READING = (
    "All counts are unique visitors: a visitor who comes back is counted once.",
    "They do not add up.",
    "Not over pages: a visitor of two pages is in both rows, and once in the site's total.",
    "Not over days: a visitor of two days of the trend is in both, and the months of a year together are more than the year.",
    "Not over kinds: a visitor who was seen both as a person and as an AI agent is in both, and once in “All”.",
    "The counts are approximate, and those of the last days may still change.",
)
"""How the numbers are to be read."""


def checks(report: Report) -> list[str]:
    """What to check where there are no visitors."""
    return [
        f"Is the project right? It is {report.project}.",
        f"Was the site public in {report.name}, and did its pages have visitors then? Try an earlier period, such as the month before.",
        "Does the service count visitors of this site? Its dashboard says so.",
        "Does the API key belong to this project? The command docplatform doctor checks key, address and project.",
    ]


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
