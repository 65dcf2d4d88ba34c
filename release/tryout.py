"""Installs the files of `dist` into an empty environment, and uses them: `python -m release.tryout PYTHON...`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from release.archives import ROOT

SMOKE = Path(__file__).parent / "smoke.py"


def run(*command: str | Path) -> str:
    """Runs a tool; what it printed is shown where it fails."""
    done = subprocess.run(
        list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}\nfailed with {done.returncode}")
    return done.stdout


def tryout(python: str, *install: str | Path) -> None:
    """Installs with these arguments of pip, and runs the smoke test."""
    with tempfile.TemporaryDirectory() as folder:
        run(python, "-m", "venv", folder)
        inside = Path(folder, "Scripts" if sys.platform == "win32" else "bin", "python")
        run(inside, "-m", "pip", "--disable-pip-version-check", "install", *install)
        print(run(inside, "-I", SMOKE).splitlines()[-1], flush=True)


def wheel(python: str) -> None:
    """The wheel that pip takes for this Python, without the network: it needs no other package."""
    tryout(python, "--no-index", "--only-binary", ":all:", "--find-links", ROOT / "dist", "docplatform")


if __name__ == "__main__":
    for each in sys.argv[1:]:
        wheel(each)
