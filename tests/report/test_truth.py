"""Reports about sites with a known truth: no false alarm, and nothing missed on the first screen."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from random import Random
from typing import Any

import pytest

from docplatform.testing import StubServer
from helpers import judge
from helpers.cli import Cli

pytestmark = pytest.mark.one_python
Rows = list[dict[str, Any]]
OCTOBER = date(2026, 10, 1)


def brief(cli: Cli, visitors: object, period: str = "2026-10") -> list[str]:
    """The lines of a short report, without the first one, which names the period."""
    with StubServer(visitors) as stub:  # type: ignore[arg-type]  # a number or a function
        ended = cli("report", period, "--brief", "--no-feedback", "--base-url", stub.url)
    assert (ended.status, len(ended.out.splitlines()) <= 10) == (0, True), ended.err
    return [line.removeprefix("- ").replace("`", "") for line in ended.out.splitlines()[1:]]


def site(people: Callable[[int, bool], float], agents: Callable[[int, bool], float], pages: int = 400) -> Any:
    """A site with these means for each page, in September and in October, and with chance."""

    def rows(first: date, _: date) -> Rows:
        now, rng = first >= OCTOBER, Random(first.toordinal())
        human, ai = (judge.draw(rng, [mean(at, now) for at in range(pages)]) for mean in (people, agents))
        sections = ("api", "guides", "sdk", "cli", "faq", "ops", "dev", "data", "auth", "web")
        return [
            {"path": f"/{sections[at % 10]}/{at}", "human": people, "ai": agents, "total": people + agents}
            for at, (people, agents) in enumerate(zip(human, ai, strict=True))
        ]

    return rows


def days(now: bool) -> float:
    """October has one day more."""
    return 31 / 30 if now else 1


NOTHING = "The change is the same everywhere: no section and no page changed by more than chance, the growth of the site and its usual ups and downs explain."


def test_people_who_are_replaced_by_agents_are_missed_first(cli: Cli) -> None:
    """Ten pages lost more people than the others."""

    def people(at: int, now: bool) -> float:
        return 300 * days(now) * (0.3 if now and at < 10 else 0.72 if now else 1)

    said = brief(cli, site(people, lambda _, now: 100 * days(now) * (1.9 if now else 1)))
    assert re.match(
        r"People fell by 2\d% in all, and AI agents rose by \d\d%, counted per day\. The number of readers .*: from \d",
        said[0],
    )
    lost = next(line for line in said if " fewer people" in line)
    assert re.match(r"\d+ pages stand out with fewer people, among them /", lost)
    assert {int(path) % 400 < 10 for path in re.findall(r"/\w+/(\d+)", lost)} == {True}
    assert re.match(r"To do: /\w+/\d lost \d+ people \(\u2212\d\d%\): look at this page first\.", said[-1])


def test_february_is_shorter_and_has_not_lost_its_home_page(cli: Cli) -> None:
    said = brief(cli, 1_000, "2026-02")
    assert said[0] == (
        "The number of readers hardly changed: from 147,011 in January 2026 (31 days) to 139,558 in 28 days (5.1% fewer, but 5.1% more per day)."
    )
    assert not any(re.search(r" / | /[.(:]|moved", line) for line in said)


def calendar(first: date, end: date) -> Rows:
    """A site of the stub's kind without its story: only the calendar moves its pages."""
    work = judge.workdays((first, end))
    rest = judge.days((first, end)) - work
    found = []
    for rank in range(500):
        part = 0.16 * (rank + 20) ** -0.75
        people, agents = int(5_000 * part * (work + 0.4 * rest)), int(2_500 * part * (work + 0.85 * rest))
        found.append(
            {"path": f"/{rank % 12}/{rank}", "human": people, "ai": agents, "total": people + agents}
        )
    return found


@pytest.mark.parametrize("month", ["2025-02", "2025-03", "2025-08"])
def test_a_flat_site_has_no_mover_and_no_advice_in_any_month(cli: Cli, month: str) -> None:
    said = brief(cli, calendar, month)
    assert said[0].startswith("The number of readers hardly changed: ")
    assert said[2:] == [NOTHING]


