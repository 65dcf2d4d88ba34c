"""The end of a process puts its names of ``once=`` into the store's one file: a copy of that file knows them (row N1)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from docplatform.testing import StubServer
from helpers.cli import SCRIPT
from helpers.faults import Blackhole
from helpers.marks import linux, posix
from helpers.once import NAME, PROMPT, posts
from helpers.scripts import run_command, run_script

pytestmark = [pytest.mark.row("N1"), pytest.mark.one_python]

BEGIN = """
import asyncio, atexit, os, shutil, sys
import docplatform

store, target = sys.argv[1:]

def copy():
    if not os.path.exists(target):
        print(os.listdir(os.path.dirname(store)), flush=True)
        shutil.copy(store, target)

# Runs after the client's own callback, which is registered later.
atexit.register(copy)
task = ("Document release 1.4",)
once = {"once": "docs-1.4"}

async def run(client):
    await client.create_job(*task, **once)
"""
ENDS = {
    "with": """
with docplatform.Client(store=store) as client:
    client.create_job(*task, **once)
copy()
""",
    "close": """
client = docplatform.Client(store=store)
client.create_job(*task, **once)
client.close()
copy()
""",
    "async with": """
async def main():
    async with docplatform.AsyncClient(store=store) as client:
        await asyncio.gather(run(client), run(client))
    copy()
asyncio.run(main())
""",
    "an exception": """
try:
    with docplatform.Client(store=store) as client:
        client.create_job(*task, **once)
        1 / 0
except ZeroDivisionError:
    copy()
""",
    "the interpreter": "docplatform.Client(store=store).create_job(*task, **once)",
    "asyncio.run": "asyncio.run(run(docplatform.AsyncClient(store=store)))",
    "a message": """
with docplatform.Client(store=store) as client:
    client.create_job(*task, **once)
    client.send_message("job-1", "More", once="more")
copy()
""",
    "no call": "docplatform.Client(store=store).create_job(*task, **once); docplatform.Client(store=store)",
}


CHILD = """
import concurrent.futures, multiprocessing, os, shutil, sys
import docplatform

method, store, target = sys.argv[1:]
client = docplatform.Client(store=store)

def create():
    client.create_job("Document release 1.4", once="docs-1.4")

if __name__ == "__main__":
    context = multiprocessing.get_context(method.split()[0])
    if method.endswith("pool"):
        with concurrent.futures.ProcessPoolExecutor(1, context) as pool:
            pool.submit(create).result()
    else:
        child = context.Process(target=create)
        child.start()
        child.join()
        assert child.exitcode == 0
    print(os.listdir(os.path.dirname(store)), flush=True)
    shutil.copy(store, target)
"""


CONNECTING = """
import sys, threading
import docplatform

store, address = sys.argv[1:]
client = docplatform.Client(store=store, base_url=address, connect_timeout=60)
once = {"once": "docs-1.4"}
threading.Thread(target=client.create_job, args=("Document release 1.4",), kwargs=once, daemon=True).start()
while not client._once():
    pass
"""


def check(stub: StubServer, copy: Path) -> None:
    sent = [(request.path, (request.json or {})["prompt"]) for request in stub.requests]
    with stub.client(store=copy) as client:
        assert client.create_job(PROMPT, once=NAME).id == "job-1"
        for path, prompt in sent[1:]:
            assert path.endswith("/message")
            client.send_message("job-1", prompt, once="more")
    assert posts(stub) == len(sent)


@pytest.mark.parametrize("end", ENDS)
def test_a_copy_of_the_one_file_knows_the_names_after_any_normal_end(
    stub: StubServer, store: Path, tmp_path: Path, end: str
) -> None:
    copy = tmp_path / "copy.db"
    ended = run_script(BEGIN + ENDS[end], str(store), str(copy), stub=stub)
    assert ended.out.strip() == str([store.name]), ended
    check(stub, copy)


@posix
@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn", "fork pool"])
def test_a_copy_of_the_one_file_knows_the_names_of_a_child_process(
    stub: StubServer, store: Path, tmp_path: Path, method: str
) -> None:
    """A child of ``multiprocessing`` may end without the callbacks of ``atexit``."""
    script, copy = tmp_path / "script.py", tmp_path / "copy.db"
    script.write_text(CHILD)
    line = [sys.executable, str(script), method, str(store), str(copy)]
    ended = run_command(line, stub=stub)
    assert ended.out.strip() == str([store.name]), ended
    check(stub, copy)


def test_a_copy_of_the_one_file_knows_the_names_after_a_command(
    stub: StubServer, store: Path, tmp_path: Path
) -> None:
    line = [sys.executable, "-c", SCRIPT, "job", "create", "--once", NAME, "--store", str(store), PROMPT]
    assert run_command(line, stub=stub).status == 0
    assert [file.name for file in store.parent.iterdir()] == [store.name]
    check(stub, store.rename(tmp_path / "copy.db"))


@linux
def test_the_end_of_a_process_frees_the_name_of_a_request_that_never_left(
    stub: StubServer, store: Path
) -> None:
    with Blackhole() as nowhere:
        assert run_script(CONNECTING, str(store), nowhere.url, stub=stub).status == 0
        with stub.client(store=store, base_url=nowhere.url) as client:
            assert client._once() == []
