"""A second implementation of the judge of comparisons, slow and plain, which the core's has to equal. Also sites to judge."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from datetime import date, timedelta
from random import Random
from typing import NamedTuple

from docplatform import Comparison
from docplatform._native import _comparison

Days = tuple[date, date]
"""The first day, and the day after the last one."""
MARCH, FEBRUARY = (date(2026, 3, 1), date(2026, 4, 1)), (date(2026, 2, 1), date(2026, 3, 1))


class Judged(NamedTuple):
    pace: float
    z: list[float]
    significant: list[bool]


def judge(before: list[int], now: list[int]) -> Judged:
    """Judges the pages with these counts of one kind."""
    pairs = list(zip(before, now, strict=True))
    ratios = [n / b for b, n in pairs if b and n and b + n >= 20]
    if len(ratios) >= 10:
        pace = statistics.median(ratios)
    else:
        pace = sum(now) / sum(before) if sum(now) and sum(before) else 1.0
    scatter = _scatter(pairs, pace)
    z = [_z(b, n, pace, scatter) for b, n in pairs]
    p = [math.erfc(abs(value) / math.sqrt(2)) for value in z]
    tested = sorted((p[i], i) for i, (b, n) in enumerate(pairs) if b + n >= 10)
    passed = max(
        (rank for rank, (value, _) in enumerate(tested, 1) if value <= 0.05 * rank / len(tested)), default=0
    )
    significant = [False] * len(pairs)
    for _, i in tested[:passed]:
        b, n = pairs[i]
        difference = abs(n - pace * b)
        significant[i] = difference >= 10 and difference >= 0.1 * max(pace * b, 1)
    return Judged(pace, z, significant)


def _z(b: int, n: int, pace: float, scatter: float) -> float:
    """The difference from the expected count, in standard deviations, which come from counting and from the scatter."""
    return (n - pace * b) / math.sqrt(pace * (b + n + scatter**2 * b * n)) if b + n else 0.0


def _scatter(pairs: list[tuple[int, int]], pace: float) -> float:
    """The smallest scatter that puts half of the most read pages within 0.6745 standard deviations."""
    read = sorted(((b + n, b, n) for b, n in pairs if b and n and b + n >= 20), reverse=True)
    read = read[: max(20, len(read) // 5)]
    if len(read) < 20:
        return 0.1

    def middle(scatter: float) -> float:
        return statistics.median(abs(_z(b, n, pace, scatter)) for _, b, n in read)

    low, high = 0.0, 4.0
    if middle(low) <= 0.6745:
        return 0.0
    for _ in range(40):
        half = (low + high) / 2
        low, high = (half, high) if middle(half) > 0.6745 else (low, half)
    return high


def change(before: int, now: int, period_before: Days, period: Days) -> tuple[float, str]:
    """The site's change, and "rose", "fell" or "hardly changed"."""
    if not before or not now:
        return (
            (0.0, "hardly changed")
            if before == now
            else (math.inf if now else -1.0, "rose" if now else "fell")
        )
    values = [now / before - 1] + [
        now / count(period) / (before / count(period_before)) - 1
        for count in (days, workdays)
        if count(period) and count(period_before)
    ]
    same = all(value > 0 for value in values) or all(value < 0 for value in values)
    value = min(values, key=abs) if same else 0.0
    if abs(value) < 0.02 or (now - before) ** 2 <= 9 * (now + before):
        return value, "hardly changed"
    return value, "rose" if value > 0 else "fell"


def days(period: Days) -> int:
    return (period[1] - period[0]).days


def workdays(period: Days) -> int:
    return sum((period[0] + timedelta(k)).weekday() < 5 for k in range(days(period)))


Counts = tuple[int, int, int]
"""People, AI agents, all."""


def compared(
    before: Iterable[Counts], now: Iterable[Counts], paths: list[str] | None = None, **more: tuple[Days, Days]
) -> Comparison:
    """The core's comparison of these pages. The totals of the site are their sums."""
    sides = [*before], [*now]
    names = paths or [f"/{at}" for at in range(len(sides[0]))]
    rows = [[(path, *counts) for path, counts in zip(names, side, strict=True)] for side in sides]
    totals = [[sum(kind) for kind in zip(*side, strict=True)] or [0, 0, 0] for side in sides]
    period, period_before = more.get("periods", (MARCH, FEBRUARY))
    return _comparison(rows[1], totals[1], period, rows[0], totals[0], period_before)


def of_people(before: list[int], now: list[int], paths: list[str] | None = None) -> Comparison:
    """The same of a site that only people read."""
    return compared(((b, 0, b) for b in before), ((n, 0, n) for n in now), paths)


def draw(rng: Random, means: Iterable[float]) -> list[int]:
    """A random count for each mean."""
    return [_poisson(rng, mean) for mean in means]


def _poisson(rng: Random, mean: float) -> int:
    if mean > 500:
        return max(0, round(rng.gauss(mean, math.sqrt(mean))))
    limit, count, product = math.exp(-mean), 0, rng.random()
    while product > limit:
        count, product = count + 1, product * rng.random()
    return count


def sites() -> dict[str, tuple[list[int], list[int]]]:
    """Sites with a known truth, by its description."""
    rng = Random(2026)
    steep = [5000 / rank**0.9 for rank in range(1, 1001)]

    def even(mean: float, count: int) -> list[float]:
        return [mean * rng.uniform(0.5, 1.5) for _ in range(count)]

    flat, rare, wide = even(200, 1000), even(3, 1000), even(200, 5000)
    drift = [mean * math.exp(rng.gauss(0, 0.2)) for mean in steep]
    first, second = ([rng.gammavariate(20, mean / 20) for mean in steep] for _ in range(2))
    chosen = set(rng.sample(range(60), 10))
    hit = [mean * (0.6 if i in chosen else 1) for i, mean in enumerate(steep)]
    truths = {
        "flat, 200 readers a page": (flat, flat),
        "flat, 3 readers a page": (rare, rare),
        "flat, 5,000 pages, 28 days after 31": (wide, [mean * 28 / 31 for mean in wide]),
        "every page drifts by 20 % of its own": (steep, drift),
        "each month of a page scatters by 22 %": (first, second),
        "ten of the 60 most read pages lose 40 %": (steep, hit),
        "all pages lose 30 %": (steep, [mean * 0.7 for mean in steep]),
    }
    return {name: (draw(rng, before), draw(rng, now)) for name, (before, now) in truths.items()}
