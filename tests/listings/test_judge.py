"""Comparisons equal those of ``helpers.judge``, and say nothing false about sites with a known truth."""

from __future__ import annotations

import itertools
import math
from datetime import date, timedelta
from random import Random

import pytest

from docplatform import Comparison
from docplatform._hooks import numbers
from docplatform._native import _site_change
from docplatform.testing import StubServer
from helpers import judge
from helpers.judge import compared, draw, of_people

pytestmark = pytest.mark.one_python
KINDS = ("human", "ai", "total")


def flagged(found: Comparison, kind: str = "total") -> list[bool]:
    return [row[f"{kind}_significant"] for row in found]


def moved(found: Comparison, kind: str = "total") -> list[str]:
    return [found[at]["path"] for at, _ in found._movements(kind)]


def random_site(rng: Random) -> tuple[list[int], list[int]]:
    """Counts of one kind before and now: large and small sites, with chance, scatter, growth, and pages that came and went."""
    top, growth, scatter = 10 ** rng.uniform(0, 5), rng.uniform(0.3, 3), rng.choice((0.0, 0.1, 0.5))
    means = [top / rank ** rng.uniform(0, 1.5) for rank in range(1, rng.choice((3, 12, 40, 150)) + 1)]
    before = draw(rng, means)
    now = draw(rng, (mean * growth * math.exp(rng.gauss(0, scatter)) for mean in means))
    for counts in (before, now):
        for at in rng.sample(range(len(means)), rng.randrange(len(means) // 4 + 1)):
            counts[at] = 0
    return before, now


def test_flags_pace_and_change_equal_the_references_for_1000_pairs_of_sites() -> None:
    rng = Random(31)
    for _ in range(1_000):
        people, agents, all_ = (random_site(rng) for _ in KINDS)
        count = min(len(before) for before, _ in (people, agents, all_))
        sides = [(before[:count], now[:count]) for before, now in (people, agents, all_)]
        first = date(2024, 1, 1) + timedelta(rng.randrange(800))
        middle, last = (first + timedelta(rng.randint(1, 70)) for _ in range(2))
        periods = (middle, middle + (last - first)), (first, middle)
        found = compared(
            zip(*(before for before, _ in sides), strict=True),
            zip(*(now for _, now in sides), strict=True),
            periods=periods,
        )
        for kind, (before, now) in zip(KINDS, sides, strict=True):
            expected = judge.judge(before, now)
            assert flagged(found, kind) == expected.significant
            assert getattr(found.pace, kind) == expected.pace - 1
            value, verdict = judge.change(sum(before), sum(now), periods[1], periods[0])
            known = getattr(found.change, kind)
            assert (math.inf if known is None else known) == value
            assert _site_change(sum(before), sum(now), periods[1], periods[0])[1] == verdict
            for row, b, n in zip(found, before, now, strict=True):
                assert (row[f"{kind}_before"], row[kind], row[f"{kind}_change"]) == (b, n, n - b)
                assert row[f"{kind}_growth"] == (pytest.approx(n / b - 1) if b else None)
            for at, how in found._movements(kind):
                b, n = before[at], now[at]
                assert how == ("new" if not b else "vanished" if not n else "riser" if n > b else "faller")
                assert b == 0 or n == 0 or (n > b) == (n > expected.pace * b)


@pytest.mark.parametrize(
    ("name", "listed"),
    [
        ("flat, 200 readers a page", 0),
        ("flat, 3 readers a page", 0),
        ("flat, 5,000 pages, 28 days after 31", 0),
        ("every page drifts by 20 % of its own", 0),
        ("each month of a page scatters by 22 %", 3),
        ("ten of the 60 most read pages lose 40 %", 9),
        ("all pages lose 30 %", 0),
    ],
)
def test_a_site_whose_truth_is_known(name: str, listed: int) -> None:
    before, now = SITES[name]
    found = of_people(before, now)
    assert sum(flagged(found)) == listed
    assert flagged(found) == judge.judge(before, now).significant


SITES = judge.sites()


def test_at_most_one_flat_site_in_twenty_lists_a_page() -> None:
    rng, alarms = Random(8), 0
    for _ in range(1_000):
        mean, growth = rng.choice((3.0, 30.0, 600.0)), rng.uniform(0.6, 1.6)
        means = [mean * rng.uniform(0.5, 1.5) for _ in range(100)]
        alarms += any(flagged(of_people(draw(rng, means), draw(rng, [one * growth for one in means]))))
    assert alarms <= 50


def test_the_order_of_rows_and_a_page_that_nobody_read_change_nothing() -> None:
    rng = Random(4)
    before, now = SITES["ten of the 60 most read pages lose 40 %"]
    pages = [(f"/{at % 7}/{at}", b, n) for at, (b, n) in enumerate(zip(before, now, strict=True))]
    seen = []
    for more in ([], [("/0/unread", 0, 0)], [("/unread", 0, 0)] * 30):
        rng.shuffle(pages)
        paths, b, n = zip(*pages, *more, strict=True)
        found = of_people([*b], [*n], [*paths])
        seen.append((found.pace, moved(found), found.sections().to_dicts()))
    assert seen[0] == seen[1] == seen[2]


@pytest.mark.parametrize("weekend", [1.0, 0.7, 0.4, 0.1])
def test_no_month_of_a_site_with_weekends_rose_or_fell(weekend: float) -> None:
    firsts = [date(2024 + month // 12, month % 12 + 1, 1) for month in range(49)]
    months = [*itertools.pairwise(firsts)]

    def readers(month: judge.Days) -> int:
        work = judge.workdays(month)
        return round(1_000 * (work + weekend * (judge.days(month) - work)))

    pairs = itertools.pairwise(months)
    told = {_site_change(readers(before), readers(now), before, now)[1] for before, now in pairs}
    assert told == {"hardly changed"}


def test_sections_that_moved_come_first() -> None:
    rng = Random(6)
    names = ["api", "guides", "sdk", *(f"part{at}" for at in range(7))]
    paths = [f"/{name}/{at}" for name in names for at in range(40)]
    now = [2_490.0 if path.split("/")[1] in names[:3] else 3_000.0 for path in paths]
    found = of_people(draw(rng, [3_000.0] * 400), draw(rng, now), paths).sections(of="human")
    assert {row["section"] for row in found[:3]} == {"/api", "/guides", "/sdk"}
    assert [row["significant"] for row in found] == [True] * 3 + [False] * 7
    assert [row["paths"] for row in found] == [40] * 10
    alone = of_people([300, 300, 0], [100, 310, 0], ["/", "/faq", "/unread"]).sections()
    assert [(row["section"], row["change"]) for row in alone] == [("/", -200), ("/faq", 10)]


def test_the_stubs_months_list_what_its_story_moves() -> None:
    with StubServer() as stub, stub.client() as client:
        october, february = (client.compare_visitors(month) for month in ("2026-10", "2026-02"))
    assert sum(flagged(october, "human")) == 11
    assert {*moved(february)} == {
        "/changelog/2026-02",
        "/changelog/2026-01",
        "/changelog/2025-12",
        "/sdk/v1",
        "/releases/v25.2",
        "/guides/migrate-to-v25.2",
        "/tutorials/build-a-dashboard",
    }
    assert february.change == (0, 0, 0)
    assert str(february).splitlines()[:2] == [
        "February 2026 (28 days) and January 2026 (31 days)",
        "Readers hardly changed: 139,558 in 28 days, after 147,011 in 31 (5.1% fewer, but 5.1% more per day)",
    ]


JULY, AUGUST = (date(2026, 7, 1), date(2026, 8, 1)), (date(2026, 8, 1), date(2026, 9, 1))


@pytest.mark.parametrize(
    ("before", "now", "periods", "said"),
    [
        (0, 0, (JULY, AUGUST), "X hardly changed: 0 after 0 (the same)"),
        (0, 9, (JULY, AUGUST), "X rose from 0: 9 after 0"),
        (9, 0, (JULY, AUGUST), "X fell by 100%: 0 after 9"),
        (
            10_000,
            10_100,
            (judge.FEBRUARY, judge.FEBRUARY),
            "X hardly changed: 10,100 after 10,000 (1.0% more)",
        ),
        (
            10_000,
            10_000,
            (judge.FEBRUARY, judge.FEBRUARY),
            "X hardly changed: 10,000 after 10,000 (the same)",
        ),
        (
            10_000,
            300_000,
            (judge.FEBRUARY, judge.FEBRUARY),
            "X rose to 30 times as many: 300,000 after 10,000",
        ),
        # July has 23 working days, and August 21.
        (
            10_000,
            9_000,
            (JULY, AUGUST),
            "X hardly changed: 9,000 after 10,000 (10% fewer, or 1.4% fewer per working day)",
        ),
        (
            10_000,
            9_500,
            (JULY, AUGUST),
            "X hardly changed: 9,500 after 10,000 (5.0% fewer, but 4.0% more per working day)",
        ),
        (
            10_000,
            8_000,
            (JULY, AUGUST),
            "X fell by 12%, counted per working day: 8,000 after 10,000 (20% fewer in all)",
        ),
        (
            10_000,
            13_000,
            (judge.FEBRUARY, judge.MARCH),
            "X rose by 17%, counted per day: 13,000 in 31 days, after 10,000 in 28 (30% more in all)",
        ),
        (
            10_000,
            500,
            (judge.FEBRUARY, (date(2026, 2, 2), date(2026, 2, 3))),
            "X may have risen or fallen: 500 in 1 day, after 10,000 in 28 (95% fewer, but 40% more per day)",
        ),
    ],
)
def test_the_change_of_a_site_in_a_sentence(
    before: int, now: int, periods: tuple[judge.Days, judge.Days], said: str
) -> None:
    assert numbers.site("X", before, now, *periods) == said
