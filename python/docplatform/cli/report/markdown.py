"""The report as Markdown, for a pull request, an issue or a chat: the same figures, as far as they fit into a comment."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from docplatform._hooks.paths import BLANK, is_blank, is_turned, shown
from docplatform._native import _safe
from docplatform.cli.report import facts, sentences
from docplatform.cli.report.figures import OTHER, listed_sections
from docplatform.cli.report.markup import KINDS
from docplatform.cli.report.parts import NAMES
from docplatform.cli.report.sentences import PagePath
from docplatform.cli.report.words import part, percent, signed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from docplatform.cli.report.figures import Change, Report

MAX_CHARACTERS = 20_000
"""The most characters that are written: GitHub and GitLab comments take 65,536, and many chats a third of that."""
MAX_PATH = 60
"""The most of a path that is shown, in characters."""
MAX_LINK = 300
"""The longest address that becomes a link."""


def render(report: Report) -> str:
    """The Markdown. Sections that would make it too long are left out, and their titles are listed."""
    written, left_out = "", []
    for title, body in _sections(report):
        if not body:
            continue
        block = f"{f'### {title}' if title else ''}\n\n{body}\n\n".lstrip("\n")
        if len(written) + len(block) > MAX_CHARACTERS - 300:
            left_out.append(title)
        else:
            written += block
    if left_out:
        written += f"*Left out, as this would be too long: {', '.join(left_out)}.*\n\n"
    return f"{written}{_footer(report)}\n"


def _sections(report: Report) -> Iterator[tuple[str, str]]:
    yield "", f"## {_text(report.title)}\n\n{_code(_safe(report.project, 200))}, {_text(report.name)}"
    if not report.pages and not any(report.totals or ()):
        yield (
            "",
            f"**{_text(sentences.capital(report.name))}: nobody read a page.** What to check:\n\n{_points(map(_text, sentences.checks(report)))}",
        )
        return
    said = [_sentence(report, one) for one in sentences.summary(report)]
    yield "", "\n".join(f"**{one}**" if not at else one for at, one in enumerate(said))
    yield "", _totals(report)
    yield "", "\n\n".join(map(_text, sentences.notes(report)))
    if advice := [_sentence(report, one) for one in sentences.advice(report)]:
        yield "What to do", _points(advice)
    yield from _changes(report)
    for missing, why in report.left_out.items():
        yield NAMES[missing].capitalize(), f"Not shown, because {_text(why)}."
    if report.trend is not None:
        rows = [[_text(report.trend.named(one)), *_counts(one)] for one in report.trend.slices]
        yield "The trend", _table((report.trend.every.capitalize(), *KINDS.values()), rows)
    yield from _pages(report)


def _totals(report: Report) -> str:
    if report.totals is None:
        return ""
    found = report.comparison
    if found is None or not found.totals.total:
        return _table(
            ("Readers", _text(report.name)),
            [[name, f"{getattr(report.totals, kind):,}"] for kind, name in KINDS.items()],
        )
    rows = []
    for kind, name in KINDS.items():
        before, now = getattr(found.totals, kind), getattr(report.totals, kind)
        rows.append([name, f"{before:,}", f"{now:,}", signed(now - before), percent(before, now)])
    return _table(("Readers", _text(found.name), _text(report.name), "Change", "%"), rows)


def _changes(report: Report) -> Iterator[tuple[str, str]]:
    found = report.comparison
    if found is None or found.rows is None or not found.totals.total:
        return
    sides = [("Risers", found.risers, "gained"), ("Fallers", found.fallers, "lost")]
    # A site that lost readers shows first where.
    fell = report.totals is not None and report.totals.total < found.totals.total
    if not (found.risers or found.fallers or found.new or found.vanished):
        yield "What changed", sentences.NOTHING
        return
    yield "What changed", _text(sentences.chance(found))
    for title, moved, verb in reversed(sides) if fell else sides:
        rows = [_moved(report, one) for one in moved]
        nothing = f"No page {verb} more than was expected."
        yield title, _table(("Page", "Before", "Now", "Change", "%"), rows) if rows else nothing
    came = [[_path(report, one.path), f"{one.counts[1]:,}"] for one in found.new]
    gone = [[_path(report, one.path), f"{one.counts[0]:,}"] for one in found.vanished]
    if came:
        yield f"New pages ({found.new_pages:,})", _table(("Page", "Readers"), came)
    if gone:
        yield f"Vanished pages ({found.vanished_pages:,})", _table(("Page", "Readers before"), gone)


def _moved(report: Report, one: Change) -> list[str]:
    before, now = one.counts
    return [_path(report, one.path), f"{before:,}", f"{now:,}", signed(one.gain), percent(before, now)]


def _pages(report: Report) -> Iterator[tuple[str, str]]:
    if report.top:
        rows = [[_path(report, row["path"]), *(f"{row[kind]:,}" for kind in KINDS)] for row in report.top]
        yield "The most read pages", _table(("Page", *KINDS.values()), rows)
    for title, listed in (("Read by AI agents", report.top_ai), ("Read by people", report.top_human)):
        rows = [
            [
                _path(report, row["path"]),
                f"{row['human']:,}",
                f"{row['ai']:,}",
                part(row["ai"], row["total"]),
            ]
            for row in listed
        ]
        if rows:
            yield title, _table(("Page", "People", "AI agents", "AI share"), rows)
    found = report.comparison
    before = found.sections if found is not None else {}
    listed_ = listed_sections(report.sections, before)
    if len(listed_) > 1:
        rows = []
        for name, now, then in listed_:
            label = "All other pages" if name == OTHER else _path(report, name, link=False)
            readings = now.readings
            was = [] if then is None else [signed(readings.total - then.readings.total)]
            rows.append(
                [label, f"{now.pages:,}", f"{readings.total:,}", part(readings.ai, readings.total), *was]
            )
        columns = ("Section", "Pages", "Readings", "AI share", *(("Change",) if before else ()))
        note = "A visitor of three pages counts three times, so readings are not people."
        yield "Sections", f"{note}\n\n{_table(columns, rows)}"


def _footer(report: Report) -> str:
    said = "; ".join(f"{name}: {_code(_safe(value, 200))}" for name, value in facts.facts(report)[1:])
    return f"<sub>Unique visitors do not add up over pages, days or kinds. {said}.</sub>"


def _counts(one: object) -> list[str]:
    return [f"{getattr(one, kind):,}" for kind in KINDS]


def _points(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    ruled = ["---", *["--:"] * (len(columns) - 1)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (columns, ruled, *rows))


def _sentence(report: Report, parts: sentences.Sentence) -> str:
    return "".join(
        _path(report, one) if isinstance(one, PagePath) else _text(one) if one else "" for one in parts
    )


_MARKED = re.compile(r"([\\`*_{}\[\]<>#|~&$])")
"""Characters with a meaning in Markdown, GitHub's and GitLab's extensions included."""


def _text(value: str) -> str:
    """Foreign text, with all Markdown in it escaped."""
    return _MARKED.sub(r"\\\1", _safe(value, 2_000))


def _code(value: str) -> str:
    """Foreign text as code, so that no Markdown in it works, not even a mention such as ``@name``."""
    # A bar ends a table's cell even within code.
    value = value.replace("|", "\\|")
    fence = "`" * (max((len(run) for run in re.findall("`+", value)), default=0) + 1)
    pad = " " if value.startswith("`") or value.endswith("`") else ""
    code = f"{fence}{pad}{value}{pad}{fence}"
    # Isolated, so that text from right to left does not reorder the numbers beside it.
    return f"\u2068{code}\u2069" if is_turned(value) else code


def _path(report: Report, value: str, *, link: bool = True) -> str:
    """A path as code, shortened in the middle, and as a link if the site's address is known."""
    if is_blank(value):
        return f"*{BLANK}*"
    code = _code(shown(value, MAX_PATH))
    if not link or report.site_url is None:
        return code
    url = report.site_url + quote(f"/{value.removeprefix('/')}", safe="/%:@!$&'+,;=~", errors="replace")
    return f"[{code}]({url})" if len(url) <= MAX_LINK else code
