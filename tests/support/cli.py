"""The command line: within this process where that is enough, else in one of its own."""

from __future__ import annotations

import io
import sys
import time

import pytest

from docplatform.cli import main
from docplatform.testing import StubServer
from support.scripts import Ended

SCRIPT = "import sys; from docplatform.cli import main; sys.exit(main())"
"""What the installed script does."""


class Cli:
    """Runs a command here, against a stub: ``cli("job", "get", "job-1").out``."""

    def __init__(
        self, stub: StubServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self._capsys = capsys
        self._monkeypatch = monkeypatch
        self.stub = stub
        monkeypatch.setenv("DOCPLATFORM_API_KEY", stub.api_key)
        monkeypatch.setenv("DOCPLATFORM_BASE_URL", stub.url)
        monkeypatch.setenv("DOCPLATFORM_PROJECT_ID", stub.project_id)

    def __call__(self, *arguments: str, stdin: bytes = b"") -> Ended:
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        self._capsys.readouterr()
        begun = time.monotonic()
        status = main(arguments)
        seconds = time.monotonic() - begun
        return Ended(int(status), *self._capsys.readouterr(), seconds)
