"""What a range costs in requests, for ``--dry-run``. Sends nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docplatform import Plan
from docplatform._native import _is_cut
from docplatform.cli import output
from docplatform.cli.listings import VISITORS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from docplatform.cli.listings import Listing
    from docplatform.cli.session import Session

_MORE = ("It may be more: for each 250 rows it takes a request.",)


def show(
    session: Session,
    ranges: Sequence[tuple[str | None, str | None]],
    *,
    every: Any = None,
    by_path: bool = True,
    whole: bool = False,
    projects: Iterable[str | None] = (None,),
) -> None:
    """Prints what some ranges of some projects cost, of which the store may have a part."""
    with session.client() as client:
        plans = [
            client.plan_visitors(
                date_from=first, date_to=end, every=every, by_path=by_path, project_id=project
            )
            if first is not None and end is not None
            # A range without an end is never in the store.
            else Plan(1, 0, not by_path, None, ())
            for project in projects
            for first, end in ranges
        ]
    tell(session, [without_cut(plan, every) for plan in plans] if whole else plans)


def show_listing(
    session: Session,
    listing: Listing,
    date_from: str | None,
    date_to: str | None,
    *,
    by_path: bool = True,
    method: str | None = None,
    query: dict[str, Any] | None = None,
) -> None:
    """Prints what a command about a listing costs: of visitors a plan, of another listing the least."""
    if listing is VISITORS:
        show(session, [(date_from, date_to)], by_path=by_path)
        return
    given: dict[str, Any] = {"date_from": date_from, "date_to": date_to, **(query or {})}
    with session.client() as client:
        # Wrong arguments are found here as in the command; nothing is sent before a row is wanted.
        getattr(client, method or listing.name)(**given)
        slices = 1
        if given.get("every") is not None:
            plan = client.plan_visitors(date_from=date_from, date_to=date_to, every=given["every"])
            slices = len(plan.slices)
    doubts = []
    if by_path and method in (None, listing.name):
        size = given.get("page_size", listing.page_size)
        doubts.append(f"At least {output.count(slices, 'request')}: for each {size:,} rows it takes one.")
    if session.store is not None:
        doubts.append("What the store has takes none.")
    tell(session, [Plan(slices, 0, not doubts, None, ())], doubts)


def tell(session: Session, plans: Sequence[Plan], doubts: Sequence[str] = _MORE) -> None:
    """Prints what some plans cost together. If they cannot know, ``doubts`` say why."""
    requests, cached = sum(plan.requests for plan in plans), sum(plan.cached for plan in plans)
    exact = all(plan.exact for plan in plans)
    estimated = not exact and all(plan.exact or (plan.slices and plan.estimated) for plan in plans)
    # Each plan begins with the budget that there is now: the hours of several cannot be had from them.
    hours = int(plans[0].hours) if len(plans) == 1 and plans[0].hours is not None else None
    if session.json:
        slices = [part._asdict() for plan in plans for part in plan.slices]
        known = {"exact": exact, "estimated": estimated, "hours": hours}
        output.document({"dry_run": True, "requests": requests, "cached": cached, **known, "slices": slices})
        return
    shown = "yes" if exact else "no"
    output.fields([("requests", requests), ("cached", cached), ("exact", shown), ("hours", hours)])
    if estimated:
        session.say(
            f"About {output.count(requests, 'request')}: an estimate from neighbouring ranges in the store."
        )
    elif not exact:
        for doubt in doubts:
            session.say(doubt)
    session.say("Nothing was sent.")


def without_cut(plan: Plan, every: str | None) -> Plan:
    """The plan without the slices that the range cuts, for which ``whole=True`` sends nothing."""
    slices = tuple(part for part in plan.slices if not _is_cut(every, part.date_from, part.date_to))
    requests, cached = sum(part.requests for part in slices), sum(part.cached for part in slices)
    exact = all(part.exact for part in slices)
    return plan._replace(requests=requests, cached=cached, exact=exact, slices=slices)
