"""The span that the guide shows is what a collector receives."""

from __future__ import annotations

import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from docplatform.testing import StubServer
from helpers.exports import eventually
from helpers.scripts import run_script

rotel = pytest.importorskip("rotel", reason="the collector has no wheel for this Python")
pytestmark = pytest.mark.one_python

GUIDE = (Path(__file__).parents[2] / "docs" / "traces.md").read_text(encoding="utf-8")
(SNIPPET,) = re.findall(r"^```py\n(from opentelemetry.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
(SPAN,) = re.findall(r"^```text\n(Span #0.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
# Ids, times, durations and the port.
VARIES = re.compile(
    r"\b([0-9a-f]{16}|[0-9a-f]{32}|\d{19}|\d+\.\d+(?=\)))(?!\w)|(?<=Int\()\d{4,}|(?<=127\.0\.0\.1:)\d+"
)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


@contextmanager
def collector(log: Path) -> Iterator[str]:
    """The address of a collector that writes each span to ``log``."""
    addresses = [f"127.0.0.1:{free_port()}" for _ in range(2)]
    line = [f"{Path(rotel.__file__).parent}/rotel-agent", "start", "--exporter", "blackhole"]
    line += ["--debug-log", "traces", "--debug-log-verbosity", "detailed", "--pid-file", f"{log}.pid"]
    line += ["--otlp-http-endpoint", addresses[0], "--otlp-grpc-endpoint", addresses[1]]
    with log.open("wb") as out, subprocess.Popen(line, stdout=out, stderr=out) as running:
        eventually(lambda: b"Starting" in log.read_bytes())
        yield f"http://{addresses[0]}"
        running.terminate()


def test_the_guide_shows_what_a_collector_receives(stub: StubServer, tmp_path: Path) -> None:
    stub.fail_next(status=502)
    log = tmp_path / "log"
    with collector(log) as url:
        done = run_script(SNIPPET, stub=stub, env={"OTEL_EXPORTER_OTLP_ENDPOINT": url})
        assert (done.status, done.err) == (0, "")
        eventually(lambda: b"SpanEvent #1" in log.read_bytes())
    # Its own lines are in colours.
    received = log.read_text(encoding="utf-8").partition("Span #0")[2].partition("\x1b")[0]
    span = "\n".join(line.rstrip() for line in f"Span #0{received}".splitlines())
    assert VARIES.sub("…", span) == VARIES.sub("…", SPAN.rstrip()), span
