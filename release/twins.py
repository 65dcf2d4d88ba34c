"""Writes the part of python/docplatform/_native.pyi that repeats another part of it.

    python -m release.twins            rewrites it
    python -m release.twins --check    fails if it is stale

`AsyncClient`, `AsyncRows` and `AsyncVisitors` are made from `Client`, `Rows` and `Visitors`, docstrings included: both faces are one class
in the extension, so `help()` has one text for both. An override has the docstring of the method above it, as only its types differ.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

from release.archives import ROOT

STUB = ROOT / "python" / "docplatform" / "_native.pyi"

GENERATED = "# generated from here on by release/twins.py\n"
CLASSES = {"Client": "AsyncClient", "Rows": "AsyncRows", "Visitors": "AsyncVisitors"}
NAMES = CLASSES | {"Iterator": "AsyncIterator"}
PROTOCOL = {
    "__enter__": "__aenter__",
    "__exit__": "__aexit__",
    "__next__": "__anext__",
}
# These do no I/O, and return what the blocking ones do.
IMMEDIATE = {"__new__", "__reduce__", "_repr_html_", "with_options"}
# A function's return type, which becomes an awaitable.
RETURNED = re.compile(r"\], (object|str)\]")


def renamed(annotation: ast.expr) -> ast.expr:
    """The type with its classes in their asynchronous form."""
    for node in ast.walk(annotation):
        if isinstance(node, ast.Name):
            node.id = NAMES.get(node.id, node.id)
    return annotation


def asynchronous(method: ast.FunctionDef) -> ast.FunctionDef:
    """A method as the asynchronous class has it."""
    assert method.returns is not None
    for argument in method.args.args + method.args.kwonlyargs:
        if argument.arg in ("api_key", "on_poll", "on_done") and argument.annotation is not None:
            awaited = RETURNED.sub(r"], Awaitable[\1] | \1]", ast.unparse(argument.annotation))
            argument.annotation = ast.parse(awaited, mode="eval").body
    if method.decorator_list or method.name in IMMEDIATE:
        return method
    if any(isinstance(node, ast.Name) and node.id in NAMES for node in ast.walk(method.returns)):
        method.returns = renamed(method.returns)
    else:
        method.returns = ast.parse(f"Coroutine[Any, Any, {ast.unparse(method.returns)}]", mode="eval").body
    method.name = PROTOCOL.get(method.name, method.name)
    return method


def members(node: ast.stmt) -> list[ast.stmt]:
    """The members of the asynchronous class for a member."""
    if not isinstance(node, ast.FunctionDef):
        return [node]
    if node.name == "__iter__":
        return []
    if node.name != "__next__" or node.returns is None:
        return [asynchronous(node)]
    # `async for` reads from a generator, which has no other methods.
    row = ast.unparse(node.returns)
    return [
        *ast.parse(f"def __aiter__(self) -> AsyncIterator[{row}]: ...").body,
        asynchronous(node),
    ]


def twin(text: str, blocking: ast.ClassDef) -> str:
    """The source of the class's asynchronous form."""
    class_ = ast.parse(source(text, blocking)).body[0]
    assert isinstance(class_, ast.ClassDef)
    class_.name = CLASSES[class_.name]
    class_.bases = [renamed(base) for base in class_.bases]
    class_.body = [made for node in class_.body for made in members(node)]
    # Unlike methods in a module, those in a stub follow each other without a blank line.
    head, first, methods = ast.unparse(class_).partition("\n    def ")
    return head + first + re.sub(r"\n\n(?=    (?:def |@))", "\n", methods)


def source(text: str, class_: ast.ClassDef) -> str:
    """A class with its decorators."""
    first = min([class_.lineno, *(decorator.lineno for decorator in class_.decorator_list)])
    return "\n".join(text.split("\n")[first - 1 : class_.end_lineno])


def classes(text: str) -> dict[str, ast.ClassDef]:
    """The stub's classes by name."""
    return {node.name: node for node in ast.parse(text).body if isinstance(node, ast.ClassDef)}


def docstring(method: ast.FunctionDef) -> ast.Constant | None:
    """Its docstring, as it stands in the source."""
    match method.body[0]:
        case ast.Expr(value=ast.Constant(value=str()) as text):
            return text
    return None


def overrides(text: str) -> str:
    """The stub with the docstrings of overrides written."""
    all_ = classes(text)
    lines = text.split("\n")
    places: list[tuple[ast.Constant, ast.Constant]] = []
    for class_ in all_.values():
        inherited = {
            method.name: docstring(method)
            for base in class_.bases
            if isinstance(base, ast.Name) and base.id in all_
            for method in all_[base.id].body
            if isinstance(method, ast.FunctionDef)
        }
        for method in class_.body:
            if isinstance(method, ast.FunctionDef) and (theirs := inherited.get(method.name)):
                own = docstring(method)
                assert own, f"{class_.name}.{method.name}: give it any docstring, to be overwritten"
                places.append((own, theirs))
    for own, theirs in sorted(places, key=lambda place: -place[0].lineno):
        assert theirs.end_lineno
        assert own.end_lineno
        lines[own.lineno - 1 : own.end_lineno] = text.split("\n")[theirs.lineno - 1 : theirs.end_lineno]
    return "\n".join(lines)


def written(text: str) -> str:
    """The stub as it should be."""
    text = overrides(text.partition(GENERATED)[0])
    text = "\n\n".join([text + GENERATED, *(twin(text, classes(text)[name]) for name in CLASSES)])
    ruff = Path(sys.executable).with_name("ruff")
    command = [str(ruff), "format", "--quiet", "--stdin-filename", str(STUB), "-"]
    formatted = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return formatted.stdout


def main(arguments: list[str]) -> int:
    """Write or check."""
    stub = STUB.read_text(encoding="utf-8")
    new = written(stub)
    if arguments == ["--check"]:
        if new != stub:
            print(f"{STUB.name} is stale: run python -m release.twins", file=sys.stderr)
        return int(new != stub)
    if arguments:
        raise SystemExit(__doc__)
    STUB.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
