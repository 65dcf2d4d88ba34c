"""``--dry-run``: the requests that a command would take. Sends nothing."""

from __future__ import annotations

import sys
from itertools import product, repeat
from typing import TYPE_CHECKING, Any

from docplatform import Plan
from docplatform.cli import files, output
from docplatform.cli.listings import ENDPOINTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from docplatform import Client
    from docplatform.cli.days import Ends
    from docplatform.cli.session import Session


LATER = "Once the store has a range of this listing and project, the others are estimated from it."


def show(
    session: Session,
    *ranges: Ends,
    listings: Sequence[str],
    every: Any = None,
    by_path: bool = True,
    whole: bool = False,
    projects: Iterable[str | None] = (None,),
) -> None:
    """Prints what ranges cost for each listing and project. Final ranges in the store cost nothing. ``whole``: only slices that the
    range does not cut.
    """
    parts = [*product(listings, projects, ranges)]
    how: dict[str, Any] = {"every": every, "by_path": by_path, "whole": whole}
    with session.client() as client:
        plans = [
            # What the store has of a range without an end is not looked up.
            Plan(1, 0, not by_path, None, (), totals=not by_path)
            if None in ends.values()
            else client._plan(name, **ends, **how, project_id=project)
            for name, project, ends in parts
        ]
        about = [{"listing": name} | ({"project": project} if project else {}) for name, project, _ in parts]
        doubt = _floor(*(ENDPOINTS[name].page_size for name in listings))
        tell(session, client, plans, [doubt], about)


def show_export(session: Session, method: str, query: dict[str, Any]) -> None:
    """Prints what an export costs: the plan if it reads all rows in pages of the usual size, else the minimum."""
    ends: Ends = {end: query.get(end) for end in ("date_from", "date_to")}
    is_planned = query.keys() <= {"date_from", "date_to", "every", "strict"}
    with session.client() as client:
        # Checks the arguments as the command does. Nothing is sent before a row is read.
        getattr(client, method)(**query)
        if not is_planned:
            slices = 0 if query.get("max_rows") == 0 else 1
            if slices and query.get("every") is not None:
                plan = client._plan(method, **ends, every=query["every"], by_path=True)
                slices = len(plan.slices)
            endpoint = ENDPOINTS[method]
            size = query.get("page_size", endpoint.page_size)
            doubts = [] if endpoint.is_one_page else [_floor(size, becomes_estimate=False)]
            if session.store is not None and not session.refresh:
                doubts.append("Final rows that the store has cost no request.")
            tell(session, client, [Plan(slices, 0, not slices or not doubts, None, ())], doubts)
    if is_planned:
        show(session, ends, listings=[method], every=query.get("every"))


def _floor(*rows: int, becomes_estimate: bool = True) -> str:
    several = " or ".join(f"{one:,}" for one in sorted({*rows}))
    cost = f"Every {several} rows of a slice cost a request{', depending on the listing' * (' ' in several)}."
    return f"{cost} {LATER}" if becomes_estimate else cost


OF_ALL = _floor(*[one.page_size for one in ENDPOINTS.values()])
"""The doubt where several listings are read."""


def _certainty(plans: Sequence[Plan]) -> tuple[bool, bool]:
    """Whether the requests of some plans are exact, or else an estimate, and no minimum."""
    exact = all(plan.exact for plan in plans)
    return exact, not exact and all(plan.exact or (plan.slices and plan.estimated) for plan in plans)


def bound(plans: Sequence[Plan]) -> str:
    """The words before the requests of some plans: none if they are exact, else ``about`` or ``at least``."""
    exact, estimated = _certainty(plans)
    return "" if exact else "about " if estimated else "at least "


def tell(
    session: Session,
    client: Client,
    plans: Sequence[Plan],
    doubts: Sequence[str] = (OF_ALL,),
    about: Iterable[dict[str, str]] = repeat({}),
) -> None:
    """Prints what some plans cost together, and what is left of the budget now. If this is only a minimum, ``doubts`` say why. ``about`` is
    what the JSON says of each plan's slices."""
    files.check_printing()
    requests, cached = sum(plan.requests for plan in plans), sum(plan.cached for plan in plans)
    least, (exact, estimated) = bound(plans), _certainty(plans)
    # Each plan assumes that it has the whole budget, so the hours of several plans do not add up.
    waited, left = client._hours(requests), client.stats.budget_left
    hours = None if waited is None else int(waited)
    if session.json:
        slices = [
            facts | part._asdict() for plan, facts in zip(plans, about, strict=False) for part in plan.slices
        ]
        facts = {"exact": exact, "estimated": estimated, "hours": hours, "budget_left": left}
        output.document({"dry_run": True, "requests": requests, "cached": cached, **facts, "slices": slices})
        return
    output.fields(
        [
            # A script gets the number alone.
            ("requests", f"{least}{requests:,}" if output.is_terminal(sys.stdout) else requests),
            ("cached", cached),
            ("exact", "yes" if exact else "no"),
            ("hours", hours),
            ("budget_left", left),
        ]
    )
    if estimated:
        session.say(f"About {output.count(requests, 'request')}: an estimate from what the store has.")
    elif not exact:
        session.say(f"Size unknown: at least {output.count(requests, 'request')}.")
        for doubt in doubts:
            session.say(doubt)
    if plans and all(plan.totals for plan in plans):
        session.say("These requests are for totals. Rows by path may cost more.")
    session.say("Nothing was sent.")
