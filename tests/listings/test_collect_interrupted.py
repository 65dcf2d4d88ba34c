"""An export into memory or into a file that is interrupted loses no row: the next call has the rest."""

from __future__ import annotations

import asyncio
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from docplatform._hooks import frames
from docplatform.testing import StubServer
from helpers import AsyncFace, Face
from helpers.exports import FILES, ROWS, dicts, eventually, export, names, progress, read
from helpers.marks import linux
from helpers.preload import build
from helpers.scripts import run_script

pytestmark = pytest.mark.row("I4")
# One of each kind: a table, dicts, a frame, a file of a library, a file of rows.
every_way = pytest.mark.parametrize("way", ["collect", "to_dicts", "to_pandas", "to_parquet", "to_csv"])


def is_as_before(folder: Path) -> bool:
    """Whether there is the old file and nothing else."""
    return names(folder) == ["file"] and (folder / "file").read_bytes() == b"before"


@every_way
@pytest.mark.parametrize("error", [KeyboardInterrupt, asyncio.CancelledError])
def test_an_interrupt_in_the_middle_loses_no_row(
    face: Face,
    given: StubServer,
    way: str,
    error: type[BaseException],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    target = tmp_path / "file"
    target.write_text("before")
    visitors = face.client(given).visitors(prefetch=0)
    first = [face.next(visitors) for _ in range(10)]
    before = visitors.checkpoint

    def interrupt(_: int) -> None:
        raise error

    with progress(monkeypatch, interrupt):
        call = (target,) if way in FILES else ()

        async def wait() -> None:
            # Caught in the loop, which would not outlive a KeyboardInterrupt.
            with pytest.raises(error):
                await getattr(visitors, way)(*call, progress=True)

        if face.name == "async":
            face.run(wait())
        else:
            with pytest.raises(error):
                getattr(visitors, way)(*call, progress=True)
    assert visitors.checkpoint == before
    if way in FILES:
        eventually(lambda: is_as_before(tmp_path))
    # Another client continues at the checkpoint, and so does the iterator itself.
    assert first + face.all(face.client(given).visitors(resume=before)) == ROWS
    first += [face.next(visitors) for _ in range(300)]
    assert first + export(face, visitors, way, target) == ROWS


# -- progress --------------------------------------------------------------------------------------


class Broken:
    """A bar whose stream went away."""

    calls = 0

    def update(self, _: int) -> None:
        self.calls += 1
        raise BrokenPipeError


@pytest.mark.parametrize("way", ["collect", "to_csv"])
def test_progress_that_fails_stops_and_the_export_continues(
    face: Face, given: StubServer, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = Broken()
    monkeypatch.setattr("docplatform._hooks.progress.bar", lambda *_: broken)
    visitors = face.client(given).visitors(page_size=50)
    target = tmp_path / "file"
    made = face.run(face.call(getattr(visitors, way), *([target] if way in FILES else []), progress=True))
    assert (read(target, way) if way in FILES else dicts(made)) == ROWS
    assert broken.calls == 1


def test_a_program_without_stderr_shows_no_progress(
    face: Face, given: StubServer, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    monkeypatch.setattr("docplatform._hooks.progress._EVERY", 0.0)
    assert len(face.run(face.call(face.client(given).visitors().collect, progress=True))) == 600
    assert capfd.readouterr() == ("", "")


# -- the event loop ----------------------------------------------------------------------------------


def gated(way: str, monkeypatch: pytest.MonkeyPatch) -> tuple[threading.Event, threading.Event]:
    """Has the making of a frame stand still: when that is reached, and what lets it go on."""
    entered, go_on = threading.Event(), threading.Event()
    what = "encode" if way in FILES else way
    make = getattr(frames, what)

    def gate(*arguments: Any) -> Any:
        entered.set()
        assert go_on.wait(20), "the loop stood still"
        return make(*arguments)

    monkeypatch.setattr(frames, what, gate)
    return entered, go_on


@pytest.mark.parametrize("way", ["to_pandas", "to_polars", "to_arrow", "to_parquet", "to_excel"])
def test_the_loop_runs_while_a_frame_is_made(
    async_face: AsyncFace, given: StubServer, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entered, ticked = gated(way, monkeypatch)

    async def tick() -> None:
        assert await asyncio.to_thread(entered.wait, 20)
        ticked.set()

    async def main() -> Any:
        call = (tmp_path / "file",) if way in FILES else ()
        made, _ = await asyncio.gather(getattr(async_face.client(given).visitors(), way)(*call), tick())
        return made

    made = async_face.run(main())
    assert (read(tmp_path / "file", way) if way in FILES else dicts(made)) == ROWS


TICKING = """
import asyncio, os, sys
import docplatform

disk, way, target = sys.argv[1:]

async def tick():
    while not os.path.exists(f"{disk}.began"):
        await asyncio.sleep(0.001)
    open(disk, "w").close()

async def main():
    visitors = docplatform.AsyncClient().visitors()
    print((await asyncio.gather(getattr(visitors, way)(target), tick()))[0])

asyncio.run(main())
"""


@linux
@pytest.mark.parametrize("way", FILES)
def test_the_loop_runs_while_the_disk_is_slow(given: StubServer, way: str, tmp_path: Path) -> None:
    env = {"LD_PRELOAD": str(build("disk", tmp_path)), "DISK": str(tmp_path / "disk")}
    ended = run_script(TICKING, env["DISK"], way, str(tmp_path / "file"), stub=given, env=env)
    assert (ended.status, ended.out, ended.err) == (0, "600\n", "")


@pytest.mark.parametrize("way", ["to_pandas", "to_parquet"])
def test_cancelling_while_a_frame_is_made_loses_no_row(
    async_face: AsyncFace, given: StubServer, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No row is lost, and no file is left, though the other thread comes to its end."""
    entered, go_on = gated(way, monkeypatch)
    visitors = async_face.client(given).visitors()

    async def main() -> None:
        task = asyncio.create_task(getattr(visitors, way)(*([tmp_path / "file"] if way in FILES else [])))
        assert await asyncio.to_thread(entered.wait, 20)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        go_on.set()

    async_face.run(main())
    assert async_face.all(visitors) == ROWS
    eventually(lambda: not names(tmp_path))
