"""The key, the prompt and other secrets are nowhere to be found, also where the service echoes them."""

from __future__ import annotations

import base64
import faulthandler
import pydoc
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

import pytest

import docplatform
from docplatform import DocPlatformError
from docplatform.testing import StubServer
from helpers import AnyClient, Face
from helpers.search import Search

KEY = "dpk_live_V3ryS3cr3tP4rt0fTh3K3y9x8w7v6"
HEADER = "h34d3rS3cr3tT0k3n"
PASSWORD = "pr0xyP4ssw0rd"
PROMPT = 'Xylophon-Quittung "Nachtigall" für Müllers Gymnasiumsprüfung'

NO_PROXY = f"ftp://user:{PASSWORD}@127.0.0.1:9"

ENCODED = [
    base64.b64encode(KEY.encode()).decode(),
    base64.b64encode(f":{KEY}".encode()).decode(),
    "".join(f"%{byte:02x}" for byte in KEY.encode()),
    KEY.encode().hex(),
    KEY.encode().hex().upper(),
]
SECRETS = [KEY.removeprefix("dpk_live_"), HEADER, PASSWORD, PROMPT, *ENCODED]

ECHO_HEADERS = {
    "x-request-id": f"id-{KEY}",
    "Location": f"https://elsewhere.example/?token={KEY}&more={HEADER}",
    "Set-Cookie": KEY,
    "WWW-Authenticate": f"Bearer realm={KEY}",
}


def echo(prompt: str) -> dict[str, object]:
    details = [{"message": f"Authorization: Bearer {KEY}"}, {"message": prompt}]
    return {"error": f"no such token: {KEY}; X-Token: {HEADER}; prompt: {prompt}", "details": details}


def make(face: Face, stub: StubServer, **settings: Any) -> AnyClient:
    """In a frame that is gone afterwards, since a traceback may show the locals of the others."""
    return face.make(KEY, base_url=stub.url, project_id="demo", headers={"X-Token": HEADER}, **settings)


Fail: TypeAlias = Callable[[], object]

CALLS: dict[str, Callable[[Face, AnyClient], object]] = {
    "GET": lambda face, client: face.run(client.get_job("job-1")),
    "POST": lambda face, client: face.run(client.create_job(PROMPT)),
    "message": lambda face, client: face.run(client.send_message("job-1", PROMPT)),
    "export": lambda face, client: face.all(client.visitors()),
    "request": lambda face, client: face.run(client.request("PUT", "/v1/any", json={"prompt": PROMPT})),
}
STATUSES = (301, 307, 400, 401, 403, 404, 409, 418, 422, 429, 500, 502, 599)


def bodies(prompt: str) -> Iterator[tuple[int, object]]:
    yield from ((status, echo(prompt)) for status in STATUSES)
    yield from ((status, f"<html>{KEY} {HEADER} {prompt}</html>") for status in (200, 201, 400, 500))
    yield 200, f'{{"id": "{KEY}'
    yield 200, {"id": 5, "status": KEY, "x": prompt}
    yield 200, [KEY, HEADER, prompt]
    yield 200, b"\xff" + KEY.encode()
    # Without the beginning, or encoded.
    parts = (SECRETS[0], KEY[-20:], HEADER[1:], prompt[20:], *ENCODED)
    yield from ((422, {"error": f"who is {part}?"}) for part in parts)


