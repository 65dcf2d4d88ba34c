"""The values that answers are made of. All are named tuples, but for ``VisitorRow``, a dict. They can be pickled."""

from __future__ import annotations

from datetime import date
from typing import Any, NamedTuple, TypedDict

import docplatform

__all__ = [
    "Attempt",
    "DatasetReport",
    "Fractions",
    "JobsReport",
    "Plan",
    "PlanSlice",
    "Response",
    "RowsPage",
    "Source",
    "Stats",
    "SyncFailure",
    "SyncReport",
    "Totals",
    "VisitorRow",
    "VisitorsPage",
]


def _html(*shown: Any) -> str:
    """Named tuples as a table for a notebook."""
    from docplatform._hooks import notebook

    return notebook.tuples(*shown)


class Totals(NamedTuple):
    """The visitors (or page views) of a whole site and range, as a named tuple.

    Unique visitors cannot be added up over paths or days, and ``total`` need not be ``human + ai``: a visitor who
    was seen both as human and as AI counts once in it. The service's counts are approximate.

    Attributes:
        human: People: an int.
        ai: AI agents: an int.
        total: All visitors: an int.

    Example:
        >>> totals = client.visitor_totals("2026-01")
        >>> totals
        Totals(human=94961, ai=53659, total=147011)
        >>> round(totals.ai / totals.total, 3)
        0.365
    """

    human: int
    ai: int
    total: int

    def _repr_html_(self) -> str:
        return _html("Totals of the whole site", self._fields, [self])


class Fractions(NamedTuple):
    """A change of each kind of readers as fractions, as a named tuple: 0.14 is 14 % more, and -0.05 is 5 % fewer.

    Attributes:
        human: People: a float, or ``None`` if there was nobody before and is somebody now.
        ai: AI agents: the same.
        total: All visitors: the same.

    Example:
        >>> change = client.compare_visitors("2026-10").change
        >>> f"{change.human:+.1%}", f"{change.ai:+.1%}"
        ('+10.8%', '+8.6%')
    """

    human: float | None
    ai: float | None
    total: float | None


class VisitorRow(TypedDict):
    """A row of visitors or views: a dict. Further fields that the service sends are in it under the service's names.
    A name that docplatform uses for itself, such as that of a column, gets the prefix ``service_``.

    Attributes:
        path: The path of a documentation page: a str.
        human: People: an int.
        ai: AI agents: an int.
        total: All visitors, each counted once: an int. It need not be ``human + ai``.

    Example:
        >>> next(client.visitors("2026-01"))
        {'path': '/', 'human': 32286, 'ai': 4829, 'total': 36971}
    """

    path: str
    human: int
    ai: int
    total: int


class VisitorsPage(NamedTuple):
    """A page of visitors or views, as ``Visitors.pages`` returns it: a named tuple.

    Attributes:
        rows: The page's rows: a list of ``VisitorRow``. If you took single rows before, only those that are left.
        totals: The totals that came with the page: a ``Totals`` tuple.
        offset: How many rows of the listing come before: an int.
        has_more: Whether another page follows: a bool.

    Example:
        >>> page = next(client.visitors("2026-01").pages())
        >>> len(page.rows), page.offset, page.has_more
        (250, 0, True)
    """

    rows: list[VisitorRow]
    totals: Totals
    offset: int
    has_more: bool


class RowsPage(NamedTuple):
    """A page of any other listing, as ``Rows.pages`` returns it: a named tuple.

    Attributes:
        rows: The page's rows: a list of dicts. If you took single rows before, only those that are left.
        offset: How many rows come before, with ``every`` those of its slice: an int.
        has_more: Whether another page follows: a bool.

    Example:
        >>> page = next(client.searches("2026-01").pages())
        >>> len(page.rows), page.offset, page.has_more
        (100, 0, True)
    """

    rows: list[dict[str, Any]]
    offset: int
    has_more: bool


