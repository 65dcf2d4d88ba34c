"""Draws every picture of the documentation from the stub's story: `make pictures`.

`sources` draws charts, report and terminals, and runs the notebooks; `site` needs the built site, and draws its pages.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from contextlib import contextmanager
from functools import partial
from html import escape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import TYPE_CHECKING, Any, Literal

import matplotlib as mpl
import nbformat
from nbclient import NotebookClient
from PIL import Image
from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

from docplatform.testing import StubServer
from helpers.browser import browser

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from docplatform import Job

ROOT = Path(__file__).parent.parent
PICTURES, SITE, LOOKED_AT = ROOT / "docs" / "pictures", ROOT / "target" / "site", ROOT / "target" / "pictures"
MONTH, YEAR = "2026-10", "2025-11-01 to 2026-10-31"
PAGES = {
    "front": "",
    "tutorial": "tutorial",
    "howto": "how-to/export",
    "reference": "reference/client",
    "notebook": "examples/who_reads_our_docs",
}
STYLE = """
main { display: grid; grid-template-columns: 1fr 2rem 21rem; gap: .8rem 0; align-items: stretch; padding: 1rem; font: 15px/1.45 sans-serif; color: #1f2430 }
h2 { margin: 0; font-size: 1.05rem; color: #4b5263 } i { align-self: center; text-align: center; font: 1.5rem sans-serif; color: #6b7280 }
div { border: 1px solid #d5d9e2; border-radius: 8px; padding: .8rem 1rem } b { font: bold 1rem monospace } p { margin: .3rem 0 }
.request { display: flex; flex-direction: column; justify-content: center } q { display: block; color: #4b5263; font-style: italic } a { color: #2f5fb3; text-decoration: underline }
"""
COLOURS: tuple[Literal["light", "dark"], ...] = ("light", "dark")
COLUMNS = 84
SVG = re.sub(r"@font-face \{\{.*?\}\}\n", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
"""An SVG that loads no font: names and sizes of the reader's own monospace one are set."""


def shrink(picture: Path, width: int) -> None:
    """Shrinks a picture to twice the width at which it is shown, in few colours."""
    with Image.open(picture) as found:
        small = found.convert("RGB").resize(
            (width, found.height * width // found.width), Image.Resampling.LANCZOS
        )
    small.quantize(255, Image.Quantize.MAXCOVERAGE).save(picture, optimize=True)


def charts() -> None:
    """The most read pages of a month, and a year's trend."""
    mpl.use("agg")
    with StubServer() as stub, stub.client() as client:
        for name, axes in {
            "pages": client.visitors(MONTH).collect().plot(),
            "trend": client.visitor_trend(YEAR, every="month").plot(),
        }.items():
            figure = axes.get_figure(root=True)
            assert figure is not None
            figure.savefig(PICTURES / f"{name}.png", dpi=200)
            shrink(PICTURES / f"{name}.png", 1_440)


def report(chromium: Browser) -> None:
    """The first screen of a report."""
    with TemporaryDirectory() as folder:
        file, picture = Path(folder) / "report.html", PICTURES / "report.png"
        _docplatform("report", MONTH, "-q", "-o", str(file))
        page = chromium.new_page(viewport={"width": 960, "height": 820}, device_scale_factor=2)
        page.goto(file.as_uri())
        page.screenshot(path=picture)
    shrink(picture, 1_640)


def fixes(chromium: Browser) -> None:
    """The costliest problems with what readers said, beside their pull requests."""
    with StubServer(active_polls=0) as stub, stub.client() as client:
        found = client.fix_first(MONTH, n=3)
        done = client.run_jobs({row["path"]: row["prompt"] for row in found}, concurrency=1).done
    rows = "".join(_fixed(row, done[row["path"]]) for row in found)
    page = chromium.new_page(viewport={"width": 1_000, "height": 400}, device_scale_factor=2)
    page.set_content(
        f"<style>{STYLE}</style><main><h2>Where readers get stuck</h2><i></i><h2>The pull request</h2>{rows}</main>"
    )
    page.locator("main").screenshot(path=PICTURES / "fix.png")
    shrink(PICTURES / "fix.png", 1_640)


def _fixed(row: dict[str, Any], job: Job) -> str:
    said = "".join(f"<q>{escape(quote['text'])}</q>" for quote in row["evidence"])
    problem = (
        f"<b>{escape(row['path'])}</b> about {row['readers']:,} readers<p>{escape(row['why'])}</p>{said}"
    )
    request = f"<b>{job.id} {job.status}</b><p><a>{escape((job.pr_link or '').removeprefix('https://'))}</a></p>waits for your review"
    return f"<div>{problem}</div><i>\u2192</i><div class=request>{request}</div>"


def _docplatform(*arguments: str, terminal: int | None = None) -> str:
    """Runs a command against a stub, in a folder of its own, and returns its lines on stderr."""
    line = [
        sys.executable,
        "-m",
        "docplatform",
        "stub",
        "--run",
        "--",
        sys.executable,
        "-m",
        "docplatform",
        *arguments,
    ]
    env = os.environ | {"TERM": "xterm-256color", "COLUMNS": str(COLUMNS)}
    with TemporaryDirectory() as folder:
        done = subprocess.run(
            line,
            env=env,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=terminal,
            stderr=subprocess.PIPE,
            text=True,
            check=True,
        )
    return done.stderr


TERMINALS = {
    "terminal": ("job", "run", "Fix the broken links on the quickstart page"),
    "top": ("visitors", "top", MONTH, "-n", "5"),
    "fixes": ("fix", MONTH, "-n", "5", "--store", "docs.db"),
    "fix-run": ("fix", MONTH, "--run", "3", "--yes", "--store", "docs.db", "-q"),
    "fix-cost": ("fix", MONTH, "--dry-run", "--store", "docs.db", "--requests-per-hour", "100"),
}
"""Pictures, and the command that each shows on a terminal."""


def terminals() -> None:
    """Commands and what they print."""
    for name, words in TERMINALS.items():
        out, err = _on_terminal(*words)
        # A job reports its progress first. A terminal shows that of other commands only while they run.
        shown = err + out if words[0] == "job" else out + err.replace("Reading what readers say\n", "")
        _terminal(name, words, Text.from_ansi(shown))


def _on_terminal(*words: str) -> tuple[str, str]:
    """The output on a terminal, and the lines on stderr."""
    import pty

    master, slave = pty.openpty()
    said = _docplatform(*words, terminal=slave)
    os.close(slave)
    shown = b""
    try:
        while chunk := os.read(master, 4_096):
            shown += chunk
    except OSError:
        # Linux reports so that the other side is closed.
        os.close(master)
    return shown.decode().replace("\r\n", "\n"), said


def _terminal(name: str, words: tuple[str, ...], shown: Text) -> None:
    console = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True)
    command = " ".join(json.dumps(word) if " " in word else word for word in words)
    console.print(Text(f"$ docplatform {command}", "bold"))
    console.print(shown, soft_wrap=False)
    svg = console.export_svg(title="", code_format=SVG, unique_id=name)
    lines = [line.rstrip() for line in svg.splitlines() if line.strip()]
    (PICTURES / f"{name}.svg").write_text("\n".join(lines) + "\n", encoding="utf-8")


def notebooks() -> None:
    """Runs the notebooks, and keeps those parts of their outputs that are the same each time."""
    for path in sorted((ROOT / "examples").glob("*.ipynb")):
        notebook: Any = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
        with TemporaryDirectory() as folder:
            NotebookClient(
                notebook, timeout=100, resources={"metadata": {"path": folder}}, record_timing=False
            ).execute()
        nbformat.write(steady(notebook), path)  # type: ignore[no-untyped-call]


def steady(notebook: Any) -> Any:
    """A notebook without what differs from run to run: its stub's port, its temporary folder, the time, how a printed text was cut into
    pieces."""
    for cell in notebook.cells:
        outputs: list[Any] = []
        for output in cell.get("outputs", ()):
            if outputs and output.get("name", "") == outputs[-1].get("name"):
                outputs[-1]["text"] += output["text"]
            else:
                outputs.append(output)
        if "outputs" in cell:
            cell["outputs"] = outputs
    text = json.dumps(notebook)
    text = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:8000", text)
    text = re.sub(r"20\d\d-\d\d-\d\d \d\d:\d\d UTC", "2026-11-02 09:00 UTC", text)
    text = re.sub(rf"{re.escape(gettempdir())}/\w+/", "", text)
    text = re.sub(r"waited=[\d.e-]+", "waited=0.0", text)
    return nbformat.from_dict(json.loads(text))  # type: ignore[no-untyped-call]


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Prints nothing."""


@contextmanager
def served() -> Iterator[str]:
    """Serves the site over HTTP, because its search needs that."""
    handler = partial(_Quiet, directory=str(SITE))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def site(chromium: Browser, address: str) -> None:
    """The pages of the site on a phone and a desk, light and dark, to be looked at; and one of them for the documentation."""
    LOOKED_AT.mkdir(parents=True, exist_ok=True)
    for colours in COLOURS:
        for width in (390, 1_280):
            page = chromium.new_page(
                viewport={"width": width, "height": 900}, color_scheme=colours, reduced_motion="reduce"
            )
            for name, where in PAGES.items():
                page.set_viewport_size({"width": width, "height": 900})
                page.goto(f"{address}/{where}")
                page.wait_for_load_state("networkidle")
                if name != "reference":
                    # The whole page, without scrolling, because the site moves elements when it scrolls.
                    height = page.evaluate("document.documentElement.scrollHeight")
                    page.set_viewport_size({"width": width, "height": height})
                page.evaluate("Promise.all([...document.images].map((image) => image.decode()))")
                page.screenshot(path=LOOKED_AT / f"site-{name}-{width}-{colours}.png", animations="disabled")
            page.close()
    page = chromium.new_page(viewport={"width": 900, "height": 2_000}, device_scale_factor=2)
    page.goto(f"{address}/{PAGES['notebook']}")
    page.wait_for_load_state("networkidle")
    top = page.locator("h2#a-month").bounding_box()
    assert top is not None
    picture = PICTURES / "notebook.png"
    page.screenshot(path=picture, clip={"x": 0, "y": top["y"], "width": 900, "height": 1_240})
    shrink(picture, 1_440)


def main(what: str) -> None:
    """Draws what is asked for."""
    PICTURES.mkdir(exist_ok=True)
    with browser() as chromium:
        if what == "site":
            with served() as address:
                site(chromium, address)
            return
        report(chromium)
        fixes(chromium)
    charts()
    terminals()
    notebooks()


if __name__ == "__main__":
    main(*sys.argv[1:])
