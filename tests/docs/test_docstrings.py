"""Docstrings: one text for `help()`, the stub and the reference, with every part; the examples print what they show."""

from __future__ import annotations

import ast
import asyncio
import builtins
import contextlib
import doctest
import importlib
import inspect
import io
import pydoc
import re
import sys
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

import docplatform
from docplatform import _native
from docplatform.testing import StubServer
from helpers.scripts import run_command
from release import reference, twins

MODULES = [docplatform, *(importlib.import_module(f"docplatform.{name}") for name in ("otel", "testing"))]
ROOT = Path(__file__).parents[2]
STUB = twins.STUB.read_text(encoding="utf-8")
EXTENDING = {"Comparison", "TrendTable", "VisitorTable", "Visitors"}
HEADINGS = ("Args", "Attributes", "Returns", "Raises", "Example")
# Their first line says all that can be said about their result, or about what can go wrong.
NO_RESULT = {
    "close",
    "fail_next",
    "instrument",
    "reset",
    "resolve_once",
    "script_job",
    "slow_next",
    "wait_for",
}
NO_FAILURE = {"async_client", "client", "close", "reset", "to_dict", "to_dicts"}


def public() -> Iterator[tuple[str, Any]]:
    """Each public name and attribute that has a text of its own: both faces, and a class and those below it, share one."""
    seen = set()
    for module in MODULES:
        of = "" if module is docplatform else f" of {module.__name__.rpartition('.')[2]}"
        # Blocking classes first, then those that others extend.
        for name in sorted(module.__all__, key=lambda name: ("Async" in name, name in EXTENDING, name)):
            value = getattr(module, name)
            attributes = [
                (f"{name}.{attribute}", inspect.getattr_static(value, attribute))
                for attribute in dir(value)
                if isinstance(value, type) and is_ours(value, attribute)
            ]
            for member, one in [(f"{name}{of}", value), *attributes]:
                if name != "__version__" and inspect.getdoc(one) not in seen:
                    seen.add(inspect.getdoc(one))
                    yield member, one


def is_ours(class_: type, name: str) -> bool:
    """Whether it is a method or property of this package. Fields are explained in their class's docstring."""
    owner = next(base for base in class_.__mro__ if name in vars(base))
    is_field = name in getattr(class_, "_fields", ()) or name in getattr(class_, "__dataclass_fields__", ())
    value = vars(owner)[name]
    is_member = callable(value) or isinstance(value, classmethod) or inspect.isdatadescriptor(value)
    return owner.__module__.startswith("docplatform") and name[0] != "_" and is_member and not is_field


def in_the_stub() -> dict[str, str]:
    """The docstrings of the stub."""
    found: dict[str, str] = {}
    for name, class_ in twins.classes(STUB).items():
        nodes = {name: class_} | {
            f"{name}.{node.name}": node for node in class_.body if isinstance(node, ast.FunctionDef)
        }
        found |= {
            name: text for name, node in nodes.items() if name[0] != "_" and (text := ast.get_docstring(node))
        }
    return found


def sections(value: object) -> dict[str, str]:
    """The parts of a docstring by their heading; each has its lines indented."""
    parts = {"": ""}
    for line in (inspect.getdoc(value) or "").split("\n"):
        if line[:-1] in HEADINGS:
            parts[line[:-1]] = ""
        else:
            parts[list(parts)[-1]] += f"\n{line}"
    return parts


MEMBERS = dict(public())
DOCSTRINGS = in_the_stub()


@pytest.mark.parametrize("member", DOCSTRINGS)
def test_help_shows_the_text_of_the_stub(member: str) -> None:
    class_, _, name = member.partition(".")
    value = getattr(docplatform, class_)
    assert inspect.getdoc(inspect.getattr_static(value, name) if name else value) == DOCSTRINGS[member]


def test_every_text_of_the_extension_is_in_the_stub() -> None:
    classes = [name for name in docplatform.__all__ if name in vars(_native) and name != "__version__"]
    texts = {
        member: inspect.getdoc(MEMBERS[member]) for member in MEMBERS if member.partition(".")[0] in classes
    }
    assert len(texts) > 80
    assert {member for member, text in texts.items() if text not in DOCSTRINGS.values()} == set()


def test_the_asynchronous_classes_of_the_stub_are_made_from_the_blocking_ones() -> None:
    assert twins.written(STUB) == STUB, "run python -m release.twins"


def test_the_reference_shows_the_text_of_the_stub() -> None:
    griffe = pytest.importorskip("griffe", reason="`make docs` installs what builds the site")
    package = griffe.load("docplatform", search_paths=[ROOT / "python"])
    for member, text in DOCSTRINGS.items():
        assert package[f"_native.{member}"].docstring.value == text


