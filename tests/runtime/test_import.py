"""``import docplatform`` does nothing but import."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from docplatform.testing import StubServer
from helpers.marks import linux
from helpers.scripts import run_script

WATCHED = """
import json, os, sys, sysconfig

events = []
reads = []

class Environment(type(os.environ)):
    def __getitem__(self, name):
        reads.append(name)
        return super().__getitem__(name)

    def __iter__(self):
        reads.append("all of it")
        return super().__iter__()

os.environ.__class__ = Environment
sys.addaudithook(lambda name, args: events.append((name, repr(args[:1]))))
before = set(sys.modules)
import docplatform
seen = list(events)
threads = os.listdir("/proc/self/task") if sys.platform == "linux" else [0]
print(json.dumps({
    "events": seen,
    "reads": reads,
    "threads": len(threads),
    "descriptors": len(os.listdir("/proc/self/fd")) - 1 if sys.platform == "linux" else 3,
    "modules": sorted(set(sys.modules) - before),
}))
"""

QUIET = {
    "import",
    "open",
    "compile",
    "exec",
    "marshal.loads",
    "os.listdir",
    "sys._getframe",
    "object.__getattr__",
    "object.__setattr__",
    "object.__delattr__",
    "code.__new__",
    "cpython._PySys_ClearAuditHooks",
    "ctypes.dlopen",
    "builtins.id",
    "sys.monitoring.register_callback",
}
"""Events of importing Python modules, and of reading a class's fields."""

HEAVY = """
asyncio concurrent.futures socket ssl selectors subprocess threading logging json http urllib email sqlite3
pandas polars pyarrow numpy matplotlib pytest
""".split()


@pytest.fixture(scope="module")
def watched() -> dict[str, Any]:
    # Without site and its hooks, which would import for themselves; the package's own place is added.
    site = next(path for path in sys.path if path.endswith("site-packages"))
    ended = run_script(f"import sys; sys.path.append({site!r})\n{WATCHED}", options=("-I", "-S"))
    assert ended.err == ""
    seen: dict[str, Any] = json.loads(ended.out)
    return seen


@pytest.mark.row("I19")
def test_it_opens_no_file_but_modules_own(watched: dict[str, Any]) -> None:
    opened = [args for name, args in watched["events"] if name == "open"]
    assert opened
    ours = (".py'", ".pyc'", ".so'", ".pyd'")
    assert [name for name in opened if not name.rstrip(",)").endswith(ours)] == []


@pytest.mark.row("I19")
def test_it_does_nothing_else_that_python_would_audit(watched: dict[str, Any]) -> None:
    assert {name for name, _ in watched["events"]} - QUIET == set()


@pytest.mark.row("I19")
def test_its_python_reads_no_environment(watched: dict[str, Any]) -> None:
    assert watched["reads"] == []


@pytest.mark.row("I19")
@linux
def test_it_starts_no_thread_and_keeps_no_descriptor(watched: dict[str, Any]) -> None:
    assert (watched["threads"], watched["descriptors"]) == (1, 3)


@pytest.mark.row("I19")
@pytest.mark.parametrize("name", HEAVY)
def test_it_imports_nothing_heavy(watched: dict[str, Any], name: str) -> None:
    assert [module for module in watched["modules"] if f"{module}.".startswith(f"{name}.")] == []


@pytest.mark.row("I19")
@linux
def test_a_client_starts_no_thread_before_its_first_call(stub: StubServer) -> None:
    script = """
import os, sys
import docplatform
client, later = docplatform.Client(), docplatform.AsyncClient()
rows = client.visitors()
later.get_job("job-1").close()
print(len(os.listdir("/proc/self/task")), "asyncio" in sys.modules)
client.visitor_totals()
print(len(os.listdir("/proc/self/task")) > 1, "asyncio" in sys.modules)
"""
    ended = run_script(script, stub=stub)
    assert (ended.err, ended.out.splitlines()) == ("", ["1 False", "True False"])
    assert len(stub.requests) == 1


@pytest.mark.row("I19", "G6")
def test_the_environment_is_read_when_a_client_is_made(stub: StubServer) -> None:
    script = """
import os
import docplatform
right = dict(os.environ)
os.environ.update(DOCPLATFORM_API_KEY="not a key", DOCPLATFORM_BASE_URL="http://example.com", DOCPLATFORM_PROJECT_ID="..")
try:
    docplatform.Client()
except ValueError:
    os.environ.update(right)
print(docplatform.Client().visitor_totals().total > 0)
"""
    ended = run_script(script, stub=stub)
    assert (ended.status, ended.out, ended.err) == (0, "True\n", "")


@pytest.mark.row("G6")
def test_whatever_is_in_the_working_directory_is_left_alone(stub: StubServer, tmp_path: object) -> None:
    script = f"""
import os, pathlib
os.chdir({str(tmp_path)!r})
for name in (".env", "docplatform.toml", "docplatform.json", ".docplatform", "pyproject.toml", ".netrc", "logging.py"):
    pathlib.Path(name).write_text("DOCPLATFORM_BASE_URL=http://127.0.0.1:9\\nraise SystemExit('read')\\n")
import docplatform
print(docplatform.Client().visitor_totals().total > 0)
"""
    ended = run_script(script, stub=stub, options=("-P",), env={"HOME": str(tmp_path)})
    assert (ended.status, ended.out, ended.err) == (0, "True\n", "")


@pytest.mark.row("I19")
def test_a_subinterpreter_is_refused_and_the_main_one_goes_on() -> None:
    """One of the kind that shares the GIL, too, which Python itself lets in."""
    script = """
try:
    import _interpreters
    excinfo = _interpreters.exec(_interpreters.create("legacy"), "import docplatform")
    print(excinfo.formatted)
except ImportError:
    import _xxsubinterpreters
    try:
        _xxsubinterpreters.run_string(_xxsubinterpreters.create(isolated=False), "import docplatform")
    except _xxsubinterpreters.RunFailedError as error:
        print(error)
import docplatform
print(docplatform.AsyncClient.__name__)
"""
    ended = run_script(script)
    assert ended.err == ""
    refused, name = ended.out.splitlines()
    assert "docplatform cannot be used in a subinterpreter" in refused
    assert name == "AsyncClient"
