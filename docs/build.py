"""Builds the site around its generator: `prepare` makes the pages that it reads, `finish` checks what it wrote and adds Markdown for machines.

The pages need nothing of one generator: what MkDocs would do in hooks is done before it, in target/docs, or after it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from base64 import b64decode
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from links import problems

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
PAGES, SITE = ROOT / "target" / "docs", ROOT / "target" / "site"
SHOWN = {".md", ".css", ".png", ".svg"}
"""The kinds of files of docs/ that are part of the site."""
MOVED = {
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    "CONTRIBUTING.md": "maintainers/contributing.md",
}
REPOSITORY = "https://github.com/docplatform/docplatform"
FENCED = re.compile(r"(^```.*?^```)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?\)")
DESCRIBED = re.compile(r"^<!-- (docplatform\.[\w.]+) -->\n.*?^<!-- end of \1 -->$", re.MULTILINE | re.DOTALL)
"""The text that release/reference.py writes for readers of the repository. On the site it is mkdocstrings' work, with links and a table of contents."""
MODULES = ("docplatform.errors", "docplatform.testing")
MODULE = (
    "\n    options:\n      show_root_heading: false\n      show_root_toc_entry: false\n      show_bases: true"
)
BOOSTS = {
    "listings/": 5,
    "how-to/": 4,
    "tutorial": 2,
    "install": 4,
    "ci": 4,
    "examples/": 0.5,
    "reference/": 0.5,
    "changelog": 0.1,
    "maintainers/": 0.1,
}
"""Which pages a search shows first, by the beginning of their names: pages that show how to do something before those that list arguments."""
SEARCHES = {
    "excel": "how-to/export/",
    "jupyter": "how-to/notebooks/",
    "webhook": "how-to/jobs/",
    "idempotent": "how-to/jobs/",
    "proxy": "how-to/proxy/",
    "429": "how-to/errors/",
    "powershell": "install/",
    "cron": "tutorial/",
    "parquet": "how-to/engines/",
    "container": "ci/",
    "rotation": "reference/cli/",
    "endpoint": "how-to/endpoints/",
    "worst rated pages": "listings/feedback/",
    "no results": "listings/searches/",
    "zero results": "listings/searches/",
    "without a hit": "listings/searches/",
}
"""Words that people search for, and a page that the search has to find: one with all of them."""


# -- Before the generator -----------------------------------------------------------------------------------------


def prepare() -> None:
    """Makes the pages in target/docs."""
    shutil.rmtree(PAGES, ignore_errors=True)
    files = [path for path in (ROOT / "docs").rglob("*") if path.suffix in SHOWN]
    for path in (*files, *(ROOT / name for name in MOVED), *(ROOT / "examples").glob("*.*")):
        name = path.relative_to(ROOT).as_posix()
        target = PAGES / _on_site(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            page = DESCRIBED.sub(_directive, _page(path.read_text(encoding="utf-8"), name))
            target.write_text(_boosted(page, target), encoding="utf-8")
        elif path.suffix == ".ipynb":
            target.write_text(_boosted(_notebook(path, target.parent), target), encoding="utf-8")
        else:
            shutil.copyfile(path, target)


def _on_site(name: str) -> str:
    """Where a file of the repository is on the site."""
    return MOVED.get(name, name.removeprefix("docs/")).replace(".ipynb", ".md")


def _boosted(text: str, target: Path) -> str:
    name = target.relative_to(PAGES).as_posix()
    boost = next((boost for start, boost in BOOSTS.items() if name.startswith(start)), 1)
    return f"---\nsearch:\n  boost: {boost}\n---\n\n{text}"


def _directive(found: re.Match[str]) -> str:
    return f"::: {found[1]}{MODULE if found[1] in MODULES else ''}"


def _page(text: str, name: str) -> str:
    """A page with its links as the site has them."""

    def link(found: re.Match[str]) -> str:
        wanted = os.path.normpath(os.path.join(os.path.dirname(name), found[1]))  # noqa: PTH118, PTH120
        there = _on_site(wanted)
        if wanted.startswith(("docs/", "examples/")) or wanted in MOVED:
            there = os.path.relpath(there, os.path.dirname(_on_site(name)) or ".")  # noqa: PTH120
        else:
            there = f"{REPOSITORY}/blob/main/{wanted}"
        return f"]({there}{found[2] or ''})"

    parts = FENCED.split(text)
    return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in parts)