def answers(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Faults with all secrets echoed wherever an answer has room for them."""
    # A call that has no prompt cannot know one.
    prompt = "" if name in ("GET", "export") else PROMPT
    for status, body in bodies(prompt):
        headers = ECHO_HEADERS | {"Content-Type": f"text/{KEY}"}
        yield f"{status} {body!r:.20}", {"status": status, "body": body, "headers": headers}


def provoke(fail: Fail) -> BaseException | None:
    """The error that is raised, if any; its traceback begins here, where no local is a secret."""
    try:
        fail()
    except (DocPlatformError, ValueError) as error:
        return error
    return None


def errors(face: Face, stub: StubServer) -> Iterator[tuple[str, BaseException | None]]:
    """Failures of requests of every kind."""
    client = make(face, stub, max_retries=0)
    for name, call in CALLS.items():
        for where, fault in answers(name):
            stub.fail_next(**fault)
            yield f"{name} answered {where}", provoke(partial(call, face, client))
            stub.reset()
            # A 429 throttles the client that saw it.
            client = make(face, stub, max_retries=0) if fault["status"] == 429 else client
    for name, call in CALLS.items():
        stub.fail_next(drop=True)
        yield f"{name} broken off", provoke(partial(call, face, client))
        stub.latency = 1.0
        yield f"{name} too late", provoke(partial(call, face, client.with_options(timeout=0.01)))
        stub.latency = 0.0
    stub.fail_next(502, times=3, body=echo(""))
    yield "retried", provoke(partial(CALLS["export"], face, client.with_options(max_retries=2)))
    stub.fail_next(429, retry_after=9, body=echo(""))
    yield "throttled", provoke(partial(CALLS["GET"], face, client))
    yield "closed gate", provoke(partial(CALLS["GET"], face, client.with_options(deadline=5)))
    yield "id", provoke(lambda: face.run(client.get_job("..")))
    yield "prompt", provoke(lambda: face.run(client.create_job(" ")))
    elsewhere = with_a_proxy(face)
    yield "proxy", provoke(lambda: face.run(elsewhere.visitor_totals()))
    yield "no proxy", provoke(lambda: docplatform.Client(KEY, base_url="http://localhost", proxy=NO_PROXY))
    client = make(face, stub, max_retries=0)
    stub.close()
    for name, call in CALLS.items():
        yield f"{name} refused", provoke(partial(call, face, client))


def with_a_proxy(face: Face) -> AnyClient:
    settings = {"base_url": "http://docs.example", "project_id": "demo", "allow_http": True, "max_retries": 0}
    return face.make(KEY, proxy=f"http://user:{PASSWORD}@127.0.0.1:9", **settings)


@pytest.mark.row("H1", "H2", "H3", "H5", "N6")
def test_no_secret_is_anywhere(
    face: Face, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    search = Search(SECRETS)
    caplog.set_level(1)
    caplog.set_level(1, "asyncio")
    with StubServer() as stub, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        client = make(face, stub)
        things = {
            "client": client,
            "handle": client.with_options(timeout=1),
            "visitors": client.visitors(),
            "pages": client.visitors().pages(),
            "rows": client.paginate("/v1/list", items="items"),
            "stats": client.stats,
            "client of a proxy": with_a_proxy(face),
            "plain client": face.make(KEY, base_url=stub.url, project_id="demo"),
            "stub": stub,
        }
        if face.name == "async":
            things["coroutine"] = client.create_job(PROMPT)
        for where, thing in things.items():
            search.thing(where, thing)
        search.text("checkpoint", things["visitors"].checkpoint)
        kinds: set[type] = set()
        for where, error in errors(face, stub):
            if error is not None:
                search.error(where, error)
                kinds.add(type(error))
        assert len(kinds) > 15, kinds
        if face.name == "async":
            things["coroutine"].close()
    for where, document in {"package": docplatform, "client": client, "class": type(client)}.items():
        search.text(f"help of the {where}", pydoc.render_doc(document))
    with tempfile.TemporaryFile() as file:
        faulthandler.dump_traceback(file)
        file.seek(0)
        search.text("faulthandler", file.read())
    assert [record for record in caplog.records if record.name == "docplatform"]
    for record in caplog.records:
        search.text(f"log of {record.name}", f"{record.getMessage()} {record.__dict__}")
    for warning in warned:
        search.text("warning", str(warning.message))
    for request in stub.requests:
        search.text(
            "recorded request",
            repr({**vars(request), "json": None, "headers": {**request.headers, "x-token": ""}}),
        )
    search.text("console", "".join(capfd.readouterr()))
    assert len(search.texts) > 5_000
    search.check()
