"""Endless answers stop at their cap, and so does the memory (rows C12, C14, C15)."""

from __future__ import annotations

import gzip
from typing import Any

import pytest

from helpers.children import tell
from helpers.connection import answer
from helpers.faults import APPLY, FLOOD, READ_ALL, SEND, Step
from helpers.wire import Wire

MIB = 2**20
ROOM = 16
"""The memory that a call may take beyond its cap, in MiB."""
ENDLESS = 2**50
PIECE = b" " * 65536

SCRIPT = """
ours = client(**{settings})
run(lambda: ours.request("GET", "/v3/first"))
before = peak()
told = outcome(lambda: {call})
print(json.dumps({{**told, "grown": (peak() - before) / 1024}}))
"""


def flood(wire: Wire, call: str, *steps: Step, **settings: Any) -> dict[str, Any]:
    """How a call ends that these steps answer, and by how many MiB the process had grown."""
    wire.server.script([READ_ALL, SEND(answer(200, {}))], [READ_ALL, APPLY, *steps])
    script = SCRIPT.format(call=call, settings=settings)
    told: dict[str, Any] = tell(wire.face.name, script, **wire.environment)
    wire.seen.append(str(told))
    wire.server.wait_closed()
    _, flooded = wire.server.connections
    assert flooded.sent < ENDLESS
    return told


LENGTH = f"Content-Length: {ENDLESS}\r\n"
CHUNKS = "Transfer-Encoding: chunked\r\n"
CHUNK = b"%x\r\n" % len(PIECE) + PIECE + b"\r\n"


def head(status: int, framing: str) -> Step:
    return SEND(f"HTTP/1.1 {status} Status\r\nContent-Type: application/json\r\n{framing}\r\n".encode())


@pytest.mark.row("C14")
@pytest.mark.parametrize(
    ("framing", "piece"),
    [
        pytest.param(LENGTH, PIECE, id="length"),
        pytest.param(CHUNKS, CHUNK, id="chunks"),
        pytest.param("", PIECE, id="end"),
    ],
)
def test_a_page_stops_at_max_response_bytes(wire: Wire, framing: str, piece: bytes) -> None:
    call = "everything(lambda: ours.visitors())"
    told = flood(wire, call, head(200, framing), FLOOD(piece, ENDLESS))
    assert told["error"] == "ResponseError"
    assert f"larger than {32 * MIB} bytes; raise max_response_bytes=" in told["text"]
    assert told["grown"] < 32 + ROOM


@pytest.mark.row("C12")
@pytest.mark.parametrize(
    ("begin", "piece"),
    [
        pytest.param(b"HTTP/1.1 200 OK\r\n", b"x-y: z\r\n" * 1_000, id="headers"),
        pytest.param(b"HTTP/1.1 200 OK\r\nx: ", b"x" * 8_192, id="a line"),
        pytest.param(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100, id="hints"),
    ],
)
def test_a_head_without_end_costs_little(wire: Wire, begin: bytes, piece: bytes) -> None:
    call = "run(lambda: ours.get_job('job-1'))"
    told = flood(wire, call, SEND(begin), FLOOD(piece, ENDLESS), timeout=1)
    assert told["error"] in ("TransportError", "RequestTimeoutError")
    assert told["grown"] < ROOM


@pytest.mark.row("C15")
@pytest.mark.parametrize("layers", [1, 2])
def test_a_bomb_is_not_unpacked(wire: Wire, layers: int) -> None:
    bomb = b" " * (64 * MIB)
    for _ in range(layers):
        bomb = gzip.compress(bomb, 1)
    encoding = "Content-Encoding: " + ", ".join(["gzip"] * layers)
    call = "run(lambda: ours.get_job('job-1'))"
    told = flood(wire, call, SEND(answer(200, bomb, encoding)))
    assert told["error"] == "ResponseError"
    assert "no compression was requested" in told["text"]
    assert told["grown"] < ROOM
