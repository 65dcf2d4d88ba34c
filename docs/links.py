"""Checks that every link of the built site leads somewhere, and that scripts, style sheets, frames and pictures come from the site."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

LOADED = dict.fromkeys(("audio", "embed", "iframe", "img", "script", "source", "track", "video"), "src") | {
    "object": "data"
}
"""The elements that load something by one address, and the attribute with its address. Links to style sheets and icons are loaded, too."""


class _Page(HTMLParser):
    def __init__(self, file: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value for name, value in attrs if value is not None}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag in ("a", "area", "link") and "href" in values:
            self.links.append(values["href"])
        if tag == "link" and values.get("rel") in ("stylesheet", "icon", "preload", "preconnect"):
            self.loaded.append(values["href"])
        if tag in LOADED and LOADED[tag] in values:
            self.links.append(values[LOADED[tag]])
            self.loaded.append(values[LOADED[tag]])


def problems(site: Path) -> Iterator[str]:
    """The wrong links of the pages below ``site``."""
    pages = {file: _Page(file) for file in sorted(site.rglob("*.html"))}
    for file, page in pages.items():
        here = file.relative_to(site)
        yield from (f"{here}: {url}: is loaded from elsewhere" for url in page.loaded if urlsplit(url).netloc)
        for url in page.links:
            if wrong := _external(url) if urlsplit(url).scheme else _internal(site, file, url, pages):
                yield f"{here}: {url}: {wrong}"


def _external(url: str) -> str | None:
    """Nothing is asked for: a build needs no network."""
    parts = urlsplit(url)
    if parts.scheme != "https":
        return "is not https"
    host = parts.hostname or ""
    fine = "." in host and "@" not in parts.netloc and not any(map(str.isspace, url))
    return None if fine else "is no address"


def _internal(site: Path, file: Path, url: str, pages: dict[Path, _Page]) -> str | None:
    parts = urlsplit(url)
    path = unquote(parts.path)
    target = (
        (site / path.lstrip("/") if path.startswith("/") else file.parent / path).resolve() if path else file
    )
    if not target.is_relative_to(site):
        return "leads out of the site"
    if target.is_dir():
        target /= "index.html"
    if not target.exists():
        return "no such page"
    anchor = unquote(parts.fragment)
    if anchor and target in pages and anchor not in pages[target].anchors:
        return "no such heading"
    return None