@pytest.mark.parametrize("mean", [200, 3])
def test_a_flat_site_of_1000_pages_has_no_mover_and_no_advice(cli: Cli, mean: float) -> None:
    flat = site(lambda _, now: mean * days(now), lambda _, now: mean * days(now) / 2, 1_000)
    said = brief(cli, flat)
    assert said[0].startswith("The number of readers hardly changed: ")
    kinds = r"hardly changed \([\d.]+% more, (?:but|or) [\d.]+% (?:more|fewer) per day\)"
    assert re.match(f"People {kinds}, and AI agents {kinds}; 3", said[1])
    assert said[2:] == [NOTHING]


def test_three_sections_that_fell_are_named_before_pages(cli: Cli) -> None:
    def people(at: int, now: bool) -> float:
        return 600 * days(now) * (0.83 if now and at % 10 < 3 else 1.04 if now else 1)

    said = brief(cli, site(people, lambda *_: 1.0))
    named = re.match(
        r"Page visits fell in (/\w+) \(\u2212\d\d%\), (/\w+) \(\u2212\d\d%\) and (/\w+) \(\u2212\d\d%\); in all other sections of several pages they rose by \d\.\d%\.",
        said[2],
    )
    assert named is not None
    assert {*named.groups()} == {"/api", "/guides", "/sdk"}


@pytest.mark.parametrize("month", ["2026-02", "2026-04", "2026-10"])
@pytest.mark.parametrize("more", [[], ["--no-feedback"]])
def test_no_sentence_names_a_page_that_another_one_names(cli: Cli, month: str, more: list[str]) -> None:
    with StubServer() as stub:
        ended = cli("report", month, "--brief", *more, "--base-url", stub.url)
    lines = [re.sub("`docplatform .*`", "", line) for line in ended.out.splitlines()]
    named = [path for line in lines for path in re.findall("`(/[^`]*)`", line)]
    # A section is no page.
    pages = [path for path in named if path.count("/") > 1 or path == "/"]
    assert len(pages) >= 3
    assert sorted(pages) == sorted({*pages})


def moving(changes: dict[str, tuple[int, int]]) -> Callable[[date, date], Rows]:
    """A flat site of 80 pages in four sections, and pages with other counts before and now."""

    def rows(first: date, _: date) -> Rows:
        flat = {f"/{section}/{at}": (1000, 1000) for section in "abcd" for at in range(20)}
        counts = {path: found[first >= OCTOBER] for path, found in (flat | changes).items()}
        return [{"path": path, "human": human, "ai": 0, "total": human} for path, human in counts.items()]

    return rows


def test_a_file_for_machines_and_the_home_page_are_no_advice(cli: Cli) -> None:
    files = dict.fromkeys(("/sitemap.xml", "/llms.txt", "/data/all.json"), (1000, 300))
    said = brief(cli, moving({**files, "/": (5000, 0), "/robots.txt": (1000, 0)}))
    assert not any(line.startswith("To do") for line in said)
    # The change is named all the same.
    assert (
        "No section stands out: apart from single pages and the usual ups and downs, the change is the same everywhere."
        in said
    )
    assert any("among them / (\u22125,000, no longer read)" in line for line in said)
    said = brief(cli, moving({**files, "/old": (1000, 0), "/a/3": (1000, 300)}))
    assert [line for line in said if line.startswith("To do")] == [
        "To do: /a/3 lost 700 readers (\u221270%): look at this page first.",
        "To do: Nobody reads /old any more. If it was moved, check its redirect.",
    ]


def test_what_changed_everywhere_is_said_to(cli: Cli) -> None:
    less = {f"/{section}/{at}": (1000, 700) for section in "abcd" for at in range(20)}
    assert NOTHING in brief(cli, moving(less))


def test_pages_below_the_root_are_no_other_section(cli: Cli) -> None:
    fell = {f"/a/{at}": (1000, 600) for at in range(20)}
    rose = {f"/{section}/{at}": (1000, 1050) for section in "bcd" for at in range(20)}
    said = brief(cli, moving({**fell, **rose, "/pricing": (20_000, 2_000), "/faq": (20_000, 2_000)}))
    assert (
        "Page visits fell in /a (\u221240%); in all other sections of several pages they rose by 5.0%."
        in said
    )
