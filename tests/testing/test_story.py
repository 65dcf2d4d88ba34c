"""The story that the stub's made-up numbers tell: what adds up, growth, problems that readers leave over, and recovery after a job."""

from __future__ import annotations

from collections import Counter
from typing import Any

from docplatform.testing import StubServer
from docplatform.testing._story import PROBLEMS


class Site:
    """The made-up site, as a range of it is seen."""

    def __init__(self, stub: StubServer, start: str, end: str, kind: str = "visitors") -> None:
        self.rows: dict[str, dict[str, Any]] = {}
        with stub.client() as client:
            while True:
                days = {"dateFrom": start, "dateTo": end}
                page = client.request(
                    "GET",
                    f"/v1/analytics/{{project_id}}/{kind}",
                    params={**days, "limit": 250, "offset": len(self.rows)},
                )
                self.rows |= {row["path"]: row for row in page[kind]}
                self.totals = page["totals"]
                if not page["hasMore"]:
                    break


def test_views_add_up_and_are_more_than_visitors(stub: StubServer) -> None:
    week = Site(stub, "2026-06-08", "2026-06-15", "views")
    days = [Site(stub, f"2026-06-{day:02}", f"2026-06-{day + 1:02}", "views") for day in range(8, 15)]
    for kind in ("human", "ai", "total"):
        assert week.totals[kind] == sum(row[kind] for row in week.rows.values())
        assert week.totals[kind] == sum(day.totals[kind] for day in days)
    assert all(
        row["total"] == sum(day.rows[path]["total"] for day in days) for path, row in week.rows.items()
    )
    unique = Site(stub, "2026-06-08", "2026-06-15").rows
    assert all(row[kind] >= unique[path][kind] for path, row in week.rows.items() for kind in ("human", "ai"))


def test_searches_and_ratings_add_up_and_are_of_pages_that_have_visitors(stub: StubServer) -> None:
    with stub.client() as client:
        for read, key, count in (
            (client.searches, "searchQuery", "hits"),
            (client.feedback_by_page, "path", "thumbsUp"),
            (client.feedback_by_page, "path", "thumbsDown"),
        ):
            month = {row[key]: row[count] for row in read("2026-01")}
            days = Counter[str]()
            for row in read("2026-01", every="day"):
                days[row[key]] += row[count]
            assert month == dict(days)
            assert sum(month.values()) > sum(row[count] for row in read("2025-02"))
        visited = {row["path"] for row in client.visitors("2026-01")}
        assert {row["path"] for row in client.feedback_by_page("2026-01")} <= visited
        assert {row["path"] for row in client.feedback("2026-01")} <= visited
        assert {row["path"] for row in client.searches("2026-01") if row["path"]} <= visited


def test_readers_stumble_over_pages_that_they_leave(stub: StubServer) -> None:
    before, now = Site(stub, "2026-09-01", "2026-10-01"), Site(stub, "2026-10-01", "2026-11-01")
    for problem in PROBLEMS:
        shares = [site.rows[problem.path]["human"] / site.totals["human"] for site in (before, now)]
        assert shares[1] < 0.95 * shares[0]
    with stub.client() as client:
        assert PROBLEMS[0].path in {row["path"] for row in client.compare_visitors("2026-10").fallers()}


def test_ratings_recover_in_the_months_after_a_job_for_the_page(stub: StubServer) -> None:
    def readers(period: str) -> int:
        found = (row["readers"] for row in client.fix_first(period) if row["path"] == PROBLEMS[0].path)
        return sum(found)

    with stub.client() as client:
        job = client.run_job(client.fix_first("2026-10")[0]["prompt"], poll_interval=0.01)
        assert job.pr_link
        stub.jobs[0].created_at = "2026-09-20T08:00:00Z"
        assert readers("2026-09") > 1_000
        assert readers("2026-10") < 100
