"""The report as Markdown, for a pull request, an issue or a chat: the same figures, as far as they fit into a comment."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from docplatform._hooks.paths import BLANK, is_blank, is_turned, shown
from docplatform._native import _safe
from docplatform.cli.report import facts, sentences
from docplatform.cli.report.figures import OTHER
from docplatform.cli.report.markup import KINDS
from docplatform.cli.report.parts import Part
from docplatform.cli.report.sentences import PagePath, SectionPath
from docplatform.cli.report.words import part, percent, signed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from docplatform.cli.report.figures import Change, Report

MAX_CHARACTERS = 20_000
"""The most characters that are written: GitHub and GitLab comments take 65,536, and many chats a third of that."""
MAX_LINES = 10
"""The most lines of a brief report."""
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


def brief(report: Report) -> str:
    """At most ten lines for a chat: what changed, where, and what to do."""
    lines = [f"**{text(report.title)}**, {code(_safe(report.project, 200))}, {text(report.name)}"]
    if not report.pages and not any(report.totals or ()):
        lines.append(f"- {text(sentences.capital(report.name))}: no readers were recorded.")
    lines += (f"- {_sentence(report, one)}" for one in sentences.summary(report))
    advice = [f"- To do: {line}" for line in _advice(report)]
    return "\n".join([*lines, *advice][:MAX_LINES]) + "\n"


def _sections(report: Report) -> Iterator[tuple[str, str]]:
    yield "", f"## {text(report.title)}\n\n{code(_safe(report.project, 200))}, {text(report.name)}"
    if not report.pages and not any(report.totals or ()):
        yield (
            "",
            f"**{text(sentences.capital(report.name))}: no readers were recorded.** What to check:\n\n{_points(map(text, sentences.checks(report)))}",
        )
        return
    said = [_sentence(report, one) for one in sentences.summary(report)]
    yield "", "\n".join(f"**{one}**" if not at else one for at, one in enumerate(said))
    if advice := _advice(report):
        yield "What to do", _points(advice)
    yield "The readers" if advice else "", _totals(report)
    yield "", "\n\n".join(map(text, sentences.notes(report)))
    yield from _changes(report)
    columns, listed = sentences.sections(report)
    rows = [
        ["All other sections" if name == OTHER else _path(report, name, link=False), *map(text, cells)]
        for name, *cells in listed
    ]
    yield "Sections", f"{sentences.visits(report)}\n\n{table(columns, rows)}" if len(rows) > 1 else ""
    if report.trend is not None:
        rows = [[text(report.trend.named(one)), *_counts(one)] for one in report.trend.slices]
        yield "The trend", table((report.trend.every.capitalize(), *KINDS.values()), rows)
    elif Part.TREND in report.left_out:
        yield "The trend", f"Not shown, because {text(report.left_out[Part.TREND])}."
    yield from _pages(report)


def _advice(report: Report) -> list[str]:
    return [
        _sentence(report, one.said) + (f" {code(_safe(one.command, 2_000))}" if one.command else "")
        for one in sentences.advice(report)
    ]


def _totals(report: Report) -> str:
    if report.totals is None:
        return ""
    found = report.comparison
    if found is None or not found.totals.total:
        return table(
            ("Readers", text(report.name)),
            [[name, f"{getattr(report.totals, kind):,}"] for kind, name in KINDS.items()],
        )
    rows = []
    for kind, name in KINDS.items():
        before, now = getattr(found.totals, kind), getattr(report.totals, kind)
        rows.append([name, f"{before:,}", f"{now:,}", signed(now - before), percent(before, now)])
    return table(("Readers", text(found.name), text(report.name), "Change", "%"), rows)


def _changes(report: Report) -> Iterator[tuple[str, str]]:
    found = report.comparison
    if found is None or not (found.risers or found.fallers or found.new or found.vanished):
        return
    yield "What changed", text(sentences.chance(found))
    for title, moved in report.sides:
        rows = [_moved(report, one) for one in moved[: report.number]]
        yield title, table(("Page", "Before", "Now", "Change", "%"), rows) if rows else ""
    for title, column, pages in sentences.new_and_gone(report):
        rows = [[_path(report, name), f"{number:,}"] for name, number in pages]
        yield title, table(("Page", column), rows)


def _moved(report: Report, one: Change) -> list[str]:
    before, now = one.counts
    return [_path(report, one.path), f"{before:,}", f"{now:,}", signed(one.gain), percent(before, now)]


def _pages(report: Report) -> Iterator[tuple[str, str]]:
    if report.top:
        rows = [[_path(report, row["path"]), *(f"{row[kind]:,}" for kind in KINDS)] for row in report.top]
        yield "The most read pages", table(("Page", *KINDS.values()), rows)
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
            yield title, table(("Page", "People", "AI agents", "AI share"), rows)


def _footer(report: Report) -> str:
    said = "; ".join(f"{name}: {code(_safe(value, 200))}" for name, value in facts.facts(report)[1:])
    return f"<sub>Unique visitors do not add up over pages, days or kinds. {said}.</sub>"


def _counts(one: object) -> list[str]:
    return [f"{getattr(one, kind):,}" for kind in KINDS]


def _points(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, rule: str = "--:") -> str:
    """A table. The columns after the first are numbers, unless another ``rule`` is given."""
    ruled = ["---", *[rule] * (len(columns) - 1)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (columns, ruled, *rows))


def _sentence(report: Report, parts: sentences.Sentence) -> str:
    return "".join(
        _path(report, one, link=isinstance(one, PagePath))
        if isinstance(one, PagePath | SectionPath)
        else text(one)
        if one
        else ""
        for one in parts
    )


_MARKED = re.compile(r"([\\`*_{}\[\]<>#|~&$])")
"""Characters with a meaning in Markdown, GitHub's and GitLab's extensions included."""


def text(value: str) -> str:
    """Foreign text, with all Markdown in it escaped."""
    return _MARKED.sub(r"\\\1", _safe(value, 2_000))


def code(value: str) -> str:
    """Foreign text as code, so that no Markdown in it works, not even a mention such as ``@name``."""
    # A bar ends a table's cell even within code.
    value = value.replace("|", "\\|")
    fence = "`" * (max((len(run) for run in re.findall("`+", value)), default=0) + 1)
    pad = " " if value.startswith("`") or value.endswith("`") else ""
    fenced = f"{fence}{pad}{value}{pad}{fence}"
    # Isolated, so that text from right to left does not reorder the numbers beside it.
    return f"\u2068{fenced}\u2069" if is_turned(value) else fenced


def _path(report: Report, value: str, *, link: bool = True) -> str:
    """A path as code, shortened in the middle, and as a link if the site's address is known."""
    if is_blank(value):
        return f"*{BLANK}*"
    name = code(shown(value, MAX_PATH))
    if not link or report.site_url is None:
        return name
    url = report.site_url + quote(f"/{value.removeprefix('/')}", safe="/%:@!$&'+,;=~", errors="replace")
    return f"[{name}]({url})" if len(url) <= MAX_LINK else name
