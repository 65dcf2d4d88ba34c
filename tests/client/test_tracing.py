"""Spans and metrics of OpenTelemetry: ``docplatform.otel.instrument()``."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from opentelemetry import baggage, context, propagate, trace
from opentelemetry.metrics import NoOpMeterProvider
from opentelemetry.propagators.composite import CompositePropagator
from opentelemetry.propagators.textmap import Setter, TextMapPropagator, default_setter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, Sampler
from opentelemetry.trace import NoOpTracerProvider, SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from docplatform import ConnectError, NotFoundError, ServerError, otel
from docplatform._hooks.spans import Spans
from docplatform.testing import StubServer
from helpers import AsyncFace, Face
from helpers.pages import rows
from helpers.phases import HOLD, pending
from helpers.scripts import run_script

VISITORS = "GET /v1/analytics/{project_id}/visitors"
CREATE = "POST /v2/agent/{project_id}/job"
POLL = "GET /v2/agent/{project_id}/job/{id}"

exporter, reader = InMemorySpanExporter(), InMemoryMetricReader()
provider, meters = TracerProvider(), MeterProvider([reader])
provider.add_span_processor(SimpleSpanProcessor(exporter))
tracer = TracerProvider().get_tracer(__name__)


def use(spans: Spans) -> None:
    """Makes the spans of this process as ``spans`` would: only the first call of ``instrument()`` counts."""
    assert otel._spans is not None
    otel._spans.__dict__.update(spans.__dict__)


@pytest.fixture(autouse=True)
def instrumented() -> Iterator[None]:
    otel.instrument(provider, meters)
    use(Spans(provider, meters))
    exporter.clear()
    yield
    use(Spans(NoOpTracerProvider(), NoOpMeterProvider()))


def ended() -> tuple[ReadableSpan, ...]:
    return exporter.get_finished_spans()


def header(span: Any) -> str:
    here = span.get_span_context()
    return f"00-{here.trace_id:032x}-{here.span_id:016x}-{here.trace_flags:02x}"


def sent(stub: StubServer) -> list[str | None]:
    return [request.headers.get("traceparent") for request in stub.requests]


@contextmanager
def within_a_span() -> Iterator[Any]:
    """A span of the caller's; there is baggage, too, and the state of a vendor."""
    state = trace.TraceState([("vendor", "Initech")])
    remote = trace.SpanContext(0xABC, 0xDEF, True, trace.TraceFlags(1), state)
    parent = trace.set_span_in_context(trace.NonRecordingSpan(remote))
    token = context.attach(baggage.set_baggage("customer", "Initech", parent))
    try:
        with tracer.start_as_current_span("task") as span:
            yield span
    finally:
        context.detach(token)


def traced(face: Face, make: Callable[[], Any]) -> tuple[Any, Any]:
    """A span, and what a call within it comes to."""

    async def inside() -> tuple[Any, Any]:
        with within_a_span() as span:
            return span, await make()

    if face.name == "async":
        answer: tuple[Any, Any] = face.run(inside())
        return answer
    with within_a_span() as span:
        return span, make()


def test_each_call_is_a_span_below_the_callers_and_its_requests_name_it(face: Face, stub: StubServer) -> None:
    stub.fail_next(status=502, path="/job/")
    client = face.client(stub)
    caller, job = traced(face, lambda: client.run_job("Fix it", poll_interval=0.01))
    assert job.status == "completed"
    spans = ended()
    assert [span.name for span in spans] == [CREATE, *[POLL] * (len(stub.requests) - 2)]
    assert {span.parent.span_id for span in spans if span.parent} == {caller.get_span_context().span_id}
    create, polled, *others = spans
    assert sent(stub) == [header(span) for span in (create, polled, polled, *others)]
    port = int(stub.url.rsplit(":")[-1])
    assert polled.kind == SpanKind.CLIENT
    assert polled.status.status_code == StatusCode.UNSET
    assert dict(polled.attributes or {}) == {
        "http.request.method": "GET",
        "server.address": "127.0.0.1",
        "server.port": port,
        "url.template": "/v2/agent/{project_id}/job/{id}",
        "url.full": f"{stub.url}/v2/agent/demo/job/job-1",
        "http.response.status_code": 200,
        "http.request.resend_count": 1,
    }
    first, second = (dict[str, Any](event.attributes or {}) for event in polled.events)
    seconds = ("docplatform.attempt.duration", "docplatform.attempt.waited")
    took = [[event.pop(name) for name in seconds] for event in (first, second)]
    assert all(0 < elapsed < 30 for elapsed, _ in took)
    assert took[0][1] == 0 < took[1][1]
    assert first == {"http.response.status_code": 502, "error.type": "502"}
    assert second == {"http.response.status_code": 200, "http.request.resend_count": 1}
    times = (polled.start_time, *(event.timestamp for event in polled.events), polled.end_time)
    assert list(times) == sorted(set(times), key=lambda time: time or 0)


