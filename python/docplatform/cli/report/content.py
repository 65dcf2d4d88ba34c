"""The contents of a report: its sections in the order of reading, each a list of blocks. A renderer only knows how each block looks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import docplatform
from docplatform._hooks.changes import CHANCE
from docplatform._hooks.numbers import percent, share
from docplatform.cli.output import count
from docplatform.cli.report.figures import OTHER, SECTIONS_SHOWN
from docplatform.cli.report.parts import Part
from docplatform.cli.report.sentences import (
    READERS,
    VISITS,
    Command,
    PagePath,
    SectionPath,
    Sentence,
    Strong,
    advice,
    capital,
    nobody,
    summary,
)
from docplatform.cli.report.words import AI_TRAFFIC, part, signed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from docplatform import Totals
    from docplatform.cli.report.figures import Comparison, Report, Trend

KINDS = {"human": "People", "ai": "AI agents", "total": "All"}
"""The kinds of visitors, and their names in a table."""
TWO_KINDS = {"human": "People", "ai": "AI agents"}
"""The kinds that bars and lines show."""


class Paragraph(NamedTuple):
    """A paragraph."""

    said: Sentence
    quiet: bool = False


class Headline(list[Sentence]):
    """Sentences, the most important first."""


class Points(list[Sentence]):
    """A list."""


class Table(NamedTuple):
    """A table. The first column has names and paths, the others have numbers. A tuple has a share. A last column ``%`` belongs to the one before it."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    title: str = ""


class Tables(NamedTuple):
    """A table without a title, or tables side by side."""

    tables: Sequence[Table]
    key: Mapping[str, str] = {}
    """The names of the first two numbers of each row, if bars show them, by their looks."""


class Tiles(NamedTuple):
    """The totals, each in a tile."""

    tables: Sequence[Table]
    """The same as a table, for Markdown."""
    totals: Totals
    changes: Sequence[tuple[str, str, str]]
    """The direction of each change, the change, and where it started."""


class Chart(NamedTuple):
    """A trend as a picture, with notes, and its numbers."""

    tables: Sequence[Table]
    trend: Trend
    notes: Sequence[str]


Block: TypeAlias = Paragraph | Headline | Points | Tables | Tiles | Chart


class Section(NamedTuple):
    """A section."""

    title: str
    kind: str | None
    """Its look. ``None``: its blocks stand alone."""
    blocks: Sequence[Block]


def content(report: Report) -> Iterator[Section]:
    """The sections of a report. Those without blocks are not shown."""
    if said := nobody(report):
        checks = (
            f"Is this the right project? The report is about {report.project}.",
            "Was the site public then, and did it have visitors? Try another period, such as the month before.",
            "Does the service count this site's visitors? Its dashboard shows whether it does.",
            "Does the API key belong to this project? The command docplatform doctor checks key, address and project.",
        )
        yield Section("", "", [Paragraph([Strong(said), " What to check:"]), Points([one] for one in checks)])
    else:
        yield from _answers(report)
    yield Section("How to read these numbers", "", [Paragraph([READING])])


def _answers(report: Report) -> Iterator[Section]:
    yield Section("", "summary", [Headline(summary(report))])
    to_do = Points(advice(report))
    commands = [Paragraph([COMMANDS], quiet=True)] if report.fixes else []
    yield Section("What to do", "advice", [to_do, *commands] if to_do else [])
    if report.totals is not None:
        both = "Unique visitors of the whole site. A visitor seen both as a person and as an AI agent counts as both, but only once in “All”."
        tiles = _tiles(report, report.totals, "The readers" if to_do else "")
        yield Section("", "", [tiles, Paragraph([both])])
    yield Section("", None, [Paragraph([note], quiet=True) for note in _notes(report)])
    if report.comparison is not None:
        yield _changes(report, report.comparison)
    yield _sections(report)
    yield from _trend(report)
    pages = [(PagePath(row["path"]), *(row[kind] for kind in KINDS)) for row in report.top]
    top = Tables([Table(("Page", *KINDS.values()), pages)], TWO_KINDS)
    yield Section("The most read pages", "top", [top] if pages else [])
    shares = [
        Table(
            ("Page", "People", "AI agents", "AI share"),
            [
                (PagePath(row["path"]), row["human"], row["ai"], (part(row["ai"], row["total"]),))
                for row in rows
            ],
            title,
        )
        for title, rows in (("Read by AI agents", report.top_ai), ("Read by people", report.top_human))
        if rows
    ]
    said = (
        "Pages where the share of AI agents is higher or lower than on the whole site, by more than chance can explain. "
        "Pages with few readers rank lower, because their share is less certain. Files for machines, such as /llms.txt, are left out."
    )
    yield Section(
        "What AI agents prefer, and what people prefer",
        "shares",
        [Paragraph([said]), Tables(shares)] if shares else [],
    )


