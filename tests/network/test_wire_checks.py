"""Four of the checks that run after every test on a scripted connection do find faults."""

from __future__ import annotations

import socket
from collections.abc import Callable

import pytest

from helpers.faults import APPLY, READ_ALL, FaultServer, Script
from helpers.wire import (
    check_elsewhere,
    check_received,
    check_scripts,
    check_side_effects,
)

POST = b"POST /jobs HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello"
GET = b"GET /jobs HTTP/1.1\r\n\r\n"
KEY = "dp_0123456789abcdefghij"


def dial(server: FaultServer) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=20)


def say(script: Script, data: bytes) -> tuple[bytes, FaultServer]:
    """The answer of a server to bytes, and the server after it."""
    with FaultServer() as server:
        server.script(script)
        with dial(server) as connection:
            connection.sendall(data)
            heard = b""
            while piece := connection.recv(65536):
                heard += piece
        server.wait_closed()
    return heard, server


def broken(_: object) -> None:
    raise LookupError("by mistake")


@pytest.mark.parametrize(
    ("script", "data", "check", "found"),
    [
        ([READ_ALL, APPLY, READ_ALL, APPLY], POST + POST, check_side_effects, "more than once"),
        ([broken], b"", check_scripts, "a script broke"),
        ([], b"", check_elsewhere, "another origin"),
    ],
)
def test_what_must_not_happen_is_found(
    script: Script, data: bytes, check: Callable[[FaultServer], None], found: str
) -> None:
    _, server = say(script, data)
    with pytest.raises(AssertionError, match=found):
        check(server)


HEADER = f"Authorization: Bearer {KEY}\r\n".encode()


@pytest.mark.parametrize(
    "request_",
    [
        GET,
        b"GET / HTTP/1.1\r\n" + HEADER * 2 + b"\r\n",
        b"GET /" + KEY.encode() + b" HTTP/1.1\r\n" + HEADER + b"\r\n",
        b"GET / HTTP/1.1\r\nCookie: " + KEY.encode() + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: 23\r\n" + HEADER + b"\r\n" + KEY.encode(),
        b"CONNECT docs.example:443 HTTP/1.1\r\n" + HEADER + b"\r\n",
        b"GET / HTTP/1.1\r\n" + HEADER + b"\r\n" + KEY.encode(),
    ],
)
def test_a_key_in_a_wrong_place_is_found(request_: bytes) -> None:
    _, server = say([READ_ALL], request_)
    with pytest.raises(AssertionError):
        check_received(server.connections, [KEY])
