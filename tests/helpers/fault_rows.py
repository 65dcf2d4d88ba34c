"""Which tests cover which row of the fault matrix: writes the table in docs/maintainers/faults.md, or checks it.

    python tests/helpers/fault_rows.py            rewrite it
    python tests/helpers/fault_rows.py --check    fail where it is stale

A test in Python carries ``@pytest.mark.row("A1", "A3")``, one in Rust a line ``/// Rows: B1, B5.`` in its comment.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "maintainers" / "faults.md"
BEGIN, END = "<!-- rows: begin, written by tests/helpers/fault_rows.py -->", "<!-- rows: end -->"

RUST_ROWS = re.compile(r"^\s*///\s*Rows:\s*(?P<rows>[A-Z]\d+(?:,\s*[A-Z]\d+)*)\.?\s*$")
RUST_TEST = re.compile(r"^\s*(?:pub )?(?:async )?fn (?P<name>\w+)")


class Covered(NamedTuple):
    """A test and a row that it covers."""

    row: str
    file: str
    test: str


def matrix() -> dict[str, str]:
    """Rows and sections with their titles, in order."""
    lines = Path(__file__).with_name("fault_rows.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split("  ", 1) for line in lines)


def in_python(text: str, file: str) -> Iterator[Covered]:
    """The rows in the marks of a test module; one on the module counts for all its tests."""
    body = ast.parse(text).body
    everywhere = [row for node in body for row in _module_rows(node)]
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            rows = [row for mark in node.decorator_list for row in _rows(mark)]
            if node.name.startswith("test"):
                yield from (Covered(row, file, node.name) for row in dict.fromkeys(everywhere + rows))
            elif rows:
                raise SystemExit(f"{file}: {node.name} is marked with rows and is no test")


def _module_rows(node: ast.stmt) -> list[str]:
    if not isinstance(node, ast.Assign) or ast.unparse(node.targets[0]) != "pytestmark":
        return []
    marks = node.value.elts if isinstance(node.value, ast.List | ast.Tuple) else [node.value]
    return [row for mark in marks for row in _rows(mark)]


def _rows(mark: ast.expr) -> list[str]:
    if not isinstance(mark, ast.Call) or ast.unparse(mark.func) != "pytest.mark.row":
        return []
    return [str(ast.literal_eval(row)) for row in mark.args]


def in_rust(text: str, file: str) -> Iterator[Covered]:
    """The rows in the comments of a Rust module."""
    rows: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if said := RUST_ROWS.match(line):
            rows += re.findall(r"\w+", said["rows"])
        elif re.match(r"\s*///\s*[Rr]ows?\s*:", line):
            raise SystemExit(f'{file}:{number}: rows are written as "/// Rows: A1, B2."')
        elif test := RUST_TEST.match(line):
            yield from (Covered(row, file, test["name"]) for row in dict.fromkeys(rows))
            rows = []


def everything() -> list[Covered]:
    """All that is covered, anywhere."""
    found: list[Covered] = []
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        found += in_python(path.read_text(encoding="utf-8"), path.relative_to(ROOT / "tests").as_posix())
    for folder in ("tests/rust", "src"):
        for path in sorted((ROOT / folder).rglob("*.rs")):
            name = path.relative_to(ROOT).as_posix().removeprefix("tests/")
            found += in_rust(path.read_text(encoding="utf-8"), name)
    titles = matrix()
    wrong = [one for one in found if len(one.row) == 1 or one.row not in titles]
    if wrong:
        raise SystemExit("; ".join(f"no such row: {row} ({file}, {test})" for row, file, test in wrong))
    return found


def table(found: list[Covered]) -> str:
    """The text between the marks."""
    titles = matrix()
    sections = {name: title for name, title in titles.items() if len(name) == 1}
    rows = {section: [row for row in titles if row[0] == section and row != section] for section in sections}
    have = {one.row for one in found}
    covered = {section: sum(row in have for row in rows[section]) for section in sections}
    tests = {section: len({one[1:] for one in found if one.row[0] == section}) for section in sections}
    whole = f"{sum(covered.values())} of {sum(map(len, rows.values()))}"
    lines = ["| section | rows covered | tests |", "|---|---|---|"]
    for section, title in sections.items():
        lines.append(
            f"| {section}. {title} | {covered[section]} of {len(rows[section])} | {tests[section]} |"
        )
    lines += [f"| all | {whole} | {len({one[1:] for one in found})} |", ""]
    for section, title in sections.items():
        lines += [
            f"### {section}. {title}",
            "",
            "| row | what goes wrong | tests | where |",
            "|---|---|---|---|",
        ]
        for row in rows[section]:
            files = Counter(one.file for one in found if one.row == row)
            where = ", ".join(f"{file} ({count})" for file, count in sorted(files.items()))
            lines.append(f"| {row} | {titles[row]} | {files.total()} | {where or 'none'} |")
        lines.append("")
    return "\n".join(lines)


def written(page: str, found: list[Covered]) -> str:
    """The page with its table as it should be."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{PAGE.name} has no place for the table between {BEGIN!r} and {END!r}")
    return f"{before}{BEGIN}\n\n{table(found)}\n{END}{after}"


def main(arguments: list[str]) -> int:
    """Write or check."""
    page = PAGE.read_text(encoding="utf-8")
    new = written(page, everything())
    if arguments == ["--check"]:
        if new != page:
            print(
                "docs/maintainers/faults.md is stale: run python tests/helpers/fault_rows.py", file=sys.stderr
            )
        return int(new != page)
    if arguments:
        raise SystemExit(__doc__)
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
