"""Checks that the installed package works on this machine, with nothing else installed. For any platform; needs no checkout.

Run it with the Python of the environment: ``python -I release/smoke.py``.
"""

from __future__ import annotations

import platform
import re
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.metadata import distribution
from importlib.util import find_spec
from operator import methodcaller
from pathlib import Path
from tempfile import TemporaryDirectory

import docplatform
from docplatform import VisitorTable
from docplatform.testing import StubServer

EXTRAS: dict[str, Callable[[VisitorTable], object]] = {
    "pandas": methodcaller("to_pandas"),
    "polars": methodcaller("to_polars"),
    "arrow": methodcaller("to_arrow"),
    "plot": methodcaller("plot"),
    "excel": methodcaller("to_excel", "rows.xlsx"),
    "otel": lambda _: import_module("docplatform.otel").instrument(),
}
"""A use of each extra; `cli` is the command line's, and `progress` is optional."""
MODULES = {"arrow": "pyarrow", "plot": "matplotlib", "excel": "xlsxwriter", "otel": "opentelemetry"}
"""The module of an extra that has another name."""


def installed() -> None:
    """The imported package is the installed one."""
    places = {Path(sysconfig.get_path(name)) for name in ("platlib", "purelib")}
    for module in (docplatform, docplatform._native):
        assert Path(str(module.__file__)).parent.parent in places, module.__file__
    assert docplatform.__version__ == distribution("docplatform").version
    if sys.version_info >= (3, 13) and sysconfig.get_config_var("Py_GIL_DISABLED"):
        assert not sys._is_gil_enabled(), "the import has turned the GIL on"


def readme() -> None:
    """Each Python snippet of the README runs. The package's metadata carries them."""
    text = str(distribution("docplatform").metadata.json["description"])
    pieces: list[str] = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert pieces, "the README shows nothing"
    for piece in pieces:
        with StubServer(active_polls=1) as stub, TemporaryDirectory() as folder:
            script = f"import os; os.environ.update({settings(stub)!r})\n{piece}"
            done = subprocess.run(
                [sys.executable, "-I", "-W", "error", "-c", script],
                check=True,
                capture_output=True,
                text=True,
                cwd=folder,
            )
            assert "https://github.com/" in done.stdout, done.stdout
            assert stub.jobs


def settings(stub: StubServer) -> dict[str, str]:
    """The environment that makes ``Client()`` a client of the stub."""
    return {
        "DOCPLATFORM_BASE_URL": stub.url,
        "DOCPLATFORM_API_KEY": stub.api_key,
        "DOCPLATFORM_PROJECT_ID": stub.project_id,
    }


def demo() -> None:
    """The command that needs nothing, as it was installed."""
    script = Path(sysconfig.get_path("scripts"), "docplatform")
    done = subprocess.run([script, "demo"], check=True, capture_output=True, text=True)
    assert "pull" in done.stdout, done.stdout


def missing() -> list[str]:
    """The extras that are not installed. The error of each says how to install it."""
    told: list[str] = []
    with StubServer(3) as stub, stub.client() as client:
        table = client.visitors().collect()
    for extra, use in EXTRAS.items():
        if find_spec(MODULES.get(extra, extra)):
            continue
        text = error_of(partial(use, table))
        assert f'pip install "docplatform[{extra}]"' in text, f"{extra}: {text}"
        told.append(extra)
    if not find_spec("click"):
        script = Path(sysconfig.get_path("scripts"), "docplatform")
        done = subprocess.run([script, "doctor"], check=False, capture_output=True, text=True)
        assert done.returncode == 2, done
        assert 'pip install "docplatform[cli]"' in done.stderr, done
        told.append("cli")
    return told


def error_of(call: Callable[[], object]) -> str:
    """The text of the `ImportError` that the call ends with."""
    try:
        call()
    except ImportError as error:
        return str(error)
    raise AssertionError("no ImportError")


def main() -> None:
    """All of it; the last line sums it up."""
    installed()
    readme()
    demo()
    told = ", ".join(missing()) or "none"
    print(
        f"works on CPython {platform.python_version()}, {sysconfig.get_platform()}; extras missed and named: {told}"
    )


if __name__ == "__main__":
    main()
