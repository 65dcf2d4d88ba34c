"""The checks that run after every test on a scripted connection do find faults."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from docplatform import Client, DocPlatformError
from helpers import SyncFace
from helpers.connection import answer
from helpers.faults import APPLY, HOLD, JOB, READ_ALL, SEND, FaultServer, Script
from helpers.wire import (
    Remains,
    Wire,
    check_elsewhere,
    check_no_secret_is_shown,
    check_received,
    check_scripts,
    check_side_effects,
    empty_directories,
)

POST = b"POST /jobs HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello"
GET = b"GET /jobs HTTP/1.1\r\n\r\n"
KEY = "dp_0123456789abcdefghij"


def dial(server: FaultServer) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=20)


def say(script: Script, data: bytes) -> tuple[bytes, FaultServer]:
    """What a server answers to bytes, and the server when it is over."""
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


def test_connections_that_no_script_expected_or_that_did_not_come_are_found() -> None:
    with FaultServer() as server:
        with pytest.raises(ConnectionResetError), dial(server) as connection:
            connection.recv(1)
        server.wait_closed()
    with pytest.raises(AssertionError, match="no script expected"):
        check_scripts(server)
    with FaultServer() as server:
        server.script([HOLD])
    with pytest.raises(AssertionError, match="did not come"):
        check_scripts(server)


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


def test_a_key_in_its_place_is_fine() -> None:
    request = b"GET / HTTP/1.1\r\n" + HEADER + b"\r\n"
    _, server = say([READ_ALL, READ_ALL], request + request)
    check_received(server.connections, [KEY])
    _, cut = say([], request[:-2])
    check_received(cut.connections, [KEY])


def test_two_keys_on_one_connection_are_found() -> None:
    other = KEY[::-1]
    both = [f"GET / HTTP/1.1\r\nAuthorization: Bearer {key}\r\n\r\n".encode() for key in (KEY, other)]
    _, server = say([READ_ALL, READ_ALL], b"".join(both))
    with pytest.raises(AssertionError, match="two keys"):
        check_received(server.connections, [KEY, other])


def told(tmp_path: Path, **seen: Any) -> None:
    with FaultServer() as server, FaultServer() as elsewhere:
        wire = Wire(SyncFace(), server, elsewhere, tmp_path)
    wire.keys = [KEY]
    wire.raised = seen.pop("raised", [])
    check_no_secret_is_shown(wire, seen.pop("output", []), seen.pop("records", []))


def noted(text: str) -> Exception:
    error = ValueError("x")
    error.add_note(text)
    return error


def caused(text: str) -> Exception:
    error = ValueError("x")
    error.__cause__ = LookupError(text)
    return error


def holding(text: str) -> Exception:
    error = DocPlatformError("x")
    error.body = text  # type: ignore[attr-defined]
    return error


@pytest.mark.parametrize("text", [KEY, f"…{KEY[:12]}…"])
def test_a_key_that_was_shown_is_found(tmp_path: Path, text: str) -> None:
    record = logging.LogRecord("docplatform", logging.INFO, "x", 1, "a %s", (text,), None)
    found: list[dict[str, Any]] = [
        {"output": [text]},
        {"records": [record]},
        *({"raised": [make(text)]} for make in (ValueError, noted, caused, holding)),
    ]
    for seen in found:
        with pytest.raises(AssertionError, match="shown"):
            told(tmp_path, **seen)
    told(tmp_path, output=[KEY[-4:]], raised=[ValueError("x")])


def test_what_is_left_behind_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("helpers.wire.LEAVE", 0)
    before = Remains()
    before.check_gone(lookups=False)
    with (tmp_path / "open").open("w"), pytest.raises(AssertionError, match="descriptor"):
        before.check_gone(lookups=False)
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    with pytest.raises(AssertionError, match="Thread"):
        before.check_gone(lookups=False)
    end.set()
    thread.join()
    with pytest.raises(AssertionError, match="files"), empty_directories(tmp_path, monkeypatch):
        Path("forgotten").touch()


def test_a_client_that_is_not_closed_is_found(
    warm: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("helpers.wire.LEAVE", 0)
    with FaultServer() as server:
        server.rest(READ_ALL, SEND(answer(200, JOB, keep=True)), HOLD)
        before = Remains()
        client = Client(KEY, base_url=server.url, project_id="demo")
        client.get_job("job-1")
        with pytest.raises(AssertionError, match="socket"):
            before.check_gone(lookups=True)
        client.close()
        server.wait_closed()
