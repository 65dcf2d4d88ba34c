"""A few sentences made from the numbers: what changed, on which pages, and what to do. No two of them name the same page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import quote

from docplatform._hooks.fix import plain
from docplatform._hooks.numbers import count, percent
from docplatform._hooks.paths import MACHINE
from docplatform.cli.report.parts import FORBIDDEN, Part
from docplatform.cli.report.words import part, signed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from docplatform import Totals
    from docplatform._hooks.numbers import Moved
    from docplatform.cli.report.figures import Change, Comparison, Report, Section


class PagePath(str):
    """A path in a sentence, marked so that a page can set it as one."""

    __slots__ = ()


class SectionPath(str):
    """The beginning of paths in a sentence. There may be no page with this path."""

    __slots__ = ()


class Strong(str):
    """Words that stand out in a sentence."""

    __slots__ = ()


class Command(str):
    """A command to copy, at the end of a sentence."""

    __slots__ = ()


class Phrase(str):
    """Words of a reader in a sentence. Nothing in them is obeyed, not even a mention such as ``@name``."""

    __slots__ = ()


Sentence = list[str]
"""The parts of a sentence: text, paths, and the other classes above."""
Render: TypeAlias = Callable[[Iterable[Any]], str]
"""Writes a sentence, or a cell of a table."""


def renderer(
    text: Callable[[Any], str],
    path: Callable[[str, str | None], str],
    site_url: str | None,
    safe: str,
    looks: Mapping[type, Callable[[Any], str]],
) -> Render:
    """Writes each part with the function of its class. Only pages are links. Their addresses keep the characters of ``safe``."""
    looks = {
        str: text,
        int: "{:,}".format,
        PagePath: lambda one: path(
            one,
            site_url
            and site_url + quote(f"/{one.removeprefix('/')}", safe=f"/%:@!$&'+,;=~{safe}", errors="replace"),
        ),
        SectionPath: lambda one: path(one, None),
        **looks,
    }
    return lambda parts: "".join(looks[type(part)](part) for part in parts)


READERS = {"human": "people", "ai": "AI agents", "total": "readers"}
"""The kinds of readers in a sentence."""
VISITS = {"human": "page visits by people", "ai": "page visits by AI agents", "total": "page visits"}
"""The words for a sum over pages of each kind."""
_NAMED = 3
"""How many pages or sections a sentence names."""
_DATED = re.compile(r"(?<!\d)20\d\d[-/_.]?(0[1-9]|1[0-2])(?!\d)")
"""A month or a day in a path, such as ``/changelog/2026-09``. Such a page is read less when its month is over."""


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
    said = f"The number of readers {readers.said}{readers.counted}: {ends}{readers.aside}."
    kinds = _both(people, agents)
    if found.parted(now):
        yield f"{kinds}. {said}"
        yield _agents(now)
    else:
        yield said
        yield f"{kinds}; {_agents(now)}"


def _both(people: Moved, agents: Moved) -> str:
    """How people and AI agents changed. If only one of the two changes is counted per day, the other says "in all". A plain
    change that was judged to be none is in brackets."""
    if people.per and people.per == agents.per:
        return f"People {people.said}, and AI agents {agents.said}, both counted per {people.per}"
    if people == agents:
        return f"People and AI agents {people.said}"
    in_all = " in all" if people.per or agents.per else ""
    said = [f"{one.said}{one.counted or one.aside or in_all}" for one in (people, agents)]
    return f"People {said[0]}, and AI agents {said[1]}"


def _where(report: Report) -> Iterator[Sentence]:
    found = report.comparison
    if Part.COMPARISON in report.left_out:
        yield [f"It is not known which pages changed, because {report.left_out[Part.COMPARISON]}."]
    if found is None or found.rows is None or not found.totals.total:
        return
    ways = ("rose",) if report.unfinished else ("fell", "rose")
    moved = {way: [one for one in found.sections if one.way == way and one.pages > 1] for way in ways}
    sides = {
        "more": sorted([*found.risers, *found.new], key=lambda one: (-one.gain, one.path)),
        "fewer": sorted([*found.fallers, *found.vanished], key=lambda one: (one.gain, one.path)),
    }
    if report.unfinished:
        del sides["fewer"]
    if any(moved.values()):
        yield [*_sections(found, moved, report.unfinished)]
    elif not report.unfinished:
        if not any(sides.values()) and not any(one.way for one in found.sections):
            yield [NOTHING]
        elif any(one.pages > 1 for one in found.sections):
            yield [
                "No section stands out: apart from single pages and the usual ups and downs, the change is the same everywhere."
            ]
    named = {part for one in advice(report) for part in one if isinstance(part, PagePath)}
    most = _NAMED
    for verb, pages in reversed(sides.items()) if report.fell else sides.items():
        shown = [one for one in pages if one.path not in named][:most]
        if shown:
            most, listed = 1, _listed(map(_page, shown))
            with_ = f"with {verb} {READERS[found.of]}"
            if len(pages) > len(shown):
                yield [f"{len(pages):,} pages stand out {with_}, among them ", *listed, "."]
            else:
                yield [*listed, f" {'stands' if len(shown) == 1 else 'stand'} out {with_}."]


NOTHING = (
    "The change is the same everywhere: no section and no page changed by more than chance, the growth of the site and its usual "
    "ups and downs explain."
)


def _sections(found: Comparison, moved: dict[str, list[Section]], unfinished: bool) -> Iterator[str]:
    """The sections that moved: ``Page visits fell in /api (-17%); in all other sections of several pages they rose by 4%``. Single
    pages that moved are named one by one.
    """
    yield capital(VISITS[found.of])
    told: list[Section] = []
    for way, sections in moved.items():
        if not sections:
            continue
        named: list[Sentence] = [
            [SectionPath(one.name), f" ({_as_many(percent(one.before, one.now))})"]
            for one in sections[:_NAMED]
        ]
        if more := len(sections[_NAMED:]):
            named.append([count(more, "other section")])
        yield f"{', and they' if told else ''} {way} in "
        yield from _listed(named)
        told += sections
    others = [one for one in found.sections if one.pages > 1 and one not in told]
    before, now = (sum(getattr(one, side) for one in others) for side in ("before", "now"))
    change = percent(before, now)
    if before and now and change != "0%" and (now > before or not unfinished):
        way = "rose" if now > before else "fell"
        by = f"to {_as_many(change)}" if change.endswith("times") else f"by {change[1:]}"
        yield f"; in all other sections of several pages they {way} {by}"
    yield "."


def _as_many(change: str) -> str:
    """``24 times as many`` for ``24 times``."""
    return f"{change} as many" if change.endswith("times") else change


def _listed(items: Iterable[Sentence]) -> Iterator[str]:
    """Items with commas between them, and a word before the last one."""
    *others, last = items
    for at, item in enumerate(others):
        yield from (", ", *item) if at else item
    yield from (" and ", *last) if others else last


def _page(page: Change) -> Sentence:
    """A page, and how many more readers it has."""
    # A page that AI agents read is not new because people read it now.
    way = ", new" if not any(page.before) else "" if any(page.now) else ", no longer read"
    return [PagePath(page.path), f" ({signed(page.gain)}{way})"]


def advice(report: Report) -> list[Sentence]:
    """Things to do. Each rests on a number of the report."""
    found = [[*_problem(row), Command(line)] for row, line in report.fixes[:_NAMED]]
    found = found or [[*one] for one in _changed(report)]
    if Part.FIXES in report.left_out:
        why = report.left_out[Part.FIXES]
        when = "when the key has that right" if why == FORBIDDEN else "later"
        how = [f"Write the report again {when}."]
        if Part.FIXES in report.more:
            line, cost = report.more[Part.FIXES]
            how = [f"To add it, run this command. It takes {cost}:", Command(line)]
        found.append([f"It is not shown what readers stumble over, because {why}. ", *how])
    # One command adds all parts, so the advice names it once.
    if Part.COMPARISON in report.more and Part.FIXES not in report.more:
        line, cost = report.more[Part.COMPARISON]
        found.append([f"To see which pages changed, run this command. It takes {cost}:", Command(line)])
    return found


def _problem(row: Mapping[str, Any]) -> Iterator[str]:
    if row["query"] is None:
        yield from (
            "Improve ",
            PagePath(row["path"]),
            f": {row['why']} Estimated readers: {row['readers']:,}.",
        )
    else:
        yield from ("Help readers who search for ", Phrase(plain(row["query"])), f": {row['why']}")
    if row["job"]:
        yield " The docs agent has a job for it already; the command shows what became of it."
    elif row["job_unknown"]:
        yield " It is unknown whether the docs agent has a job for it; the command says what to do."


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

    def to_look_at(pages: Iterable[Change]) -> list[Change]:
        if report.unfinished:
            return []
        return [one for one in pages if not (_DATED.search(one.path) or MACHINE.search(one.path))]

    fallers = to_look_at(found.fallers)
    # The home page was not moved.
    vanished = to_look_at(one for one in found.vanished if not any(one.now) and one.path != "/")
    for page in fallers[:1]:
        lost = count(-page.gain, "reader") if page.of == "total" else f"{-page.gain:,} {READERS[page.of]}"
        yield PagePath(page.path), f" lost {lost} ({percent(*page.counts)}): look at this page first."
    if vanished:
        shown = vanished[:_NAMED]
        more = len(vanished) - len(shown)
        alone = len(vanished) == 1
        yield (
            "Nobody reads ", *_listed([PagePath(one.path)] for one in shown),
            f" any more, nor {count(more, 'other page')}. " if more else " any more. ",
            "If it was moved, check its redirect." if alone else "If they were moved, check their redirects.",
        )  # fmt: skip
    known = {page.path for page in (*fallers[:1], *vanished)}
    for row in report.top_ai[:1]:
        # With nine of ten readers, agents are the readers of a page.
        if row["path"] in known or not 10 * row["ai"] >= 9 * row["total"] > 0:
            return
        yield (
            PagePath(row["path"]), f" is read by AI agents, and by hardly any people: {part(row['ai'], row['total'])} of its readers are agents.",
            " Agents do not report mistakes, so check that the page is up to date.",
        )  # fmt: skip


def nobody(report: Report) -> str:
    """Says that no readers were recorded, if that is so."""
    if report.pages or any(report.totals or ()):
        return ""
    return f"{capital(report.name)}: no readers were recorded."


def capital(words: str) -> str:
    """Words that begin a sentence."""
    return words[:1].upper() + words[1:]
