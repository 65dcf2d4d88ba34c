"""A listener on loopback that is no service: it takes down every request, and answers as it was told."""

from __future__ import annotations

import json
import socket
import threading
from typing import Self


def http_answer(status: int, body: object = None, *headers: str) -> bytes:
    """An answer after which the connection is closed."""
    data = b"" if body is None else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} Status", f"Content-Length: {len(data)}", "Connection: close", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + data


class Listener:
    """Gives the n-th connection the n-th answer, and all that follow the last one, and closes it.

    In place of an answer ``None`` holds the connection until the client goes away, and then sets ``left``. Heads
    are complete before their answer goes out, so they are there when the client has its answer.
    """

    def __init__(self, *answers: bytes | None) -> None:
        self._answers = list(answers or [http_answer(502)])
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self.heads: list[bytes] = []
        self.left = threading.Event()
        self.held = threading.Event()
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._socket.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection:
                head = b""
                while b"\r\n\r\n" not in head and (data := connection.recv(65536)):
                    head += data
                self.heads.append(head)
                answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
                if answer is not None:
                    connection.sendall(answer)
                    continue
                self.held.set()
                while connection.recv(65536):
                    pass
                self.left.set()
