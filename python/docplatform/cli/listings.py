"""The listings as data: what their commands are called, what their rows mean, and whether their numbers add up."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Listing:
    """A listing with commands of its own. A page of it has at most ``page_size`` rows."""

    name: str
    """The name of its group of commands, and of the client's method."""
    summary: str
    """What it is, for the help of the group."""
    rows: str
    """What a row of it is, as in "Export …"."""
    adds_up: str
    """Whether its numbers add up, for the help."""
    page_size: int
    noun: str | None = None
    """What its totals count; ``None``: it has none."""
    totals: str = ""
    """The client's method that reads the totals alone."""
    in_short: str = ""
    """Whether its numbers add up, in front of the totals of the site."""
    filters: tuple[str, ...] = ()
    """What else chooses rows."""
    by_page: str | None = None
    """The client's method for one row for each page of the site, which the service cuts off."""

    @property
    def sliced(self) -> bool:
        """Whether it can be read slice by slice."""
        return self.noun is None


VISITORS = Listing(
    name="visitors",
    summary="The site's readers, human and AI.",
    rows="the unique visitors of every path, one row each",
    adds_up="Uniques do not add up: not over paths, not over days, and not over kinds.",
    page_size=250,
    noun="visitor",
    totals="visitor_totals",
    in_short="Uniques do not add up",
)
VIEWS = Listing(
    name="views",
    summary="How often the site's pages were read, by people and by AI agents.",
    rows="the page views of every path, one row each",
    adds_up="Views are events, and do add up: over paths and over days.",
    page_size=250,
    noun="view",
    totals="view_totals",
    in_short="Views add up",
)
SEARCHES = Listing(
    name="searches",
    summary="What readers searched for.",
    rows="what readers searched for, one row for each phrase: how often, and which page they then read most",
    adds_up="Hits add up, over phrases and over days; the click rate (ctr) is a share, and does not.",
    page_size=100,
)
FEEDBACK = Listing(
    name="feedback",
    summary="What readers said about the site's pages.",
    rows="what readers said, one row for each piece of feedback",
    adds_up="Each piece counts once, so that rows add up, over days and over pages.",
    page_size=100,
    filters=("source", "status"),
    by_page="feedback_by_page",
)
CONVERSATIONS = Listing(
    name="conversations",
    summary="What readers asked the site's assistant.",
    rows="what readers asked the assistant, one row for each question with its answer",
    adds_up="Each question counts once, so that rows add up over days; a conversation may have several.",
    page_size=1000,
)
LISTINGS = (VISITORS, VIEWS, SEARCHES, FEEDBACK, CONVERSATIONS)
