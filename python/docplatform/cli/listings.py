"""The commands' words about each listing. The extension knows how it is read and whether its counts add up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from docplatform._native import _endpoints

if TYPE_CHECKING:
    from docplatform.cli.help import Decorator


class Endpoint(NamedTuple):
    """A listing, as the extension knows it."""

    name: str
    """The name of the client's method."""
    page_size: int
    """The most rows of a page."""
    is_one_page: bool
    """Whether there is only one page, which may be cut off."""
    has_totals: bool
    """Whether it counts people and AI agents; else it can be exported slice by slice."""
    adds_up: bool
    """Whether its counts add up over days and rows."""
    filters: list[str]
    """The parameters that choose rows."""


ENDPOINTS = {endpoint.name: endpoint for endpoint in map(Endpoint._make, _endpoints())}


@dataclass(frozen=True)
class Listing:
    """A listing with commands of its own."""

    name: str
    """The name of its group of commands, and of the client's method."""
    summary: str
    """The help of its group."""
    rows: str
    """Its rows, as in "Export …"."""
    meaning: str
    """Whether its counts add up, for the help."""
    by_page: str | None = None
    """The client's method that has one row for each page of the site."""

    @property
    def endpoint(self) -> Endpoint:
        """How it is read."""
        return ENDPOINTS[self.name]

    @property
    def noun(self) -> str:
        """The singular, as in the method ``visitor_totals``."""
        return self.name.removesuffix("s")

    @property
    def counts(self) -> str:
        """The things that its totals count."""
        return f"page {self.name}" if self.endpoint.adds_up else f"unique {self.name}"

    @property
    def in_short(self) -> str:
        """Whether its counts add up, in a few words."""
        return f"{self.name.capitalize()} add up" if self.endpoint.adds_up else "Uniques do not add up"


LISTINGS = (
    Listing(
        "visitors",
        summary="The site's readers, human and AI.",
        rows="the unique visitors of every path, one row each",
        meaning="Unique visitors cannot be added up over paths, days or kinds.",
    ),
    Listing(
        "views",
        summary="How often the site's pages were read, by people and by AI agents.",
        rows="the page views of every path, one row each",
        meaning="Page views can be added up over paths and days.",
    ),
    Listing(
        "searches",
        summary="What readers searched for.",
        rows="what readers searched for, one row for each phrase: how often, and which result they clicked most",
        meaning="Hits can be added up over phrases and days; the click rate (ctr) is a share and cannot.",
    ),
    Listing(
        "feedback",
        summary="What readers said about the site's pages.",
        rows="what readers said, one row for each piece of feedback",
        meaning="Each piece counts once, so rows can be added up over days and pages.",
        by_page="feedback_by_page",
    ),
    Listing(
        "conversations",
        summary="What readers asked the site's assistant.",
        rows="what readers asked the assistant, one row for each question with its answer",
        meaning="Each question counts once, so rows can be added up over days; a conversation may have several.",
    ),
)


def listing_option(help_: str, *, multiple: bool = False) -> Decorator:
    """The option ``--listing``, which takes every listing; with ``multiple``, several of them."""
    default: Any = ["visitors"] if multiple else "visitors"
    choice = click.Choice(list(ENDPOINTS))
    return click.option(
        "--listing", type=choice, multiple=multiple, default=default, show_default=True, help=help_
    )
