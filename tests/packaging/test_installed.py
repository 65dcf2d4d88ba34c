"""The tests run against the installed wheel, and the wheel was built from this checkout."""

from __future__ import annotations

import hashlib
import sys
import sysconfig
from base64 import urlsafe_b64encode
from importlib.machinery import PathFinder
from importlib.metadata import PackagePath, distribution
from pathlib import Path

import docplatform
from docplatform import _native
from helpers.scripts import run_script

ROOT = Path(__file__).parents[2]
SITE = Path(sysconfig.get_path("platlib"))


def installed() -> list[PackagePath]:
    """The files that RECORD lists with a hash: all that came out of the wheel."""
    return [file for file in distribution("docplatform").files or () if file.hash]


def test_the_package_is_imported_from_where_it_was_installed() -> None:
    assert Path(docplatform.__file__).parent == SITE / "docplatform"
    assert Path(str(_native.__file__)).parent == SITE / "docplatform"
    assert str(distribution("docplatform").locate_file("")) == str(SITE)


def test_nothing_else_on_the_path_has_its_name() -> None:
    # pytest puts these there, this checkout's own folders among them.
    places = [place for place in sys.path if PathFinder.find_spec("docplatform", [place])]
    assert {Path(place) for place in places} == {SITE}


def test_a_process_started_in_the_checkout_takes_the_installed_one() -> None:
    ended = run_script(f"import os; os.chdir({str(ROOT)!r}); import docplatform; print(docplatform.__file__)")
    assert (ended.out.strip(), ended.err) == (str(SITE / "docplatform" / "__init__.py"), "")


def test_every_installed_file_has_the_recorded_hash() -> None:
    files = installed()
    assert {"docplatform/__init__.py", f"docplatform/{Path(str(_native.__file__)).name}"} <= set(
        map(str, files)
    )
    for file in files:
        assert file.hash is not None
        digest = hashlib.new(file.hash.mode, file.read_binary()).digest()
        assert urlsafe_b64encode(digest).rstrip(b"=").decode() == file.hash.value, file


def test_the_wheel_was_built_from_this_checkout() -> None:
    """Else an older build would be what passes; `make` rebuilds what has changed."""
    package = ROOT / "python"
    theirs = {str(file): file for file in installed()}
    for path in (package / "docplatform").rglob("*"):
        if path.is_file() and path.suffix != ".pyc":
            name = path.relative_to(package).as_posix()
            assert theirs[name].read_binary() == path.read_bytes(), f"{name} is not what was installed"
