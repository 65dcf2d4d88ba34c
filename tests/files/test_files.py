"""Exports to files: allowed targets, replacing, and that a file is whole or not there."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from docplatform import VisitorTable
from docplatform.testing import StubServer
from helpers import Face
from helpers.exports import FILES, ROWS, export, names, read
from helpers.marks import posix
from helpers.scripts import command, run_command

every_way = pytest.mark.parametrize("way", FILES)


@pytest.fixture(scope="module")
def table() -> VisitorTable:
    """A table of all rows."""
    with StubServer(ROWS) as stub, stub.client() as client:
        return client.visitors().collect()


@every_way
def test_a_file_replaces_what_was_there(face: Face, given: StubServer, way: str, tmp_path: Path) -> None:
    target = tmp_path / "file"
    for before in (None, "before", "x" * 10**6):
        if before:
            target.write_text(before)
        assert export(face, face.client(given).visitors(), way, target) == ROWS
    assert names(tmp_path) == ["file"]


@every_way
def test_a_target_is_any_text_or_path(
    given: StubServer, table: VisitorTable, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with given.client() as client:
        for name in ("a file, with \N{SNOWMAN}.csv", Path("path"), "./here"):
            assert getattr(table, way)(name) == 600
            assert getattr(client.visitors(), way)(name) == 600
            assert read(tmp_path / name, way) == ROWS
        for wrong in (5, None, ["x"]):
            with pytest.raises(TypeError, match="path must be"):
                getattr(client.visitors(), way)(wrong)
            with pytest.raises(TypeError, match="path must be"):
                getattr(table, way)(wrong)


@every_way
def test_a_relative_target_is_in_the_folder_of_the_call(
    face: Face, given: StubServer, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("docplatform._hooks.progress.bar", lambda *_: Wandering())
    face.run(face.call(getattr(face.client(given).visitors(), way), "file", progress=True))
    assert Path.cwd() != tmp_path
    assert read(tmp_path / "file", way) == ROWS


class Wandering:
    """In place of a bar: goes elsewhere in the middle of an export."""

    def update(self, _: int) -> None:
        os.chdir("/")


# -- refused before anything is asked for ----------------------------------------------------------------


def missing(path: Path) -> Path:
    return path / "missing" / "file"


def inside_a_file(path: Path) -> Path:
    path.write_text("before")
    return path / "file"


def no_name(path: Path) -> str:
    return f"{path}/"


def read_only(path: Path) -> Path:
    path.write_text("before")
    path.chmod(0o444)
    return path


def fifo(path: Path) -> Path:
    os.mkfifo(path)
    return path


@posix
@pytest.mark.row("J3")
def test_a_link_of_the_systems_to_a_redirected_stream_is_never_replaced(tmp_path: Path) -> None:
    """It leads to a regular file. As root, a rename would replace the link itself."""
    script = """
    import sys
    from docplatform._native import _WholeFile
    for path in sys.argv[1:]:
        try:
            _WholeFile(path)
        except OSError as error:
            print(error, file=sys.stderr)
    """
    (tmp_path / "link").symlink_to("/dev")
    paths = ["/dev/stdout", "/dev/../dev/stdout", str(tmp_path / "link" / "stdout")]
    with (tmp_path / "out").open("wb") as out:
        ended = run_command(command(script, *paths), stdout=out.fileno())
    assert ended.err.count("it is not a regular file") == len(paths)


@posix
@pytest.mark.row("J3")
@every_way
@pytest.mark.parametrize(
    ("make", "kind", "number"),
    [
        (no_name, IsADirectoryError, errno.EISDIR),
        (missing, FileNotFoundError, errno.ENOENT),
        (inside_a_file, NotADirectoryError, errno.ENOTDIR),
        (read_only, PermissionError, errno.EACCES),
        (fifo, OSError, errno.EINVAL),
    ],
)
def test_a_target_that_cannot_be_a_file_is_refused_before_a_request(
    face: Face,
    given: StubServer,
    table: VisitorTable,
    way: str,
    make: Callable[[Path], Any],
    kind: type[OSError],
    number: int,
    tmp_path: Path,
) -> None:
    target = make(tmp_path / "target")
    before = names(tmp_path)
    visitors = face.client(given).visitors()
    for write in (getattr(visitors, way), getattr(table, way)):
        with pytest.raises(kind) as caught:
            face.run(face.call(write, target))
        assert caught.value.errno == number
        assert Path(caught.value.filename) == Path(target)
        assert "os error" not in str(caught.value)
    assert given.peak_connections == 0
    assert names(tmp_path) == before
    assert face.all(visitors) == ROWS


@posix
@pytest.mark.row("J3")
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can be another user")
@every_way
def test_a_file_of_another_owner_is_refused(table: VisitorTable, way: str) -> None:
    """Though the folder's permissions would let it be renamed over."""
    open_folder = Path("/tmp") / f"docplatform-{os.getpid()}"  # above a test's own folder nobody may pass
    open_folder.mkdir()
    try:
        open_folder.chmod(0o777)
        # The other user may not be able to read what the method imports.
        getattr(table, way)(open_folder / "imports")
        open_folder.joinpath("imports").unlink()
        target = open_folder / "target"
        target.write_text("before")
        os.seteuid(65534)
        try:
            with pytest.raises(PermissionError):
                getattr(table, way)(target)
            open_folder.joinpath("mine").write_text("before")
            assert getattr(table, way)(open_folder / "mine") == 600
        finally:
            os.seteuid(0)
        open_folder.joinpath("mine").unlink()
        open_folder.chmod(0o755)
        os.seteuid(65534)
        try:
            with pytest.raises(PermissionError):
                getattr(table, way)(open_folder / "new")
        finally:
            os.seteuid(0)
        assert target.read_text() == "before"
        assert names(open_folder) == ["target"]
    finally:
        for path in open_folder.iterdir():
            path.unlink()
        open_folder.rmdir()


@pytest.mark.row("J15")
@every_way
def test_no_file_name_comes_from_the_service(
    face: Face, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    monkeypatch.chdir(inside)
    paths = ["../evil", str(tmp_path / "evil"), "/../../evil", "evil\0", ".docplatform-x.part", ""]
    sent = [{"path": path, "human": 1, "ai": 1, "total": 1, "../more": "../evil"} for path in paths]
    with StubServer(sent) as stub:
        assert export(face, face.client(stub).visitors(), way, Path("file")) == sent
    assert [path.name for path in tmp_path.rglob("*")] == ["inside", "file"]
