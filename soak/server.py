"""A service with random faults: ``python -m soak.server SEED``.

Raw TCP, so that it can break off anywhere. It prints its port, and for each line that it reads its ledger as one line of
JSON: every prompt that was applied, with the ids of the jobs that came of it; every fault; every request that was none.
"""

from __future__ import annotations

import asyncio
import json
import random
import socket
import struct
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from soak.site import KEY, length, row

FAULTY = 0.2
"""The part of requests that something happens to."""
REFUSING = 0.02
"""The part of connections that end before a byte was read."""
HOLD = 1.5
"""Seconds of silence: longer than the client's timeout."""


class BrokenOffError(Exception):
    """The connection is to end here; ``reset`` says how."""

    def __init__(self, *, reset: bool = False) -> None:
        super().__init__()
        self.reset = reset


@dataclass
class Request:
    """One request, read to its end."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes


@dataclass
class Ledger:
    """The creations and messages, by the prompt that asked for them."""

    created: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    messages: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    strange: list[str] = field(default_factory=list)
    requests: int = 0


class Service:
    """Answers, with faults drawn from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.ledger = Ledger()
        self.polls: Counter[str] = Counter()

    def apply(self, request: Request) -> Any:
        """Do what a request asks for; the body of its answer, or ``None`` for one that is none."""
        match request.method, request.path.strip("/").split("/"):
            case "POST", ["v2", "agent", "demo", "job"]:
                prompt = json.loads(request.body)["prompt"]
                job = f"job-{len(self.ledger.created)}-{len(self.ledger.created[prompt])}"
                self.ledger.created[prompt].append(job)
                return self.job(job)
            case "POST", ["v2", "agent", "demo", "job", job, "message"]:
                self.ledger.messages[json.loads(request.body)["prompt"]] += 1
                self.polls[job] = 0
                return self.job(job)
            case "GET", ["v2", "agent", "demo", "job", job]:
                self.polls[job] += 1
                return self.job(job)
            case "GET", ["v1", "analytics", project, "visitors"]:
                return self.page(project, int(request.query["limit"]), int(request.query["offset"]))
        self.ledger.strange.append(f"{request.method} {request.path}")
        return None

    def job(self, job: str) -> dict[str, Any]:
        status = "completed" if self.polls[job] > 1 else "active"
        return {"id": job, "status": status, "prLink": None}

    def page(self, project: str, limit: int, offset: int) -> dict[str, Any]:
        # Now and then less than was asked for, which is no fault of the data.
        cap = limit if self.random.random() < 0.9 else self.random.randint(1, limit)
        total = length(project)
        end = min(offset + cap, total)
        rows = [row(project, number) for number in range(offset, end)]
        totals = {"human": total, "ai": total, "total": total}
        return {"totals": totals, "visitors": rows, "hasMore": end < total}

    async def connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if self.random.random() < REFUSING:
                self.ledger.faults["closed at once"] += 1
                raise BrokenOffError(reset=self.random.random() < 0.5)
            while request := await read(reader):
                self.check(request)
                await self.answer(request, writer)
        except BrokenOffError as broken:
            if broken.reset:
                linger = struct.pack("ii", 1, 0)
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        except (OSError, asyncio.IncompleteReadError):
            pass
        except asyncio.CancelledError:
            # The server ends, and asyncio would print it for every connection that is still open.
            pass
        finally:
            writer.close()

    def check(self, request: Request) -> None:
        self.ledger.requests += 1
        said = [value for name, value in request.headers.items() if KEY in value]
        if said != [f"Bearer {KEY}"] or request.headers.get("authorization") != said[0]:
            self.ledger.strange.append(f"the key is not where it belongs: {request.headers}")

    async def answer(self, request: Request, writer: asyncio.StreamWriter) -> None:
        write = request.method == "POST"
        if self.random.random() >= FAULTY:
            await send(writer, 201 if write else 200, self.apply(request))
            return
        fault = self.random.choice(WRITE_FAULTS if write else READ_FAULTS)
        self.ledger.faults[("POST: " if write else "GET: ") + fault.__name__] += 1
        await fault(self, request, writer)


