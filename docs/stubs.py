"""Reads the stubs of the extension for the reference: as mkdocstrings shows them, and as Markdown for machines."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from functools import cache
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import griffe

if TYPE_CHECKING:
    from collections.abc import Iterator

# How docstrings point at names.
ROLE = re.compile(r":(class|meth|attr|func):`~?([\w.]+)`")
SECTION = re.compile(
    r"^(Args|Returns|Raises|Yields|Attributes|Examples?):\n((?:(?: {4}.*)?(?:\n|\Z))+)", re.MULTILINE
)
WIDTH = 92
"""The most characters of a signature in one line."""


class Native(griffe.Extension):
    """Reads the stubs of the extension as the reference needs them."""

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        """A class of the extension is made by ``__new__``; where the arguments stand is ``__init__`` to griffe."""
        made = cls.members.get("__new__")
        if isinstance(made, griffe.Function) and "__init__" not in cls.members:
            init = griffe.Function("__init__", parameters=made.parameters, returns=None, lineno=made.lineno)
            cls.set_member("__init__", init)

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Shows in signatures what users can write."""
        _write_out(pkg, pkg)

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Makes links of the names that docstrings point at, and code of their examples."""
        if obj.docstring is not None:
            text = ROLE.sub(lambda found: _link(obj, *found.groups()), obj.docstring.value)
            # A title that the parser knows as that of code.
            obj.docstring.value = _colons(text).replace("\nExample:\n", "\nExamples:\n")


def _write_out(obj: griffe.Object, package: griffe.Module) -> None:
    """Puts what an alias of a type stands for in its place: users cannot import the name."""
    for member in obj.members.values():
        if isinstance(member, griffe.Function):
            for function in (member, *(member.overloads or ())):
                function.returns = _written_out(function.returns, package)
                for parameter in function.parameters:
                    parameter.annotation = _written_out(parameter.annotation, package)
        elif isinstance(member, griffe.Attribute):
            member.annotation = _written_out(member.annotation, package)
        elif isinstance(member, griffe.Object):
            _write_out(member, package)


def _written_out(annotation: Any, package: griffe.Module) -> Any:
    if isinstance(annotation, list):
        return [_written_out(part, package) for part in annotation]
    if not isinstance(annotation, griffe.Expr):
        return annotation
    if isinstance(annotation, griffe.ExprName) and annotation.canonical_path.startswith("docplatform."):
        named = package[annotation.canonical_path.removeprefix("docplatform.")]
        if isinstance(named, griffe.Attribute):
            return _written_out(named.value, package)
    if isinstance(annotation, griffe.ExprSubscript) and str(annotation.left) == "Unpack":
        # Its arguments are those that the docstring names.
        return "Any"
    parts = {field.name: getattr(annotation, field.name) for field in fields(annotation)}
    whole = {name: part for name, part in parts.items() if name != "parent"}
    return replace(annotation, **{name: _written_out(part, package) for name, part in whole.items()})


def _colons(docstring: str) -> str:
    """A docstring with one colon before its code, as Markdown writes it, instead of two."""
    return re.sub(r"::$", ":", docstring, flags=re.MULTILINE)


def _link(obj: griffe.Object, role: str, name: str) -> str:
    class_ = obj if obj.is_class or obj.parent is None else obj.parent
    path = f"{class_.name}.{name}" if role in ("meth", "attr") and "." not in name else name
    package = "docplatform.testing" if "testing" in obj.path else "docplatform"
    return f"[`{name}`][{path if path.startswith('docplatform.') else f'{package}.{path}'}]"


@cache
def _package() -> griffe.Module:
    package = griffe.load("docplatform", search_paths=["python"], resolve_aliases=True)
    assert isinstance(package, griffe.Module)
    _write_out(package, package)
    return package


def described(name: str) -> str:
    """A class, function or module, such as ``docplatform.Job``, as Markdown: signatures and docstrings."""
    parts = _described(_package()[name.removeprefix("docplatform.")], 2)
    return "\n\n".join(part.strip() for part in parts)


def _wrapped(signature: str) -> str:
    """A signature with a line for each parameter if it is too long for one line."""
    if len(signature) <= WIDTH:
        return signature
    begin, _, rest = signature.partition("(")
    parts, depth = [""], 0
    for at, character in enumerate(rest):
        depth += (character in "[(") - (character in "])")
        if depth < 0:
            return "\n".join([f"{begin}(", *(f"    {part.strip()}," for part in parts), rest[at:]])
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return signature


def _text(docstring: str) -> str:
    """A docstring with lists in place of its indented sections, and with a fence around its example."""
    return SECTION.sub(lambda found: _section(found[1], dedent(found[2]).strip()), docstring)


def _section(title: str, text: str) -> str:
    if title.startswith("Example"):
        return f"**{title}**\n\n```python\n{text}\n```\n"
    listed = re.sub(r"^(?=[^ \n])", "- ", text, flags=re.MULTILINE)
    return f"**{title}**\n\n{listed}\n"


def _described(obj: griffe.Object | griffe.Alias, level: int) -> Iterator[str]:
    if not obj.is_module:
        yield f"{'#' * level} `{obj.path.rpartition('.')[2] if level == 2 else _name(obj)}`"
        made = obj.members.get("__new__") or obj.members.get("__init__") if obj.is_class else obj
        if isinstance(made, griffe.Function) or (made is not None and made.is_function):
            yield f"```python\n{_wrapped(made.signature(name=obj.name))}\n```"
    if obj.docstring is not None:
        yield _text(_colons(ROLE.sub(r"`\2`", obj.docstring.value.strip()).replace("``", "`")))
    if obj.is_class or obj.is_module:
        for name, member in obj.members.items():
            public = not member.is_imported or (obj.is_module and name in (obj.exports or ()))
            if not name.startswith("_") and public and member.docstring is not None:
                yield from _described(member, level + 1)


def _name(obj: griffe.Object | griffe.Alias) -> str:
    return f"{obj.parent.name}.{obj.name}" if obj.parent is not None and obj.parent.is_class else obj.name
