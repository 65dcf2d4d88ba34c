"""Spans and metrics of OpenTelemetry, as the extension asks for them: see ``docplatform.otel``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from opentelemetry import propagate
from opentelemetry.context import Context, get_current
from opentelemetry.metrics import MeterProvider, get_meter
from opentelemetry.trace import (
    Span,
    SpanKind,
    Status,
    StatusCode,
    TracerProvider,
    get_tracer,
    set_span_in_context,
)

from docplatform._native import __version__

_Attributes: TypeAlias = dict[str, str | int | float]
_Call: TypeAlias = tuple[Span, _Attributes]
# The number, the status, the class of its error, the seconds that it took and those before it, and when it ended.
_Attempt: TypeAlias = tuple[int, int | None, str | None, tuple[float, float], int]

# The semantic conventions name them.
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10)


class Spans:
    """Makes the span of each call, and records the metrics. Times are in nanoseconds since 1970."""

    def __init__(self, tracer_provider: TracerProvider | None, meter_provider: MeterProvider | None) -> None:
        self._tracer = get_tracer("docplatform", __version__, tracer_provider)
        meter = get_meter("docplatform", __version__, meter_provider)
        self._duration = meter.create_histogram(
            "http.client.request.duration",
            "s",
            "Duration of HTTP client requests.",
            explicit_bucket_boundaries_advisory=_BUCKETS,
        )
        self._retries = meter.create_counter("docplatform.client.retries", "{retry}", "Retries of requests.")

    def context(self) -> Context:
        """The caller's context."""
        return get_current()

    def begin(
        self, context: Context, method: str, path: str, url: str, host: tuple[str, int], at: int
    ) -> tuple[_Call, str | None]:
        """Begins the span of a call; returns it with the ``traceparent`` that the configured propagator makes of it."""
        attributes: _Attributes = {
            "http.request.method": method,
            "server.address": host[0],
            "server.port": host[1],
            "url.template": path,
        }
        span = self._tracer.start_span(
            f"{method} {path}", context, SpanKind.CLIENT, {**attributes, "url.full": url}, start_time=at
        )
        headers: dict[str, str] = {}
        propagate.inject(headers, set_span_in_context(span, context))
        return (span, attributes), headers.get("traceparent")

    def end(self, call: _Call, attempts: Sequence[_Attempt], error: str | None, at: int) -> None:
        """Ends the span of a call, which failed with an error of this class, or went well."""
        span, shared = call
        context = set_span_in_context(span)
        outcome: _Attributes = {}
        for number, status, failure, (elapsed, waited), ended in attempts:
            outcome = {} if status is None else {"http.response.status_code": status}
            if failure is not None:
                is_status = status is not None and status >= 400
                outcome["error.type"] = str(status) if is_status else failure
            self._duration.record(elapsed, shared | outcome, context)
            resent: _Attributes = {}
            if number > 1:
                self._retries.add(1, shared | outcome, context)
                resent["http.request.resend_count"] = number - 1
            outcome |= resent
            seconds: _Attributes = {
                "docplatform.attempt.duration": elapsed,
                "docplatform.attempt.waited": waited,
            }
            span.add_event("docplatform.attempt", outcome | seconds, ended)
        if error is not None:
            if not attempts or attempts[-1][2] != error:
                # It failed before a further attempt, such as for want of budget.
                outcome["error.type"] = error
            span.set_status(Status(StatusCode.ERROR, error))
        span.set_attributes(outcome)
        span.end(at)