@pytest.mark.parametrize(
    ("failure", "error", "kind", "attempts"),
    [
        ({"status": 404}, NotFoundError, "404", 1),
        ({"status": 503, "times": 9}, ServerError, "503", 2),
        (None, ConnectError, "ConnectError", 2),
    ],
)
def test_the_span_of_a_failure_names_it(
    face: Face,
    stub: StubServer,
    failure: dict[str, Any] | None,
    error: type[Exception],
    kind: str,
    attempts: int,
) -> None:
    url = {} if failure else {"base_url": "http://127.0.0.1:1"}
    stub.fail_next(**failure or {"status": 500})
    with pytest.raises(error):
        face.run(face.client(stub, max_retries=1, **url).get_job("job-1"))
    (span,) = ended()
    assert span.status.status_code == StatusCode.ERROR
    assert dict(span.attributes or {})["error.type"] == kind
    assert len(span.events) == attempts


@pytest.mark.parametrize("prefetch", [0, 1, 3])
def test_a_page_has_a_span_below_that_of_the_caller_that_asked_for_it(face: Face, prefetch: int) -> None:
    with StubServer(rows(0, 40)) as stub:
        visitors = face.client(stub).visitors(page_size=10, prefetch=prefetch, max_rows=40)
        caller, _ = traced(face, visitors.__next__ if face.name == "sync" else visitors.__anext__)
        # Requests of prefetched pages leave while their caller is away.
        stub.wait_for(lambda stub: len(stub.requests) == 1 + prefetch)
        assert len(face.all(visitors)) == 39
        spans = ended()
        assert [span.name for span in spans] == [VISITORS] * 4
        below = [span for span in spans if span.parent]
        assert [span.parent.span_id for span in below if span.parent] == [
            caller.get_span_context().span_id
        ] * (1 + prefetch)
        assert sorted(map(str, sent(stub))) == sorted(map(header, spans))


def test_each_task_and_thread_has_its_own(face: Face, stub: StubServer) -> None:
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
    assert sorted(map(str, sent(stub))) == sorted(map(header, ended()))


def test_the_span_of_a_cancelled_call_ends_with_it(async_face: AsyncFace, stub: StubServer) -> None:
    stub.latency = HOLD
    client = async_face.client(stub)
    async_face.cancel(lambda: client.create_job("Fix it"), lambda: pending(stub))
    stub.wait_for(lambda _: bool(ended()))
    (span,) = ended()
    assert dict(span.attributes or {})["error.type"] == "cancelled"


def test_durations_and_retries_are_measured(face: Face, stub: StubServer) -> None:
    reader.get_metrics_data()
    stub.fail_next(status=502)
    face.run(face.client(stub).visitor_totals())
    data = reader.get_metrics_data()
    assert data is not None
    (scope,) = data.resource_metrics[0].scope_metrics
    duration, retries = (
        {metric.name: metric for metric in scope.metrics}[name]
        for name in ("http.client.request.duration", "docplatform.client.retries")
    )
    points = {str((point.attributes or {}).get("error.type")): point for point in duration.data.data_points}
    good: Any = points["None"]
    assert (duration.unit, good.attributes["url.template"]) == ("s", VISITORS.removeprefix("GET "))
    assert (good.explicit_bounds[0], good.attributes["http.response.status_code"]) == (0.005, 200)
    assert "502" in points
    assert retries.unit == "{retry}"
    assert any(point.attributes == good.attributes for point in retries.data.data_points)


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