@pytest.mark.one_python
def test_the_reference_of_the_repository_is_made_from_docstrings_and_commands() -> None:
    pytest.importorskip("griffe", reason="`make docs` installs what builds the site")
    # In a process of its own: click keeps the help option of the first context.
    checked = run_command([sys.executable, "-m", "release.reference", "--check"], cwd=ROOT)
    assert (checked.status, checked.err) == (0, "")


def test_signatures_in_the_reference_show_what_users_can_write() -> None:
    shown = "".join(page.read_text(encoding="utf-8") for page in reference.PAGES)
    signatures = re.findall(r"^#+ `[^\n]*`\n\n```python\n(.*?)\n```$", shown, re.MULTILINE | re.DOTALL)
    assert len(signatures) > 80
    assert any("timeout: float | timedelta = 30.0" in signature for signature in signatures)
    words = {word for signature in signatures for word in re.findall(r"[A-Za-z_]\w*", signature)}
    assert {word for word in words if word.startswith("_")} | words & {"Served", "Given", "Unpack"} == set()


def test_help_prints_the_whole_text_with_the_signature() -> None:
    text = pydoc.plain(pydoc.render_doc(docplatform.Client.run_job))
    # From CPython 3.13 on a long signature has a line for each argument.
    signature = "run_job(self,/,prompt,*,once=None,on_budget='wait',timeout=1800.0,"
    assert signature in "".join(text.split())
    assert all(line in text for line in DOCSTRINGS["Client.run_job"].split("\n"))


@pytest.mark.parametrize("member", MEMBERS)
def test_a_public_member_is_documented_with_every_part(member: str) -> None:
    value, parts = MEMBERS[member], sections(MEMBERS[member])
    assert ">>> " in parts.get("Example", "")
    assert "\n    >>>" not in parts[""]
    if isinstance(value, type):
        explained = parts.get("Attributes", "") + parts.get("Args", "")
        assert [name for name in fields(value) if f"\n    {name}: " not in explained] == []
    elif callable(value) or isinstance(value, classmethod):
        function = value.__func__ if isinstance(value, classmethod) else value
        arguments = [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]
        assert [name for name in arguments if f"\n    {name}: " not in parts.get("Args", "")] == []
        name = member.partition(" ")[0].rpartition(".")[2]
        assert "Returns" in parts or name in NO_RESULT
        assert "Raises" in parts or name in NO_FAILURE


def fields(class_: type) -> list[str]:
    """The fields of a class, or the arguments that make it: its docstring has to explain them."""
    if class_ in (docplatform.Client, StubServer):
        return list(inspect.signature(class_).parameters)
    named = getattr(class_, "_fields", None) or getattr(class_, "__dataclass_fields__", None)
    is_error = issubclass(class_, BaseException) or class_ is docplatform.VisitorRow
    return list(named or (class_.__annotations__ if is_error else ()))


@pytest.mark.parametrize("member", MEMBERS)
def test_the_example_prints_what_it_shows(
    member: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    with StubServer(active_polls=1) as stub, stub.client() as client, asyncio.Runner() as runner:
        for name, value in {
            "base_url": stub.url,
            "api_key": stub.api_key,
            "project_id": stub.project_id,
        }.items():
            monkeypatch.setenv(f"DOCPLATFORM_{name.upper()}", value)
        names = {name: getattr(docplatform, name) for name in docplatform.__all__}
        names |= {
            "docplatform": docplatform,
            "StubServer": StubServer,
            "docplatform_stub": stub,
            "warnings": warnings,
        }
        names |= {
            "__builtins__": builtins,
            "stub": stub,
            "client": client,
            "async_client": stub.async_client(),
        }
        for example in doctest.DocTestParser().get_examples(sections(MEMBERS[member])["Example"]):
            if '"job-1"' in example.source and not stub.jobs:
                client.create_job("An earlier job")
            printed = prompt(example.source, names, runner)
            flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
            assert doctest.OutputChecker().check_output(example.want, printed, flags), (
                f"{example.source}prints\n{printed}"
            )


def prompt(source: str, names: dict[str, Any], runner: asyncio.Runner) -> str:
    """Runs the code as a Python prompt that understands `await`, such as `python -m asyncio`, and returns its output."""
    code = compile(source, "<example>", "single", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            done = FunctionType(code, names)()
            if inspect.iscoroutine(done):
                runner.run(done)
        except Exception as error:  # noqa: BLE001 - a prompt prints them all
            printed.write(
                f"Traceback (most recent call last):\n    ...\n{traceback.format_exception_only(error)[0]}"
            )
    return printed.getvalue()
