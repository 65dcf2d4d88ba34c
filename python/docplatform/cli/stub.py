"""``docplatform stub``: serves the stub service for a shell."""

from __future__ import annotations

import sys
import threading

from docplatform.testing import StubServer


def serve(
    *, visitors: int, active_polls: int, latency: float, requests_per_hour: int | None, port: int
) -> None:
    """Serves until Ctrl-C. What a shell can evaluate goes to stdout, what people read to stderr."""
    with StubServer(visitors, active_polls, latency, requests_per_hour, port=port) as stub:
        try:
            print("The stub serves until Ctrl-C. Paste these lines into another terminal.", file=sys.stderr)
            print(f"export DOCPLATFORM_BASE_URL={stub.url}")
            print(f"export DOCPLATFORM_API_KEY={stub.api_key}")
            print(f"export DOCPLATFORM_PROJECT_ID={stub.project_id}", flush=True)
            threading.Event().wait()
        except KeyboardInterrupt:
            # The usual way to end a server.
            print(f"\n{len(stub.requests)} requests served.", file=sys.stderr)