def _tiles(report: Report, totals: Totals, title: str) -> Tiles:
    found = report.comparison
    if found is None or not found.totals.total:
        rows = [*zip(KINDS.values(), totals, strict=True)]
        return Tiles([Table(("Readers", report.name), rows, title)], totals, [])
    changed, changes = [], []
    for kind, before, now in zip(KINDS, found.totals, totals, strict=True):
        changed.append((KINDS[kind], before, now, signed(now - before), percent(before, now)))
        moved = found.moved(kind, totals)
        # A period that is not over has not fallen.
        way = "same" if report.unfinished else {"rose": "up", "fell": "down"}.get(moved.verdict, "same")
        change, since = percent(before, now), f"from {before:,}"
        if moved.per:
            # The headline has the same figure.
            change, since = f"{share(moved.change)} per {moved.per}", f"{since} ({moved.more})"
        changes.append((way, change, since))
    table = Table(("Readers", found.name, report.name, "Change", "%"), changed, title)
    return Tiles([table], totals, changes)


def _notes(report: Report) -> Iterator[str]:
    """Caveats of the comparison."""
    found = report.comparison
    if report.unfinished:
        yield (
            f"{capital(report.name)} had not ended when this report was made, so its numbers are lower than those of the whole period. "
            "A page may seem to fall or to vanish for that reason alone."
        )
    if found is None:
        return
    if not found.totals.total:
        yield f"There is nothing to compare with: the service has no visitors of {found.name}."
    if (
        report.totals is not None
        and not report.unfinished
        and any(found.moved(kind, report.totals).per for kind in READERS)
    ):
        yield (
            "Changes of the whole site's readers are counted per day or per working day where that explains a part of them. "
            "All other changes are from total to total."
        )


def _changes(report: Report, found: Comparison) -> Section:
    sides = [("Risers", found.risers), ("Fallers", found.fallers)]
    moved = [
        Table(
            ("Page", "Before", "Now", "Change", "%"),
            [
                (PagePath(one.path), *one.counts, signed(one.gain), percent(*one.counts))
                for one in pages[: report.number]
            ],
            title,
        )
        # A site that lost readers wants to know first where.
        for title, pages in (reversed(sides) if report.fell else sides)
        if pages
    ]
    kind, counted = READERS[found.of], f" The counts are of {READERS[found.of]}."
    # The other kind may still read these pages, so they are not called new or vanished.
    new, gone = f"First read by {kind}", f"No longer read by {kind}"
    if found.of == "total":
        new, gone, counted = "New pages", "Vanished pages", ""
    came = [
        Table(
            ("Page", column),
            [(PagePath(one.path), one.counts[at]) for one in pages[: report.number]],
            f"{title} ({len(pages):,})",
        )
        for title, column, pages, at in (
            (new, capital(kind), found.new, 1),
            (gone, f"{capital(kind)} before", found.vanished, 0),
        )
        if pages
    ]
    key = {"before": found.name, "now": report.name}
    blocks: list[Block] = [Paragraph([f"{CHANCE}{counted}"]), Tables(moved, key), Tables(came)]
    return Section("What changed", "changes", blocks if moved or came else [])


