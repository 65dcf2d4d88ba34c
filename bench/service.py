"""The local service that all are measured against, as a process of its own."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SERVER = Path(__file__).resolve().parent / "server" / "target" / "release" / "bench-server"


class Server:
    """The local service, a process of its own."""

    def __init__(self, rows: int, latency: int = 0) -> None:
        command = [str(SERVER), str(rows), str(latency)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = f"http://127.0.0.1:{self._answer()}"

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def counts(self) -> tuple[int, int]:
        """Requests so far, and those that asked for rows beyond the last one."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        requests, beyond = self._answer().split()
        return int(requests), int(beyond)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


@contextmanager
def server(rows: int, latency: int = 0) -> Iterator[Server]:
    running = Server(rows, latency)
    try:
        yield running
    finally:
        running.close()
