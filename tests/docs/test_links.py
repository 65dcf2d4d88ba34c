"""`make docs` checks the links of the built site: what it reports."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.one_python

CHECK = Path(__file__).parents[2] / "docs" / "links.py"
problems: Callable[[Path], Iterator[str]] = runpy.run_path(str(CHECK))["problems"]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "guide").mkdir()
    (tmp_path / "guide" / "index.html").write_text(
        '<h2 id="first-thing">x</h2><a name="old"></a><a href="../">up</a>'
    )
    (tmp_path / "logo.svg").write_text("<svg/>")
    return tmp_path


def found(site: Path, html: str) -> list[str]:
    (site / "index.html").write_text(html)
    return list(problems(site))


@pytest.mark.parametrize(
    ("html", "wrong"),
    [
        ('<a href="missing/">x</a>', "missing/: no such page"),
        ('<a href="guide/#second-thing">x</a>', "guide/#second-thing: no such heading"),
        ('<a href="#nowhere">x</a>', "#nowhere: no such heading"),
        ('<a href="../elsewhere">x</a>', "../elsewhere: leads out of the site"),
        ('<img src="missing.svg">', "missing.svg: no such page"),
        ('<a href="http://example.com/">x</a>', "http://example.com/: is not https"),
        ('<a href="https://user@example.com/">x</a>', "https://user@example.com/: is no address"),
        ('<a href="https://localhost/">x</a>', "https://localhost/: is no address"),
        ('<a href="https:///path">x</a>', "https:///path: is no address"),
        ('<a href="javascript:alert(1)">x</a>', "javascript:alert(1): is not https"),
        (
            '<script src="https://example.com/x.js"></script>',
            "https://example.com/x.js: is loaded from elsewhere",
        ),
        (
            '<link rel="stylesheet" href="//example.com/x.css">',
            "//example.com/x.css: is loaded from elsewhere",
        ),
    ],
)
def test_a_bad_link_is_reported(site: Path, html: str, wrong: str) -> None:
    assert f"index.html: {wrong}" in found(site, html)
