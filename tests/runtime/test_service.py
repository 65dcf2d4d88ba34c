"""A service of three workers on one store: its key is rotated and each worker gets SIGTERM while requests are in flight."""

from __future__ import annotations

import signal
import socket
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from docplatform.testing import StubServer
from helpers.keys import NEW, rotate
from helpers.marks import posix
from helpers.scripts import Script

WORKER = """
import asyncio
import signal
import sys

import docplatform


async def main(store):
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with docplatform.AsyncClient(store=store) as client:
        under_way = set()

        async def serve(reader, writer):
            if stop.is_set():
                return writer.close()
            under_way.add(asyncio.current_task())
            name = (await reader.readline()).decode().strip()
            try:
                job = await client.create_job(f"Document {name}", once=name)
                job = await client.send_message(job, "Be brief", once=f"{name}, message")
                writer.write(f"{job.id}\\n".encode())
            except docplatform.DocPlatformError as error:
                writer.write(f"{error.outcome}\\n".encode())
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        print(server.sockets[0].getsockname()[1], flush=True)
        await stop.wait()
        server.close()
        # As a container does: what is in flight has some seconds.
        await asyncio.wait_for(asyncio.gather(*under_way), 20)


asyncio.run(main(sys.argv[1]))
"""


def ask(port: int, name: str) -> str:
    """What a worker answers; empty if it has ended."""
    try:
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(f"{name}\n".encode())
            return connection.makefile().readline().strip()
    except OSError:
        return ""


@pytest.mark.one_python
@pytest.mark.row("N3", "N13", "M11")
@posix
def test_three_workers_leave_no_name_unknown(stub: StubServer, tmp_path: Path) -> None:
    store, key = tmp_path / "docs.db", tmp_path / "key"
    key.write_text(stub.api_key)
    key.chmod(0o600)
    env = {
        "DOCPLATFORM_BASE_URL": stub.url,
        "DOCPLATFORM_PROJECT_ID": stub.project_id,
        "DOCPLATFORM_API_KEY_FILE": str(key),
        "DOCPLATFORM_ORGANIZATION": "acme",
    }
    stub.latency = 0.05
    names = [f"release {number}" for number in range(30)]
    with ExitStack() as stack, ThreadPoolExecutor(12) as pool:
        workers = [stack.enter_context(Script(WORKER, str(store), env=env)) for _ in range(3)]
        ports = [int(worker.read()) for worker in workers]
        # Each name is asked for at two workers.
        asked = [pool.submit(ask, ports[(n + k) % 3], name) for n, name in enumerate(names) for k in (0, 1)]
        stub.wait_for(lambda stub: len(stub.jobs) >= 5, timeout=30)
        key.write_text(NEW)
        rotate(stub)
        stub.wait_for(lambda stub: len(stub.jobs) >= 12, timeout=30)
        for worker in workers:
            worker.signal(signal.SIGTERM)
        answers = {answer.result() for answer in asked}
        ends = [worker.end() for worker in workers]
    assert [(end.status, end.err) for end in ends] == [(0, "")] * 3
    assert answers <= {"", "not_sent", "rejected"} | {job.id for job in stub.jobs}
    stub.latency = 0
    with stub.client(store=store, organization="acme", api_key=NEW) as client:
        states = Counter(state for _, _, state, _, _ in client._once())
        for name in names:
            job = client.create_job(f"Document {name}", once=name)
            client.send_message(job, "Be brief", once=f"{name}, message")
    assert set(states) <= {"created", "sent"}
    done = Counter((job.prompts[0], len(job.prompts)) for job in stub.jobs)
    assert done == {(f"Document {name}", 2): 1 for name in names}
