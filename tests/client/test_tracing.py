"""A call within a span of OpenTelemetry names its trace; nothing else of the process's tracing is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from opentelemetry import baggage, context, propagate, trace
from opentelemetry.propagators.composite import CompositePropagator
from opentelemetry.propagators.textmap import Setter, TextMapPropagator, default_setter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from docplatform.testing import StubServer
from helpers import Face
from helpers.pages import rows
from helpers.scripts import run_script

tracer = TracerProvider().get_tracer(__name__)


@contextmanager
def within_a_span() -> Iterator[str]:
    """The ``traceparent`` of a span; there is baggage, too, and the state of a vendor."""
    state = trace.TraceState([("vendor", "Initech")])
    remote = trace.SpanContext(0xABC, 0xDEF, is_remote=True, trace_state=state)
    parent = trace.set_span_in_context(trace.NonRecordingSpan(remote))
    token = context.attach(baggage.set_baggage("customer", "Initech", parent))
    try:
        with tracer.start_as_current_span("task") as span:
            here = span.get_span_context()
            yield f"00-{here.trace_id:032x}-{here.span_id:016x}-{here.trace_flags:02x}"
    finally:
        context.detach(token)


def traced(face: Face, make: Callable[[], Any]) -> tuple[str, Any]:
    """The ``traceparent`` of a span, and what a call within it comes to."""

    async def inside() -> tuple[str, Any]:
        with within_a_span() as span:
            return span, await make()

    if face.name == "async":
        answer: tuple[str, Any] = face.run(inside())
        return answer
    with within_a_span() as span:
        return span, make()


def sent(stub: StubServer) -> list[str | None]:
    return [request.headers.get("traceparent") for request in stub.requests]


@pytest.fixture
def propagator() -> Iterator[Callable[[TextMapPropagator], None]]:
    """Sets the process's propagator, as its user would."""
    before = propagate.get_global_textmap()
    yield propagate.set_global_textmap
    propagate.set_global_textmap(before)


class Writes(TextMapPropagator):
    """Writes any headers."""

    def __init__(self, headers: Mapping[str, Any]) -> None:
        self._headers = headers

    def inject(self, carrier: Any, context: Any = None, setter: Setter[Any] = default_setter) -> None:
        for name, value in self._headers.items():
            setter.set(carrier, name, value)

    def extract(self, carrier: Any, context: Any = None, getter: Any = None) -> Any:
        raise NotImplementedError

    @property
    def fields(self) -> set[str]:
        return set(self._headers)


def test_every_request_of_a_call_names_the_callers_span(face: Face, stub: StubServer) -> None:
    stub.fail_next(status=502, path="/job/")
    client = face.client(stub)
    span, job = traced(face, lambda: client.run_job("Fix it", poll_interval=0.01))
    assert job.status == "completed"
    assert len(stub.requests) >= 3
    assert set(sent(stub)) == {span}


@pytest.mark.parametrize(("prefetch", "taken"), [(0, 10), (1, 0)])
def test_a_page_names_the_span_that_asked_for_it(face: Face, prefetch: int, taken: int) -> None:
    with StubServer(rows(0, 30)) as stub:
        visitors = face.client(stub).visitors(page_size=10, prefetch=prefetch, max_rows=20 + taken)
        for _ in range(taken):
            face.next(visitors)
        span, _ = traced(face, visitors.__next__ if face.name == "sync" else visitors.__anext__)
        assert len(face.all(visitors)) == 19
        assert sent(stub) == ([span, span] if prefetch else [None, span, None])


def test_each_task_and_thread_names_its_own(face: Face, stub: StubServer) -> None:
    client = face.client(stub)

    def one(prompt: str) -> Any:
        with tracer.start_as_current_span(prompt) as span:
            client.create_job(prompt)
            return span.get_span_context().trace_id

    async def task(prompt: str) -> Any:
        with tracer.start_as_current_span(prompt) as span:
            await client.create_job(prompt)
            return span.get_span_context().trace_id

    async def together() -> list[Any]:
        return await asyncio.gather(*(task(f"job {number}") for number in range(20)))

    if face.name == "async":
        ids = face.run(together())
    else:
        with ThreadPoolExecutor(8) as pool:
            ids = list(pool.map(one, [f"job {number}" for number in range(20)]))
    named = {
        request.json["prompt"]: request.headers["traceparent"].split("-")[1] for request in stub.requests
    }
    assert named == {f"job {number}": f"{trace_id:032x}" for number, trace_id in enumerate(ids)}


def test_baggage_and_state_stay_at_home(face: Face, stub: StubServer) -> None:
    client = face.client(stub)

    def call() -> Any:
        carrier: dict[str, str] = {}
        propagate.inject(carrier)
        assert set(carrier) == {"traceparent", "tracestate", "baggage"}, "the propagator would send them"
        return client.create_job("Fix it")

    span, _ = traced(face, call)
    (request,) = stub.requests
    assert sent(stub) == [span]
    assert "Initech" not in repr(request)
    assert not {"baggage", "tracestate"} & set(request.headers)


def test_what_the_user_configured_holds(face: Face, stub: StubServer, propagator: Any) -> None:
    # OTEL_PROPAGATORS=none comes to this.
    propagator(CompositePropagator([]))
    traced(face, lambda: face.client(stub).create_job("Fix it"))
    propagator(TraceContextTextMapPropagator())
    own = {"traceparent": "00-" + "1" * 32 + "-" + "2" * 16 + "-00"}
    traced(face, lambda: face.client(stub, headers=own).create_job("Fix it"))
    assert sent(stub) == [None, own["traceparent"]]


@pytest.mark.parametrize("value", ["", "x\r\nauthorization: Bearer stolen", "\ud800", 5, None, ["a"]])
def test_what_is_no_header_value_is_not_sent(
    face: Face, stub: StubServer, propagator: Any, unraisable: list[Any], value: object
) -> None:
    propagator(Writes({"traceparent": value, "authorization": "Bearer stolen", "x-b3-traceid": "1"}))
    traced(face, lambda: face.client(stub).create_job("Fix it"))
    (request,) = stub.requests
    assert request.headers["authorization"] == "Bearer ***"
    assert "traceparent" not in request.headers
    assert "x-b3-traceid" not in request.headers
    # What is not a string at all is a bug in the propagator, and reported as one.
    assert len(unraisable) == (not isinstance(value, str) or value == "\ud800")


def test_a_propagator_that_fails_does_not_break_the_call(
    face: Face, stub: StubServer, propagator: Any, unraisable: list[Any]
) -> None:
    class Broken(Writes):
        def inject(self, carrier: Any, context: Any = None, setter: Setter[Any] = default_setter) -> None:
            raise KeyError("mine")

    propagator(Broken({}))
    traced(face, lambda: face.client(stub).create_job("Fix it"))
    assert [type(told.exc_value) for told in unraisable] == [KeyError]
    assert sent(stub) == [None]


def test_a_process_that_does_not_trace_imports_nothing_for_it(stub: StubServer) -> None:
    script = """
        import sys
        import docplatform
        with docplatform.Client() as client:
            client.create_job("Fix it")
        print([name for name in sys.modules if name.startswith("opentelemetry")])
    """
    assert run_script(script, stub=stub).out.strip() == "[]"
    assert sent(stub) == [None]