class Source(NamedTuple):
    """The source that the agent of a job works on: a named tuple.

    Attributes:
        repository: The repository: a str or ``None``.
        ref: The branch, tag or commit: a str or ``None``.

    Example:
        >>> client.create_job("Fix the broken links on the quickstart page").source
        Source(repository='example/docs', ref='main')
    """

    repository: str | None
    ref: str | None


class JobsReport(NamedTuple):
    """The outcomes of the jobs of ``Client.run_jobs``: a named tuple. Each dict is in the order of the prompts.

    Attributes:
        done: Jobs that are ``completed`` or ``archived``, or have another status of ``final=`` than ``failed``: a dict from name to ``Job``.
        failed: Jobs that failed, and jobs that were not created: a dict from name to ``Job`` or to the error.
        unknown: Jobs whose result is not known: a dict from name to the error (the creation was not confirmed, the wait
            ended early), or to the last ``Job`` of one that was running when the call was interrupted.
        requests: Requests that were sent, retries included: an int.

    Example:
        >>> report = client.run_jobs({"links": "Fix the broken links", "footer": "Shorten the footer"}, poll_interval=0.5)
        >>> report.done["links"].status
        'completed'
        >>> len(report.failed), len(report.unknown)
        (0, 0)
    """

    done: dict[str, docplatform.Job]
    failed: dict[str, docplatform.Job | docplatform.DocPlatformError | ValueError]
    unknown: dict[str, docplatform.Job | docplatform.DocPlatformError]
    requests: int

    @classmethod
    def _of(cls, names: list[str], results: dict[str, Any], requests: int, final: list[str]) -> JobsReport:
        report = cls({}, {}, {}, requests)
        for name in names:
            if name in results:
                getattr(report, _fate(results[name], final))[name] = results[name]
        return report

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict for each job, for pandas or JSON.

        Returns:
            A list of dicts with ``name``, ``result`` (``"done"``, ``"failed"`` or ``"unknown"``), ``job`` (the id),
            ``status``, ``pr_link`` and ``error`` (the text). A value that is not known is ``None``.

        Example:
            >>> client.run_jobs({"links": "Fix the broken links"}, poll_interval=0.5).to_dicts()[0]["result"]
            'done'
        """
        return [
            _job_dict(name, fate, result)
            for fate in ("done", "failed", "unknown")
            for name, result in getattr(self, fate).items()
        ]

    def _repr_html_(self) -> str:
        rows = [tuple(row.values()) for row in self.to_dicts()]
        return _html("Jobs", ("name", "result", "job", "status", "pr_link", "error"), rows)


def _fate(result: Any, final: list[str]) -> str:
    if isinstance(result, docplatform.Job):
        fate = "done" if result.is_final or result.status in final else "unknown"
        return "failed" if result.status == "failed" else fate
    # A ValueError, as of a name that was used with another prompt, has no outcome: nothing was sent.
    return "failed" if getattr(result, "outcome", "not_sent") in ("not_sent", "rejected") else "unknown"


def _job_dict(name: str, fate: str, result: Any) -> dict[str, Any]:
    is_job = isinstance(result, docplatform.Job)
    job, error = (result, None) if is_job else (getattr(result, "job", None), str(result))
    known = {"job": job and job.id, "status": job and job.status, "pr_link": job and job.pr_link}
    return {"name": name, "result": fate, **known, "error": error}


class Response(NamedTuple):
    """An answer as it came, of ``request(raw=True)``: a named tuple.

    Attributes:
        status: The HTTP status, 200 to 299: an int.
        headers: The headers: a dict of str. Names are in lower case, and several values of one name are joined by ``", "``.
        content: The body: bytes.

    Example:
        >>> answer = client.request("GET", "/v1/analytics/{project_id}/assistant/caller-stats", raw=True)
        >>> answer.status, answer.content[:12]
        (200, b'{"web":310,"')
    """

    status: int
    headers: dict[str, str]
    content: bytes

    def json(self) -> Any:
        """Returns the body as Python objects.

        Returns:
            The JSON of the body, as Python has it.

        Raises:
            ValueError: The body is not JSON.

        Example:
            >>> answer = client.request("GET", "/v1/analytics/{project_id}/assistant/caller-stats", raw=True)
            >>> answer.json()["total"]
            339
        """
        from json import loads

        return loads(self.content)


class Attempt(NamedTuple):
    """One attempt of a call: a named tuple. ``error.attempts`` lists those that failed, oldest first; a client's
    ``on_attempt`` gets each.

    Attributes:
        number: 1 for the first: an int.
        status: The HTTP status: an int; ``None`` if no answer came.
        error: The failure and its reason: a str, with the service's request id if it sent one; ``None`` if nothing failed.
        elapsed: How long the attempt took, in seconds.
        waited: How long the client paused before it, in seconds.

    Example:
        >>> stub.fail_next(status=503, times=9)
        >>> try:
        ...     client.with_options(max_retries=1).visitor_totals("2026-01")
        ... except docplatform.ServerError as error:
        ...     print([(attempt.number, attempt.status) for attempt in error.attempts])
        [(1, 503), (2, 503)]
    """

    number: int
    status: int | None
    error: str | None
    elapsed: float
    waited: float


class PlanSlice(NamedTuple):
    """The cost of one slice of a range: a named tuple in ``Plan.slices``.

    Attributes:
        date_from: The first day: a ``date``.
        date_to: The day after the last day: a ``date``.
        requests: How many requests will be sent: an int.
        cached: How many requests will not be sent, because the store has their answers: an int.
        exact: Whether ``requests`` is certain; otherwise it is an estimate or a minimum.
        estimated: Whether ``requests`` is an estimate from the last time or similar ranges in the store.

    Example:
        >>> client.plan_visitors("2026-01", every="week").slices[0]
        PlanSlice(date_from=datetime.date(2026, 1, 1), date_to=datetime.date(2026, 1, 5), requests=1, cached=0, exact=True, estimated=False)
    """

    date_from: date
    date_to: date
    requests: int
    cached: int
    exact: bool
    estimated: bool = False


class Plan(NamedTuple):
    """The cost of a range, before anything is sent: a named tuple. ``print(plan)`` says it in words.

    Attributes:
        requests: How many requests will be sent: an int.
        cached: How many requests will not be sent, because the store has their answers: an int.
        exact: Whether ``requests`` is certain; otherwise it is an estimate (``estimated``) or a minimum.
        hours: How long to wait for the request budget, in whole hours; ``None`` without a budget.
        slices: The cost of each slice, in order: a tuple of ``PlanSlice``.
        totals: Whether it is for totals only, one request a slice, and not for rows by path.

    Example:
        >>> plan = client.plan_visitors("2026-01", every="day")
        >>> plan.requests, plan.exact, plan.totals
        (31, True, True)
        >>> print(plan)
        31 requests for totals, 0 cached
    """

    requests: int
    cached: int
    exact: bool
    hours: float | None
    slices: tuple[PlanSlice, ...]
    totals: bool = False

    @property
    def estimated(self) -> bool:
        """Whether ``requests`` is an estimate from the last time or similar ranges in the store. If neither this nor ``exact`` is true, it
        is a minimum.

        Example:
            >>> plan = client.plan_visitors("2026-01")
            >>> plan.exact, plan.estimated
            (False, False)
            >>> print(plan)
            size unknown: at least 1 request, 0 cached
        """
        return not self.exact and all(slice_.exact or slice_.estimated for slice_ in self.slices)

    def __str__(self) -> str:
        """As people say it: ``about 12 requests, 3 cached, about 2 hours to wait for the budget``."""
        from docplatform._hooks.numbers import count

        known = "" if self.exact else "about " if self.estimated else "at least "
        unknown = "size unknown: " if known == "at least " else ""
        waits = "" if not self.hours else f", {known}{count(int(self.hours), 'hour')} to wait for the budget"
        what = " for totals" if self.totals else ""
        return f"{unknown}{known}{count(self.requests, 'request')}{what}, {self.cached:,} cached{waits}"

    def _repr_html_(self) -> str:
        caption = f"Plan: {self}"
        return _html(caption, PlanSlice._fields, self.slices, "slices")


class SyncReport(NamedTuple):
    """The counts of a ``Client.sync``: a named tuple.

    Attributes:
        slices: All slices, of each project and listing.
        cached: Slices that the store had already.
        open: Slices that may still change, and that the next sync fetches again.
        requests: Requests that were sent, retries included.
        rows: Rows in the store of the slices that it worked on, with those of an earlier run that broke off.
        left: The requests that are still to be sent, 0 if everything was fetched: as many as last time for a slice that was
            fetched before, and one for any other.
        hours: Whole hours that these take at the request budget: a float; ``None`` without a budget.

    Example:
        >>> Client(store="docs.db").sync("demo", "2026-01", by_path=False)
        SyncReport(slices=31, cached=0, open=0, requests=31, rows=0, left=0, hours=None)
    """

    slices: int
    cached: int
    open: int
    requests: int
    rows: int
    left: int = 0
    hours: float | None = None

    def _repr_html_(self) -> str:
        return _html("Sync", self._fields, [self])


class SyncFailure(NamedTuple):
    """A slice that ``Client.sync`` could not fetch: a named tuple. ``SyncError.failures`` lists them.

    Attributes:
        project_id: The project's id: a str.
        date_from: The first day: a ``date``.
        date_to: The day after the last day: a ``date``.
        error: Why it failed: a ``DocPlatformError``.
        listing: The listing: a str such as ``"visitors"``.

    Example:
        >>> stub.fail_next(status=403, times=3)
        >>> try:
        ...     Client(store="docs.db").sync("demo", "2026-01", by_path=False)
        ... except docplatform.SyncError as error:
        ...     print(error.failures[0].project_id, error.failures[0].date_from)
        demo 2026-01-01
    """

    project_id: str
    date_from: date
    date_to: date
    error: docplatform.DocPlatformError
    listing: str


class DatasetReport(NamedTuple):
    """The counts of a ``docplatform.export_dataset``: a named tuple of int.

    Attributes:
        written: Files that were written: slices that are new, or were fetched again.
        kept: Files that were there already and are still right.
        rows: Rows in the files that were written.
        open: Slices that may still change.
        missing: Slices of the range that the store lacks, of the projects that it knows or that were named.

    Example:
        >>> report = Client(store="docs.db").sync("demo", "2026-01-05 to 2026-01-11")
        >>> docplatform.export_dataset("visitors", store="docs.db")
        DatasetReport(written=7, kept=0, rows=7000, open=0, missing=0)
    """

    written: int
    kept: int
    rows: int
    open: int
    missing: int = 0


class Stats(NamedTuple):
    """Counts of the requests that a client and all handles from ``with_options`` have sent so far: a named tuple.

    Attributes:
        requests: Requests that were sent, retries included: an int. A request for which no connection could be made
            does not count.
        retries: Retries among them: an int.
        waited: Seconds that calls paused: between attempts, for the budget, and for a ``Retry-After``: a float. The
            pauses between the polls of a wait for a job do not count.
        budget_left: How many requests the budget allows now, as far as this client knows: an int. It does not read
            the store. Requests of other processes are in it as of the last time that this client did: when it was
            made, at its last request that this budget counts, or at its last plan. ``None`` without a budget, after ``close()``, and, with a
            store, in a forked child before its first request. Without a store the child has a budget of its own.
        jobs_left: The same for the jobs that ``jobs_per_hour`` lets the client's project create now, as of when the
            client was made or created its last job there.

    Example:
        >>> client.visitor_totals("2026-01").total
        147011
        >>> client.stats
        Stats(requests=1, retries=0, waited=0.0, budget_left=None, jobs_left=None)
    """

    requests: int
    retries: int
    waited: float
    budget_left: int | None
    jobs_left: int | None
