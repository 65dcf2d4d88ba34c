"""The report as Markdown, for a pull request, an issue or a chat: the same figures, as far as they fit into a comment."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from docplatform._hooks.paths import BLANK, is_blank, is_turned, shown
from docplatform._native import _safe
from docplatform.cli.report.content import Block, Headline, Paragraph, Points, content, facts
from docplatform.cli.report.sentences import (
    Command,
    Phrase,
    Strong,
    advice,
    nobody,
    renderer,
    summary,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from docplatform.cli.report.figures import Report
    from docplatform.cli.report.sentences import Render

MAX_CHARACTERS = 20_000
"""About the most characters of the sections: a comment on GitHub takes 65,536, and many chats a third of that."""
MAX_LINES = 10
"""The most lines of a brief report."""
MAX_PATH = 60
"""The most of a path that is shown, in characters."""
MAX_LINK = 300
"""The longest address that becomes a link."""


def render(report: Report) -> str:
    """The Markdown. Sections that would make it too long are left out, and their titles are listed."""
    written, left_out = f"## {text(report.title)}\n\n{_about(report)}\n\n", []
    for level, title, body in _units(report):
        unit = f"{level} {title}\n\n{body}" if title and body else body
        if len(written) + len(unit) > MAX_CHARACTERS - 300:
            left_out.append(title)
        else:
            written += unit
    if left_out:
        written += f"*Left out, as this would be too long: {', '.join(left_out)}.*\n\n"
    small = "; ".join(f"{name}: {code(_safe(value, 200))}" for name, value in facts(report)[1:])
    return f"{written}<sub>{small}.</sub>\n"


def brief(report: Report) -> str:
    """At most ten lines for a chat: what changed, where, and what to do."""
    say, lines = _renderer(report), [f"**{text(report.title)}**, {_about(report)}"]
    if said := nobody(report):
        lines.append(f"- {text(said)}")
    lines += (f"- {say(one)}" for one in summary(report))
    lines += (f"- To do: {say(one)}" for one in advice(report))
    lines += (f"- Warning: {text(warning)}" for warning in report.warnings)
    return "\n".join(lines[:MAX_LINES]) + "\n"


def _about(report: Report) -> str:
    return f"{code(_safe(report.project, 200))}, {text(report.name)}"


def _units(report: Report) -> Iterator[tuple[str, str, str]]:
    """Marks of headings, titles and texts: those of sections, and of tables with a title of their own."""
    say = _renderer(report)
    for title, _, blocks in content(report):
        units: dict[str, str] = {}
        for block in blocks:
            for own, body in _texts(block, say):
                units[own or title] = units.get(own or title, "") + (body and f"{body}\n\n")
        yield from (("###" if name == title else "####", name, unit) for name, unit in units.items())


def _texts(block: Block, say: Render) -> Iterator[tuple[str, str]]:
    match block:
        case Paragraph():
            yield "", say(block.said)
        case Headline():
            lines = [say(one) for one in block]
            yield "", "\n".join(one if at else f"**{one}**" for at, one in enumerate(lines))
        case Points():
            yield "", "\n".join(f"- {say(one)}" for one in block)
        case _:
            for one in block.tables:
                rows = [[say([cell]) for cell in row] for row in one.rows]
                yield one.title, table([*map(text, one.columns)], rows)


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, rule: str = "--:") -> str:
    """A table. The columns after the first are numbers, unless another ``rule`` is given."""
    ruled = ["---", *[rule] * (len(columns) - 1)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (columns, ruled, *rows))


def _renderer(report: Report) -> Render:
    return renderer(
        text,
        _path,
        report.site_url,
        "",
        {
            tuple: "".join,
            Strong: lambda words: f"**{text(words)}**",
            Phrase: code,
            Command: lambda line: f" {code(_safe(line, 2_000))}",
        },
    )


_MARKED = re.compile(r"([\\`*_{}\[\]<>#|~&$])")
"""Characters with a meaning in Markdown, but for mentions and bare addresses: a reader's words are code."""


def text(value: str) -> str:
    """Foreign text, in which only mentions and bare addresses work as Markdown."""
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


def _path(value: str, url: str | None) -> str:
    """A path as code, shortened in the middle, and as a link if its address is known."""
    if is_blank(value):
        return f"*{BLANK}*"
    name = code(shown(value, MAX_PATH))
    return f"[{name}]({url})" if url is not None and len(url) <= MAX_LINK else name
