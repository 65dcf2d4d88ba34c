"""What MkDocs cannot do by itself: pages that live elsewhere in the repository, the commands' help, and how the extension's
classes are made.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import griffe
from mkdocs.structure.files import File

from docplatform.cli.app import cli

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
PAGES = {"CHANGELOG.md": "changelog.md", "SECURITY.md": "security.md"}
# Links that are right in the repository, and what they are on the site.
OUTSIDE = re.compile(r"\]\((?:\.\./)?((?:\.\./)*)(?=examples/)")
BELOW = re.compile(r"\]\(docs/")
# As many letters of code as a page has room for.
WIDTH = 76
INCLUDED = re.compile(r'^--8<-- "([^":]+):(\w+)"$', re.MULTILINE)
# How docstrings point at names.
ROLE = re.compile(r":(class|meth|attr):`([\w.]+)`")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages and examples that live outside the folder."""
    for name, page in PAGES.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / name)))
    for path in sorted((ROOT / "examples").iterdir()):
        if path.is_file():
            files.append(File.generated(config, f"examples/{path.name}", abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    """Includes what the README has, mends links to what lives outside, and puts the commands' help in its place."""
    markdown = INCLUDED.sub(lambda found: _section(*found.groups()), markdown)
    markdown = OUTSIDE.sub(lambda found: f"]({found[1]}", markdown)
    markdown = BELOW.sub(f"]({'../' * page.file.src_uri.count('/')}", markdown)
    return markdown.replace("<!-- commands -->", "\n".join(_commands(cli, "docplatform")))


def _section(file: str, name: str) -> str:
    """What lies between two marks of a file."""
    text = (ROOT / file).read_text(encoding="utf-8")
    return text.partition(f"[start:{name}] -->\n")[2].partition(f"<!-- --8<-- [end:{name}]")[0]


def _commands(command: click.Command, name: str, above: click.Context | None = None) -> Iterator[str]:
    settings = {**command.context_settings, "max_content_width": WIDTH, "terminal_width": WIDTH}
    context = click.Context(command, info_name=name, parent=above, **settings)
    yield f"## `{context.command_path}`\n\n```text\n{command.get_help(context)}\n```\n"
    for part, below in getattr(command, "commands", {}).items():
        # These two bring their own help.
        if part not in ("demo", "stub"):
            yield from _commands(below, part, context)


class Native(griffe.Extension):
    """Reads the stubs of the extension as the reference needs them."""

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        """A class of the extension is made by ``__new__``; where the arguments stand is ``__init__`` to griffe."""
        made = cls.members.get("__new__")
        if isinstance(made, griffe.Function) and "__init__" not in cls.members:
            init = griffe.Function("__init__", parameters=made.parameters, returns=None, lineno=made.lineno)
            cls.set_member("__init__", init)

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Makes links of the names that docstrings point at."""
        if obj.docstring is not None:
            obj.docstring.value = ROLE.sub(lambda found: _link(obj, *found.groups()), obj.docstring.value)


def _link(obj: griffe.Object, role: str, name: str) -> str:
    class_ = obj if obj.is_class or obj.parent is None else obj.parent
    path = f"{class_.name}.{name}" if role != "class" and "." not in name else name
    package = "docplatform.testing" if "testing" in obj.path else "docplatform"
    return f"[`{name}`][{path if path.startswith('docplatform.') else f'{package}.{path}'}]"