def _notebook(path: Path, folder: Path) -> str:
    """A notebook with its outputs, as a page; pictures lie beside it."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    parts = []
    for at, cell in enumerate(cells):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for number, output in enumerate(cell["outputs"]):
            picture = folder / f"{path.stem}-{at}-{number}.png"
            parts.append(_output(output, picture))
    title, *rest = parts
    download = f"[This notebook]({REPOSITORY}/blob/main/examples/{path.name}) is in the repository, to be downloaded and run."
    return "\n\n".join([title, download, *rest]) + "\n"


def _output(output: dict[str, Any], picture: Path) -> str:
    data = output.get("data", {})
    if "image/png" in data:
        picture.write_bytes(b64decode(data["image/png"]))
        return f"![What the cell draws]({picture.name})"
    if "text/html" in data:
        # Markdown ends HTML at an empty line.
        html = re.sub(r"\n\s*\n", "\n", "".join(data["text/html"]))
        return f'<div class="output">\n{html}\n</div>'
    text = "".join(data.get("text/plain", output.get("text", "")))
    return f"```text\n{text.rstrip()}\n```"


# -- After the generator ------------------------------------------------------------------------------------------


def finish() -> None:
    """Adds a Markdown twin of each page and llms.txt, and ends with an error if a link or a search leads nowhere."""
    wrong = [*problems(SITE), *_not_found()]
    if wrong:
        raise SystemExit("\n".join(["the site is wrong:", *wrong]))
    for page in PAGES.rglob("*.md"):
        twin = SITE / page.relative_to(PAGES)
        twin.parent.mkdir(parents=True, exist_ok=True)
        source = ROOT / "docs" / page.relative_to(PAGES)
        if source.parent.name == "reference":
            text = _page(source.read_text(encoding="utf-8"), f"docs/reference/{source.name}")
        else:
            text = page.read_text(encoding="utf-8").partition("\n---\n\n")[2]
        twin.write_text(text, encoding="utf-8")
    if missing := sorted(_without_twin()):
        raise SystemExit("\n".join(["the Markdown for machines is wrong:", *missing]))
    settings = yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    lines = [
        f"# {settings['site_name']}",
        "",
        f"> {settings['site_description']}",
        "",
        *_listed(settings["nav"]),
    ]
    (SITE / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _without_twin() -> Iterator[str]:
    """Pages that have no Markdown, or whose Markdown lacks a class, function or method that the page describes."""
    for file in SITE.rglob("index.html"):
        name = file.parent.relative_to(SITE).as_posix()
        twin = SITE / ("index.md" if name == "." else f"{name}.md")
        if not twin.exists():
            yield f"{name}: no {twin.name}"
            continue
        headings = re.findall(r'<h\d id="docplatform\.([\w.]+)"', file.read_text(encoding="utf-8"))
        text = twin.read_text(encoding="utf-8")
        for heading in headings:
            if not re.search(rf"^#+ `[\w.]*\b{heading.rpartition('.')[2]}`", text, re.MULTILINE):
                yield f"{name}: {twin.name} does not describe {heading}"


def _listed(entries: list[Any]) -> Iterator[str]:
    for entry in entries:
        ((title, below),) = entry.items() if isinstance(entry, dict) else {"": entry}.items()
        if isinstance(below, list):
            yield from ("", f"## {title}", "", *_listed(below))
        else:
            text = (PAGES / below).read_text(encoding="utf-8")
            heading = re.search(r"^# (.*)$", text, re.MULTILINE)
            yield f"- [{title or (heading[1] if heading else below)}]({below})"


def _not_found() -> Iterator[str]:
    """Searches that do not lead where they should, by the words that the site's search knows."""
    # MkDocs writes the first, zensical the second.
    file = next(
        path for path in (SITE / "search" / "search_index.json", SITE / "search.json") if path.exists()
    )
    index = json.loads(file.read_text(encoding="utf-8"))
    separator = re.compile(index["config"]["separator"])
    tokens: dict[str, set[str]] = {}
    for entry in index.get("docs") or index["items"]:
        split = separator.split(f"{entry['title']} {entry['text']}".lower())
        tokens.setdefault(entry["location"].partition("#")[0], set()).update(split)
    for words, page in SEARCHES.items():
        found = {
            location
            for location, known in tokens.items()
            if all(any(token.startswith(word) for token in known) for word in words.split())
        }
        if page not in found:
            yield f"search: {words}: does not find {page}, only {sorted(found)}"


if __name__ == "__main__":
    {"prepare": prepare, "finish": finish}[sys.argv[1]]()