def _sections(report: Report) -> Section:
    """The sections of the site: those that moved first, or those that are read most."""
    found, of = report.comparison, "total"
    columns: Sequence[str] = "Section", "Pages", "Visits", "AI share"
    rows: list[tuple[Any, ...]]
    if found is not None and found.rows:
        of, columns = found.of, ("Section", "Pages", "Before", "Now", "Change")
        rows = [(*one[:4], percent(one.before, one.now)) for one in found.sections]
    else:
        read = sorted(report.sections.items(), key=lambda one: (-one[1].total, one[0]))
        rows = [(name, one.pages, one.total, part(one.ai, one.total)) for name, one in read]
    named = [
        ("All other sections" if name == OTHER else SectionPath(name), *cells)
        for name, *cells in rows[:SECTIONS_SHOWN]
    ]
    said = f"{capital(VISITS[of])}, added up by the first part of the path: a visitor of three pages counts three times."
    if columns[-1] == "Change":
        said += " Those that differ most from the rest of the site come first, also if chance alone may explain it."
    if (more := len(rows) - SECTIONS_SHOWN) > 0:
        said += f" {count(more, 'more section')} {'are' if more > 1 else 'is'} not listed."
    return Section(
        "Sections", "sections", [Paragraph([said]), Tables([Table(columns, named)])] if len(rows) > 1 else []
    )


def _trend(report: Report) -> Iterator[Section]:
    """The trend, or why it is missing if no option excludes it."""
    title, trend = "The trend", report.trend
    if trend is not None:
        rows = [(trend.named(one), *one[2:]) for one in trend.slices]
        table = Table((trend.every.capitalize(), *KINDS.values()), rows)
        yield Section(title, "trend", [Chart([table], trend, [*_trend_notes(trend)])])
    elif Part.TREND in report.left_out:
        why = [f"Not shown, because {report.left_out[Part.TREND]}."]
        if Part.TREND in report.more:
            line, cost = report.more[Part.TREND]
            why += [f" This command shows it. It takes {cost}:", Command(line)]
        yield Section(title, "", [Paragraph(why, quiet=True)])


def _trend_notes(trend: Trend) -> Iterator[str]:
    """Caveats of the trend."""
    yield (
        f"Each point is the number of unique visitors in one {trend.every}. Points do not add up: a visitor who comes in two "
        f"{trend.every}s counts in both."
    )
    if marked := sum(map(trend.marked, trend.slices)):
        of = (
            f"{count(marked, trend.every)} of this report are"
            if marked > 1
            else f"{trend.every} of this report is"
        )
        yield f"The {of} shaded."
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


COMMANDS = "Each command “docplatform fix” hands its task to the docs agent, unless a job was created for it before. The agent opens a pull request for review."
READING = (
    "Counts of readers are unique visitors: a visitor who comes back is counted once, so they do not add up. Sections count page visits. "
    "Pages: a visitor who reads two pages counts for both, but only once in the site's total. "
    "Days: a visitor who comes on two days counts on both, so the months of a year add up to more than the year. "
    "Kinds: a visitor seen both as a person and as an AI agent counts as both, but only once in “All”. "
    "The counts are approximate, and those of the last days may still change."
)


def facts(report: Report) -> list[tuple[str, str]]:
    """The small print: which data the report shows, when it was made, and what it cost."""
    requests = count(sum(report.requests.values()), "request")
    if len(report.requests) > 1:
        requests += f": {', '.join(f'{number:,} for {what}' for what, number in report.requests.items())}"
    return [
        ("Project", report.project),
        ("Period", report.name),
        *([("Compared with", report.comparison.name)] if report.comparison is not None else []),
        ("Written on", f"{report.made:%Y-%m-%d %H:%M} UTC"),
        ("Pages that were read", f"{report.pages:,}"),
        ("Requests", requests),
        ("Made by", f"docplatform {docplatform.__version__}"),
        *(("Warning", warning) for warning in report.warnings),
    ]
