"""Spans and metrics of OpenTelemetry for the requests of all clients: ``pip install "docplatform[otel]"``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docplatform import _native
from docplatform._hooks.frames import need

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

    from docplatform._hooks.spans import Spans

__all__ = ["instrument"]

_spans: Spans | None = None


def instrument(
    tracer_provider: TracerProvider | None = None, meter_provider: MeterProvider | None = None
) -> None:
    """Makes a span for each call of every client in this process, and measures the requests. A second call changes nothing.

    A call here is one request with its retries, such as a poll of a job or a page of a listing. Its span is a child of
    the span that is current where you use the client. It follows OpenTelemetry's semantic conventions for HTTP clients
    and has an event ``docplatform.attempt`` for each attempt. The ``traceparent`` header of the requests names this span.
    There are two metrics: the histogram ``http.client.request.duration`` of all attempts, in seconds, and the counter
    ``docplatform.client.retries``.

    Args:
        tracer_provider: Makes the spans; by default OpenTelemetry's global one.
        meter_provider: Makes the metrics; by default OpenTelemetry's global one.

    Raises:
        ImportError: OpenTelemetry is not installed: ``pip install "docplatform[otel]"``.

    Example:
        >>> from docplatform.otel import instrument
        >>> instrument()
    """
    global _spans
    if _spans is None:
        need("docplatform.otel.instrument")
        from docplatform._hooks.spans import Spans

        _spans = Spans(tracer_provider, meter_provider)
        _native._instrument(_spans)
