"""``docplatform stub``: serves the stub service for a shell."""

from __future__ import annotations

import sys
import threading

from docplatform.testing import StubServer

ALWAYS = 1_000_000
"""How often a failure comes if no number is given."""
JOBS = 1_000
"""How many jobs fail if no number is given."""
FAILURES = (
    "a status (401, 429, 503, ...), drop (the connection closes without an answer), failed (jobs fail), or active (jobs are "
    "never final); with :N only the first N requests or jobs"
)


def rehearse(stub: StubServer, failure: str) -> None:
    """Has the stub fail as ``failure`` says: see :data:`FAILURES`."""
    kind, colon, number = failure.partition(":")
    if colon and not (number.isdecimal() and int(number)):
        raise ValueError(f"--fail {failure}: the number after the colon must be 1 or more")
    if kind in {"failed", "active"}:
        for _ in range(int(number or JOBS)):
            stub.script_job("active", *(["failed"] if kind == "failed" else []))
    elif kind == "drop":
        stub.fail_next(drop=True, times=int(number or ALWAYS))
    elif kind.isdecimal() and 300 <= int(kind) <= 599:
        stub.fail_next(int(kind), times=int(number or ALWAYS))
    else:
        raise ValueError(f"--fail {failure}: give {FAILURES}")


def serve(
    *,
    visitors: int,
    active_polls: int,
    latency: float,
    requests_per_hour: int | None,
    port: int,
    fail: str | None = None,
) -> None:
    """Serves until Ctrl-C. What a shell can evaluate goes to stdout, what people read to stderr."""
    with StubServer(visitors, active_polls, latency, requests_per_hour, port=port) as stub:
        if fail is not None:
            rehearse(stub, fail)
        try:
            print("The stub serves until Ctrl-C. Paste these lines into another terminal.", file=sys.stderr)
            print(f"export DOCPLATFORM_BASE_URL={stub.url}")
            print(f"export DOCPLATFORM_API_KEY={stub.api_key}")
            print(f"export DOCPLATFORM_PROJECT_ID={stub.project_id}", flush=True)
            threading.Event().wait()
        except KeyboardInterrupt:
            # The usual way to end a server.
            print(f"\n{len(stub.requests)} requests served.", file=sys.stderr)
