"""A few sentences made from the numbers: what changed, on which pages, and what to do. No two of them name the same page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from docplatform._hooks import changes
from docplatform._hooks.fix import plain
from docplatform.cli.output import count
from docplatform.cli.report.figures import SECTIONS_SHOWN, share
from docplatform.cli.report.parts import Part
from docplatform.cli.report.words import AI_TRAFFIC, part, percent, signed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from docplatform import Totals
    from docplatform._hooks.numbers import Moved
    from docplatform.cli.report.figures import Change, Comparison, Report, Section


class PagePath(str):
    """A path in a sentence, marked so that a page can set it as one."""

    __slots__ = ()


class SectionPath(str):
    """The beginning of paths in a sentence. There may be no page with this path."""

    __slots__ = ()


Sentence = list[str]
"""The parts of a sentence. Each path is a :class:`PagePath` or a :class:`SectionPath`."""


class Advice(NamedTuple):
    """One thing to do."""

    said: Sentence
    command: str = ""
    """A command to copy that does it."""

    @property
    def pages(self) -> set[str]:
        """The pages that it names."""
        return {one for one in self.said if isinstance(one, PagePath)}


READERS = {"human": "people", "ai": "AI agents", "total": "readers"}
"""The kinds of readers in a sentence."""
VISITS = {"human": "page visits by people", "ai": "page visits by AI agents", "total": "page visits"}
"""The words for a sum over pages of each kind."""
_NAMED = 3
"""How many pages or sections a sentence names."""
_DATED = re.compile(r"(?<!\d)20\d\d[-/_.]?(0[1-9]|1[0-2])(?!\d)")
"""A month or a day in a path, such as ``/changelog/2026-09``. Such a page is read less when its month is over."""
_MOSTLY_AI = 0.9
"""The least share of AI agents of a page that hardly any people read."""


def summary(report: Report) -> list[Sentence]:
    """Says how the number of readers changed, and where. Pages that :func:`advice` names are left out. A period that is not over is
    never said to fall."""
    if report.totals is None or not report.totals.total:
        return []
    found = report.comparison
    readers = count(report.totals.total, "reader")
    so_far = capital(report.name) + (
        f" is not over: {readers} so far" if report.unfinished else f": {readers}"
    )
    said: list[str]
    if found is None or not found.totals.total:
        said = [f"{so_far}, {_kinds(report.totals)}.", _agents(report.totals)]
    elif report.unfinished:
        kinds = f"These are {_kinds(report.totals)}. {_agents(report.totals)}"
        said = [f"{so_far}; {found.name} had {found.totals.total:,}.", kinds]
    else:
        said = [*_site(report, report.totals, found)]
    return [*([one] for one in said), *_where(report)]


def _kinds(totals: Totals) -> str:
    return f"{totals.human:,} people and {count(totals.ai, 'AI agent')}"


def _agents(totals: Totals) -> str:
    return f"{part(totals.ai, totals.total)} of all readers are AI agents."


def _site(report: Report, now: Totals, found: Comparison) -> Iterator[str]:
    """How the site changed: people and AI agents first if one of them rose and the other did not."""
    before = found.totals
    # "in 5 May 2026" is no English.
    of_days = found.name[:1].isdigit() and " " in found.name
    when, ends = (f"({found.name})" if of_days else f"in {found.name}"), f"{now.total:,}"
    if report.days != found.days:
        when += f" ({count(found.days, 'day')})"
        ends += f" in {count(report.days, 'day')}"
    ends = f"from {before.total:,} {when} to {ends}"
    people, agents, readers = (found.moved(kind, now) for kind in READERS)
    kinds = _both(people, agents)
    if found.parted(now):
        yield f"{kinds}. All readers: {percent(before.total, now.total)}, {ends}."
        yield _agents(now)
        return
    more = f" ({readers.more})" if readers.more else ""
    yield f"The number of readers {readers.said}{f', counted per {readers.per}' if readers.per else ''}: {ends}{more}."
    yield f"{kinds}; {_agents(now)[0].lower()}{_agents(now)[1:]}"


def _both(people: Moved, agents: Moved) -> str:
    """How people and AI agents changed. If only one of the two changes is counted per day, the other says "in all"."""
    if people.per and people.per == agents.per:
        return f"People {people.said}, and AI agents {agents.said}, both counted per {people.per}"
    if people.said == agents.said == "hardly changed":
        return "People and AI agents hardly changed"
    in_all = " in all" if people.per or agents.per else ""
    said = [
        f"{one.said}, counted per {one.per}" if one.per else f"{one.said}{in_all if one.by else ''}"
        for one in (people, agents)
    ]
    return f"People {said[0]}, and AI agents {said[1]}"


def _where(report: Report) -> Iterator[Sentence]:
    found = report.comparison
    if Part.COMPARISON in report.left_out:
        yield [f"It is not known which pages changed, because {report.left_out[Part.COMPARISON]}."]
    if found is None or found.rows is None or not found.totals.total:
        return
    ways = ("rose",) if report.unfinished else ("fell", "rose")
    moved = {way: [one for one in found.sections if one.way == way and one.pages > 1] for way in ways}
    if any(moved.values()):
        yield [*_sections(found, moved)]
    sides = {
        "more": sorted([*found.risers, *found.new], key=lambda one: (-one.gain, one.path)),
        "fewer": sorted([*found.fallers, *found.vanished], key=lambda one: (one.gain, one.path)),
    }
    if report.unfinished:
        del sides["fewer"]
    if not any(moved.values()) and not any(sides.values()) and not report.unfinished:
        yield [NOTHING]
    named = {page for one in advice(report) for page in one.pages}
    most, fell = _NAMED, report.fell
    for verb, pages in reversed(sides.items()) if fell else sides.items():
        shown = [one for one in pages if one.path not in named][:most]
        if shown:
            most = 1
            with_ = f"with {verb} {READERS[found.of]}"
            if len(pages) > len(shown):
                yield [f"{len(pages):,} pages stand out {with_}, among them ", *_paths(shown), "."]
            else:
                yield [*_paths(shown), f" {'stands' if len(shown) == 1 else 'stand'} out {with_}."]


NOTHING = (
    "No section and no page changed by more than chance and the usual ups and downs of the site explain."
)


def _sections(found: Comparison, moved: dict[str, list[Section]]) -> Iterator[str]:
    """The sections that moved: ``Page visits fell in /api (-17%); on all other pages they rose by 4%``."""
    yield capital(VISITS[found.of])
    named: list[Section] = []
    for way, sections in moved.items():
        shown = sections[:_NAMED]
        yield f"{', and they' if named and shown else ''} {way} in " if shown else ""
        for at, one in enumerate(shown):
            yield _joint(at, shown)
            yield SectionPath(one.name)
            yield f" ({_as_many(percent(one.before, one.now))})"
        named += shown
    before, now = (
        sum(getattr(one, side) for one in found.sections if one not in named) for side in ("before", "now")
    )
    change = percent(before, now)
    if before and now and change != "0%":
        way = "rose" if now > before else "fell"
        by = f"to {_as_many(change)}" if change.endswith("times") else f"by {change[1:]}"
        yield f"; on all other pages they {way} {by}"
    yield "."


def _as_many(change: str) -> str:
    """``24 times as many`` for ``24 times``."""
    return f"{change} as many" if change.endswith("times") else change


def _joint(at: int, listed: Sequence[object]) -> str:
    """The comma or the word before an item of a list."""
    return "" if not at else " and " if at == len(listed) - 1 else ", "


def _paths(pages: Sequence[Change]) -> Iterator[str]:
    for at, page in enumerate(pages):
        yield _joint(at, pages)
        yield PagePath(page.path)
        # A page that AI agents read is not new because people read it now.
        was, is_ = any(page.before), any(page.now)
        yield f" ({signed(page.gain)}{', new' if not was else '' if is_ else ', no longer read'})"


def advice(report: Report) -> list[Advice]:
    """Things to do. Each rests on a number of the report."""
    found = [Advice([*_problem(row)], command) for row, command in report.fixes[:_NAMED]]
    found = found or [Advice([*one]) for one in _changed(report)]
    if Part.FIXES in report.left_out:
        command, cost = report.more.get(Part.FIXES, ("", ""))
        how = f"To add it, run this command. It takes {cost}:" if command else "Write the report again later."
        why = report.left_out[Part.FIXES]
        found.append(Advice([f"It is not shown what readers stumble over, because {why}. {how}"], command))
    if Part.COMPARISON in report.more:
        command, cost = report.more[Part.COMPARISON]
        found.append(Advice([f"To see which pages changed, run this command. It takes {cost}:"], command))
    return found


COMMANDS = (
    "Each command “docplatform fix” hands its task to the docs agent, which opens a pull request for review."
)


def _problem(row: Mapping[str, Any]) -> Iterator[str]:
    if row["query"] is None:
        yield from (
            "Improve ",
            PagePath(row["path"]),
            f": {row['why']} Estimated readers: {row['readers']:,}.",
        )
    else:
        yield f"Help readers who search for “{plain(row['query'])}”: {row['why']}"
    if row["job"]:
        yield " The docs agent has a job for it already; the command shows its pull request."


def _changed(report: Report) -> Iterator[Iterable[str]]:
    """Pages to look at, if pages or sections changed significantly."""
    found = report.comparison
    if found is None or not (
        found.risers
        or found.fallers
        or found.new
        or found.vanished
        or any(one.way for one in found.sections if one.pages > 1)
    ):
        return
    fallers, vanished = (
        [one for one in pages if not _DATED.search(one.path) and not report.unfinished]
        for pages in (found.fallers, [one for one in found.vanished if not any(one.now)])
    )
    for page in fallers[:1]:
        lost = count(-page.gain, "reader") if page.of == "total" else f"{-page.gain:,} {READERS[page.of]}"
        yield PagePath(page.path), f" lost {lost} ({percent(*page.counts)}): look at this page first."
    if vanished:
        shown = vanished[:_NAMED]
        more = len(vanished) - len(shown)
        alone = len(vanished) == 1
        yield (
            "Nobody reads ", *(word for at, one in enumerate(shown) for word in (_joint(at, shown), PagePath(one.path))),
            f" any more, nor {count(more, 'other page')}. " if more else " any more. ",
            "If it was moved, check its redirect." if alone else "If they were moved, check their redirects.",
        )  # fmt: skip
    known = {page.path for page in (*fallers[:1], *vanished)}
    for row in (row for row in report.top_ai[:1] if share(row) >= _MOSTLY_AI and row["path"] not in known):
        yield (
            PagePath(row["path"]), f" is read by AI agents, and by hardly any people: {part(row['ai'], row['total'])} of its readers are agents.",
            " Agents do not report mistakes, so check that the page is up to date.",
        )  # fmt: skip


def visits(report: Report) -> str:
    """The unit of the table of sections."""
    found = report.comparison
    kind = VISITS[found.of if found is not None and found.rows else "total"]
    return f"{capital(kind)}, added up by the first part of the path: a visitor of three pages counts three times."


def sections(report: Report) -> tuple[Sequence[str], list[tuple[str, ...]]]:
    """The columns and the rows of the table of sections: those that moved first, or those that are read most."""
    found = report.comparison
    if found is not None and found.rows:
        columns: Sequence[str] = ("Section", "Pages", "Before", "Now", "Change")
        rows: list[tuple[str, ...]] = [
            (one.name, f"{one.pages:,}", f"{one.before:,}", f"{one.now:,}", percent(one.before, one.now))
            for one in found.sections
        ]
    else:
        columns = ("Section", "Pages", "Visits", "AI share")
        read = sorted(report.sections.items(), key=lambda one: (-one[1].total, one[0]))
        rows = [(name, f"{one.pages:,}", f"{one.total:,}", part(one.ai, one.total)) for name, one in read]
    return columns, rows[:SECTIONS_SHOWN]


def new_and_gone(report: Report) -> Iterator[tuple[str, str, list[tuple[str, int]]]]:
    """The pages that have readers of the listed kind for the first time, and those that have none any more: title, column, counts."""
    found = report.comparison
    if found is None:
        return
    kind = READERS[found.of]
    # The other kind may still read these pages, so they are not called new or vanished.
    new, gone = f"First read by {kind}", f"No longer read by {kind}"
    if found.of == "total":
        new, gone = "New pages", "Vanished pages"
    for title, column, pages, at in (
        (new, capital(kind), found.new, 1),
        (gone, f"{capital(kind)} before", found.vanished, 0),
    ):
        if pages:
            counts = [(one.path, one.counts[at]) for one in pages[: report.number]]
            yield f"{title} ({len(pages):,})", column, counts


def chance(found: Comparison) -> str:
    """Why these changes are listed, and whose they are."""
    counted = "" if found.of == "total" else f" The counts are of {READERS[found.of]}."
    return f"{changes.CHANCE}{counted}"


def notes(report: Report) -> Iterator[str]:
    """Caveats of the comparison."""
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
    if (
        report.totals is not None
        and not report.unfinished
        and any(found.moved(kind, report.totals).per for kind in READERS)
    ):
        yield (
            "In the tables, each change is the one from total to total. Elsewhere, changes are counted per day or per working day where that "
            "explains a part of them."
        )


def trend_notes(report: Report) -> Iterator[str]:
    """Caveats of the trend."""
    trend = report.trend
    if trend is None:
        return
    yield (
        f"Each point is the number of unique visitors in one {trend.every}. Points do not add up: a visitor who comes in two "
        f"{trend.every}s counts in both."
    )
    if trend.period is not None:
        yield f"The {trend.every} of this report is shaded."
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