async def read(reader: asyncio.StreamReader) -> Request | None:
    """The next request of a connection; ``None`` at its end."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.rstrip("\r\n").split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    url = urlsplit(target)
    return Request(method, url.path, dict(parse_qsl(url.query)), headers, body)


def answer_bytes(status: int, body: Any, *headers: str) -> bytes:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} Soak", f"content-length: {len(content)}", "x-request-id: soak", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + content


async def send(writer: asyncio.StreamWriter, status: int, body: Any, *headers: str) -> None:
    writer.write(answer_bytes(status, body, *headers))
    await writer.drain()


# Each takes the same, whether it needs it or not.
Fault = Callable[[Service, Request, asyncio.StreamWriter], Coroutine[Any, Any, None]]


async def lost(service: Service, request: Request, writer: asyncio.StreamWriter) -> None:
    raise BrokenOffError(reset=service.random.random() < 0.5)


async def done_and_lost(service: Service, request: Request, writer: asyncio.StreamWriter) -> None:
    service.apply(request)
    raise BrokenOffError(reset=service.random.random() < 0.5)


async def done_and_silent(service: Service, request: Request, writer: asyncio.StreamWriter) -> None:
    service.apply(request)
    await asyncio.sleep(HOLD)
    raise BrokenOffError


async def done_and_failed(service: Service, request: Request, writer: asyncio.StreamWriter) -> None:
    service.apply(request)
    await send(writer, service.random.choice([500, 502, 503, 504, 599]), {"error": "late"}, "retry-after: 0")


async def failed(service: Service, request: Request, writer: asyncio.StreamWriter) -> None:
    await send(writer, service.random.choice([500, 502, 503, 504]), {"error": "broken"})


async def refused(service: Service, request: Request, writer: asyncio.StreamWriter) -> None:
    status = service.random.choice([302, 307, 400, 401, 403, 409, 422])
    await send(writer, status, {"error": "no"}, "location: http://127.0.0.1:9/")


async def throttled(service: Service, request: Request, writer: asyncio.StreamWriter) -> None:
    headers = service.random.choice([["retry-after: 0"], ["retry-after: 0"], ["retry-after: soon"], []])
    await send(writer, 429, {"error": "slower"}, *headers)


async def done_and_cut(service: Service, request: Request, writer: asyncio.StreamWriter) -> None:
    answer = answer_bytes(200, service.apply(request))
    head = answer.index(b"\r\n\r\n") + 4
    writer.write(answer[: service.random.randint(head, len(answer) - 1)])
    await writer.drain()
    raise BrokenOffError(reset=service.random.random() < 0.5)


async def head_cut(service: Service, request: Request, writer: asyncio.StreamWriter) -> None:
    answer = answer_bytes(200, service.apply(request))
    writer.write(answer[: service.random.randint(1, answer.index(b"\r\n\r\n"))])
    await writer.drain()
    raise BrokenOffError


async def done_and_unreadable(service: Service, request: Request, writer: asyncio.StreamWriter) -> None:
    service.apply(request)
    bodies = [
        b"<html>",
        b"",
        b"[]",
        b"{}",
        b'{"id": "another", "status": 5}',
        b"\xff\xfe",
        b'{"visitors": []}',
    ]
    await send(writer, 200, service.random.choice(bodies))


async def dripped(service: Service, request: Request, writer: asyncio.StreamWriter) -> None:
    answer = answer_bytes(200, service.apply(request))
    for start in range(0, len(answer), -(-len(answer) // 20)):
        writer.write(answer[start : start + -(-len(answer) // 20)])
        await writer.drain()
        await asyncio.sleep(0.005)


async def answered_twice(service: Service, request: Request, writer: asyncio.StreamWriter) -> None:
    """The second answer must never be taken for that of the next request on this connection."""
    answer = service.apply(request)
    another = {"id": "another", "status": "completed"} | service.page("another-3", 3, 0)
    writer.write(answer_bytes(200, answer) + answer_bytes(200, another))
    await writer.drain()


WRITE_FAULTS: list[Fault] = [
    lost,
    done_and_lost,
    done_and_silent,
    done_and_failed,
    failed,
    refused,
    throttled,
    done_and_cut,
    head_cut,
    done_and_unreadable,
    dripped,
    answered_twice,
]
READ_FAULTS = [
    *(fault for fault in WRITE_FAULTS if fault not in {done_and_silent, done_and_lost}),
    failed,
    failed,
    lost,
    done_and_cut,
    dripped,
    answered_twice,
]


async def main(seed: int) -> None:
    """Serve until the standard input ends."""
    service = Service(seed)
    server = await asyncio.start_server(service.connection, "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    loop = asyncio.get_running_loop()
    while await loop.run_in_executor(None, sys.stdin.readline):
        ledger = service.ledger
        print(json.dumps(ledger.__dict__), flush=True)
    server.close()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