def test_baggage_and_state_stay_at_home(face: Face, stub: StubServer) -> None:
    client = face.client(stub)

    def call() -> Any:
        carrier: dict[str, str] = {}
        propagate.inject(carrier)
        assert set(carrier) == {"traceparent", "tracestate", "baggage"}, "the propagator would send them"
        return client.create_job("Fix it")

    traced(face, call)
    (request,) = stub.requests
    assert sent(stub) == [header(ended()[0])]
    assert "Initech" not in repr(request)
    assert not {"baggage", "tracestate"} & set(request.headers)


def test_what_the_user_configured_holds(face: Face, stub: StubServer, propagator: Any) -> None:
    # OTEL_PROPAGATORS=none comes to this.
    propagator(CompositePropagator([]))
    traced(face, lambda: face.client(stub).create_job("Fix it"))
    propagator(TraceContextTextMapPropagator())
    own = {"traceparent": "00-" + "1" * 32 + "-" + "2" * 16 + "-00"}
    traced(face, lambda: face.client(stub, headers=own).create_job("Fix it"))
    use(Spans(TracerProvider(ALWAYS_OFF), meters))
    face.run(face.client(stub).create_job("Fix it"))
    assert sent(stub)[:2] == [None, own["traceparent"]]
    flags = int(str(sent(stub)[2])[-2:], 16)
    assert not flags & trace.TraceFlags.SAMPLED, "a trace that is not sampled says so"


@pytest.mark.parametrize("value", ["", "x\r\nauthorization: Bearer stolen", "\ud800", 5, None, ["a"]])
def test_what_is_no_header_value_is_not_sent(
    face: Face, stub: StubServer, propagator: Any, unraisable: list[Any], value: object
) -> None:
    propagator(Writes({"traceparent": value, "authorization": "Bearer stolen", "x-b3-traceid": "1"}))
    face.run(face.client(stub).create_job("Fix it"))
    (request,) = stub.requests
    assert request.headers["authorization"] == "Bearer ***"
    assert not request.headers.get("traceparent")
    assert "x-b3-traceid" not in request.headers


class Broken(Sampler):
    def should_sample(self, *args: Any, **kwargs: Any) -> Any:
        raise KeyError("mine")

    def get_description(self) -> str:
        return "broken"


def test_a_tracer_that_fails_does_not_break_the_call(
    face: Face, stub: StubServer, unraisable: list[Any]
) -> None:
    use(Spans(TracerProvider(Broken()), meters))
    assert face.run(face.client(stub).create_job("Fix it")).status == "active"
    assert [type(told.exc_value) for told in unraisable] == [KeyError]
    assert sent(stub) == [None]


def test_a_second_call_changes_nothing(stub: StubServer) -> None:
    before = otel._spans
    otel.instrument(TracerProvider())
    with stub.client() as client:
        client.visitor_totals()
    assert (otel._spans, len(ended())) == (before, 1)


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(otel, "_spans", None)
        patch.setitem(sys.modules, "opentelemetry", None)
        with pytest.raises(ImportError, match=r'needs opentelemetry: pip install "docplatform\[otel\]"'):
            otel.instrument()


def test_a_process_that_does_not_trace_imports_nothing_for_it(stub: StubServer) -> None:
    script = """
        import sys
        import docplatform
        with docplatform.Client() as client:
            client.create_job("Fix it")
        print([name for name in sys.modules if "opentelemetry" in name or "otel" in name or "spans" in name])
    """
    assert run_script(script, stub=stub).out.strip() == "[]"
    assert sent(stub) == [None]


def test_an_interrupted_process_exports_its_last_span(stub: StubServer) -> None:
    """Its span ends with its request, before the provider's own end of the process."""
    stub.latency = HOLD
    script = """
        import _thread
        import threading
        import docplatform
        from docplatform import otel
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter
        provider = TracerProvider()
        provider.add_span_processor(BatchSpanProcessor(ConsoleSpanExporter()))
        otel.instrument(provider)
        threading.Timer(1, _thread.interrupt_main).start()
        try:
            docplatform.Client().create_job("Fix it")
        except KeyboardInterrupt:
            pass
    """
    assert '"error.type": "cancelled"' in run_script(script, stub=stub).out
