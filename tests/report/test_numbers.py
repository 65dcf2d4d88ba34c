"""Every number of a report is right: nearly a thousand random pairs of periods are rendered, read back, and compared with their rows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from math import inf
from random import Random
from typing import Any, NamedTuple

import pytest

from docplatform import Totals
from docplatform._hooks.numbers import percent
from docplatform.cli.report import figures, markdown, page
from docplatform.cli.report.words import part
from helpers import judge
from helpers.reports import Parsed, made

NOW, BEFORE = "March 2026", "February 2026"
DATES = judge.FEBRUARY, judge.MARCH
LISTED = 4
"""How many pages of each kind are listed."""
NUMBER = re.compile(r"[+\u2212<>]*\d+(?:,\d{3})*(?:\.\d+)?(?:%|\u00d7)?")
Rows = dict[str, Totals]


class Signed(int):
    """A change."""


class Percent(NamedTuple):
    """A change as a share."""

    before: int
    now: int


class Share(NamedTuple):
    """A part of a whole."""

    part: int
    whole: int


def agrees(text: str, value: int | Percent | Share) -> bool:
    """Whether a shown number is right, to its last digit."""
    if isinstance(value, Share):
        true = 100 * value.part / value.whole if value.whole else 0.0
        if text[0] in "<>":
            return (0 < true <= 0.5) if text == "<1%" else (99.5 <= true < 100 and text == ">99%")
        return text.endswith("%") and abs(float(text[:-1]) - true) <= 0.5
    if isinstance(value, Percent):
        if not value.before:
            return text == ("new" if value.now else "0%")
        if text.endswith("\u00d7"):
            times = value.now / value.before
            return times > 10 and abs(float(text[:-1].replace(",", "")) - times) <= 0.5
        true = 100 * (value.now - value.before) / value.before
        shown = text.removesuffix("%").replace("\u2212", "-")
        # One that has not vanished altogether is not shown as if it had.
        close = 0.5 if "." not in shown and abs(true) >= 9.9 else 0.05
        return abs(float(shown) - true) <= close + 1e-9 or (shown == "-99" and -100 < true < -99)
    if isinstance(value, Signed):
        sign = "+" if value > 0 else "\u2212" if value < 0 else ""
        return text == f"{sign}{abs(value):,}"
    return text == f"{value:,}"


def check(texts: list[str], values: list[int | Percent | Share], where: str) -> None:
    """The numbers of a row or a sentence, each in its place."""
    assert len(texts) == len(values), (where, texts, values)
    for text, value in zip(texts, values, strict=True):
        assert agrees(text, value), (where, text, value)


def numbers(text: str) -> list[str]:
    """The numbers of a text, without those of its dates."""
    return NUMBER.findall(text.replace(NOW, "").replace(BEFORE, "").replace(" times", "\u00d7"))


def pages(rows: Rows) -> Rows:
    """Those with visitors."""
    return {path: counts for path, counts in rows.items() if any(counts)}


@dataclass
class Truth:
    """Two periods and their true numbers, counted here again as simply as possible."""

    before: Rows
    now: Rows
    totals_before: Totals
    totals: Totals
    slices: list[figures.Slice]
    of: str = "total"
    """The kind of readers whose changes are listed."""

    @classmethod
    def random(cls, random: Random) -> Truth:
        def rows() -> Rows:
            top = 10 ** random.randint(0, random.choice((4, 4, 12)))
            paths = random.sample(PATHS, random.randint(0, 12))
            found = {}
            for path in paths:
                human, ai = random.randint(0, top), random.randint(0, top)
                found[path] = Totals(human, ai, max(human, ai) + random.randint(0, min(human, ai)))
            return found

        def totals() -> Totals:
            human, ai = (random.randint(0, 10 ** random.randint(0, 9)) for _ in range(2))
            return Totals(human, ai, max(1, human, ai) + random.randint(0, min(human, ai)))

        first = date(2026, 3, 1)
        days = [first + timedelta(at) for at in range(random.randint(2, 5))]
        slices = [figures.Slice(day, day + timedelta(1), *totals()) for day in days]
        before, now = rows(), rows()
        if random.random() < 0.5:
            # Most pages stay much as they were.
            now = {
                path: Totals(*(int(count * random.uniform(0.8, 1.2)) for count in counts))
                for path, counts in before.items()
            } | now
        return cls(before, now, totals(), totals(), slices)

    def report(self) -> figures.Report:
        """The report, as the command makes it of the rows."""
        gathering = figures.Gathering(LISTED)
        for path, counts in self.now.items():
            gathering.add({"path": path, **counts._asdict()})
        before, now = ([(path, *counts) for path, counts in side.items()] for side in (self.before, self.now))
        site = figures.Comparison(name=BEFORE, dates=DATES, totals=self.totals_before)
        found = figures.compare(site, before, now, self.totals)
        self.of = found.of
        return made(
            **vars(gathering.figures()), name=NOW, days=31, number=LISTED, totals=self.totals, comparison=found,
            trend=figures.Trend(every="day", slices=self.slices),
        )  # fmt: skip

    # -- what is true --

    def gain(self, path: str) -> int:
        before, now = self.counts(path)
        return now - before

    def counts(self, path: str, of: str | None = None) -> tuple[int, int]:
        """Its readers of the listed kind, before and now."""
        none = Totals(0, 0, 0)
        before, now = (getattr(side.get(path, none), of or self.of) for side in (self.before, self.now))
        return before, now

    def changed(self, of: str) -> list[str]:
        """The risers, fallers, new and vanished pages of a kind, in their order."""
        paths = [*dict.fromkeys([*self.now, *self.before])]
        pairs = {path: self.counts(path, of) for path in paths}
        judged = (
            judge.judge(*map(list, zip(*pairs.values(), strict=True))) if pairs else judge.Judged(1, [], [])
        )
        found = [
            path
            for path, flag in zip(paths, judged.significant, strict=True)
            for b, n in [pairs[path]]
            if flag and (not b or (n > b) == (n > judged.pace * b))
        ]
        return sorted(
            found, key=lambda path: (-abs(pairs[path][1] - pairs[path][0]), -max(pairs[path]), path)
        )

    def moved(self, sign: int) -> list[str]:
        """Those that were read in both periods, and gained or lost."""
        return [
            path for path in self.changed(self.of) if all(self.counts(path)) and sign * self.gain(path) > 0
        ]

    def change(self, path: str) -> list[int | Percent | Share]:
        before, now = self.counts(path)
        return [before, now, Signed(now - before), Percent(before, now)]

    def once(self, here: int) -> list[str]:
        """Those that were read only before (0) or only now (1)."""
        return [path for path in self.changed(self.of) if not self.counts(path)[1 - here]]

    def sections(self, of: str) -> dict[str, tuple[int, int, int]]:
        """The pages of each section that this kind read, and its visits before and now."""
        found: dict[str, tuple[int, int, int]] = {}
        for path in {*self.now, *self.before}:
            before, now = self.counts(path, of)
            pages, visits_before, visits = found.get(f"/{path.split('/')[1]}", (0, 0, 0))
            if before or now:
                found[f"/{path.split('/')[1]}"] = pages + 1, visits_before + before, visits + now
        return found


PATHS = [f"/{first}/{second}" for first in ("api", "guides", "cli", "sdk") for second in "abcdefg"]
PATHS += [f"/{name}" for name in ("faq", "about", "llms.txt", "pricing")]

# -- what is shown ---------------------------------------------------------------------------------


@dataclass
class Shown:
    """The numbers and sentences of a report in any form."""

    tables: dict[str, list[list[str]]]
    """The rows by the heading of their table: a path, then numbers."""
    summary: list[str]
    advice: list[str]
    totals: list[list[str]]
    """People, AI agents, all: before, now, the change from total to total, and the one per day if it is shown."""


def from_html(report: figures.Report) -> tuple[Shown, Parsed]:
    html = page.render(report)
    parsed = Parsed(html)
    since = r"from ([\d,]+)(?: \((.*?) in all\))?"
    change = rf'(?:<dd class="change"><span class="\w+">(.*?)( per (?:working )?day)?</span> <span>{since}</span>)?'
    tiles = re.findall(
        rf"<dd>([\d,]+)</dd>{change}", html.partition('class="tiles">')[2].partition("</dl>")[0]
    )
    tables = {
        heading.partition(" (")[0]: [[row[0], *numbers_or_words(" ".join(row[1:]))] for row in rows]
        for heading, rows in parsed.tables.items()
    }
    summary = re.findall(r"<p>(.*?)</p>", html.partition('class="summary">')[2].partition("</section>")[0])
    advice = re.findall(r"<li>(.*?)</li>", html)
    said = [[bare(line) for line in lines] for lines in (summary, advice)]
    totals = [
        numbers_or_words(f"{before} {now} " + (f"{with_sign(plain)} {change}" if per else change))
        for now, change, per, before, plain in tiles
    ]
    return Shown(tables, said[0], said[1], totals), parsed


def from_markdown(report: figures.Report) -> Shown:
    text = markdown.render(report)
    tables: dict[str, list[list[str]]] = {}
    for block in re.split("\n####? ", text)[1:]:
        heading = block.partition("\n")[0].partition(" (")[0]
        rows = re.findall(r"^\| (.*) \|$", block, re.MULTILINE)[2:]
        if rows:
            tables[heading] = [
                [bare(row.split(" | ")[0]), *numbers_or_words(" ".join(row.split(" | ")[1:]))] for row in rows
            ]
    head = text.partition("\n### ")[0]
    table = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)[0]
    totals = [
        numbers_or_words(" ".join(row.split(" | ")[1:]))
        for row in re.findall(r"^\| (.*) \|$", table, re.MULTILINE)[2:]
    ]
    totals = [[row[0], row[1], row[3]] for row in totals]
    paragraphs = head.split("\n\n")
    advice = re.findall(r"^- (.*)$", text.partition("### What to do")[2].partition("\n### ")[0], re.MULTILINE)
    return Shown(tables, bare(paragraphs[2]).strip().split("\n"), list(map(bare, advice)), totals)


def bare(text: str) -> str:
    """A sentence without its markup."""
    text = re.sub(r"<[^>]*>|\*\*|[`\\]", "", text)
    return text.replace("&lt;", "<").replace("&gt;", ">")


def with_sign(compared: str) -> str:
    """``+14%`` of ``14% more``."""
    size, _, way = compared.partition(" ")
    return {"more": f"+{size}", "fewer": f"\u2212{size}", "same": "0%"}.get(way, f"{size} times")


def numbers_or_words(text: str) -> list[str]:
    return [
        word.replace("&lt;", "<").replace("&gt;", ">").lstrip("\\")
        for word in text.replace(" times", "\u00d7").split()
    ]


# -- one beside the other --------------------------------------------------------------------------


def check_tables(truth: Truth, shown: Shown) -> None:
    """Each cell of each table."""

    def table(heading: str, expected: list[tuple[str, list[int | Percent | Share]]]) -> None:
        rows = shown.tables.get(heading, [])
        assert [row[0] for row in rows] == [name for name, _ in expected], heading
        for row, (name, values) in zip(rows, expected, strict=True):
            check(row[1:], values, f"{heading}: {name}")

    now = truth.now
    if truth.before:
        for heading, sign in (("Risers", 1), ("Fallers", -1)):
            table(heading, [(path, truth.change(path)) for path in truth.moved(sign)[:LISTED]])
        kind = {"human": "people", "ai": "AI agents"}.get(truth.of)
        titles = (
            (f"No longer read by {kind}", f"First read by {kind}")
            if kind
            else ("Vanished pages", "New pages")
        )
        for here, heading in enumerate(titles):
            table(heading, [(path, [truth.counts(path)[here]]) for path in truth.once(here)[:LISTED]])
    now = pages(now)
    top = sorted(now, key=lambda path: -now[path].total)[:LISTED]
    table("The most read pages", [(path, [*now[path]]) for path in top])
    for heading in ("Read by AI agents", "Read by people"):
        for path, *cells in shown.tables.get(heading, []):
            human, ai, total = now[path]
            check(cells, [human, ai, Share(ai, total)], heading)
    table(
        "The trend",
        [(f"{one.date_from.day} March 2026", [one.human, one.ai, one.total]) for one in truth.slices],
    )
    sections = truth.sections(truth.of if truth.before else "total")
    shown_sections = shown.tables.get("Sections", [])
    if truth.before:
        assert {row[0] for row in shown_sections} == ({*sections} if len(sections) > 1 else set())
    for name, *cells in shown_sections:
        number, before_, now_ = sections[name]
        values: list[int | Percent | Share] = [number, before_, now_, Percent(before_, now_)]
        if not truth.before:
            ai = truth.sections("ai").get(name, (0, 0, 0))[2]
            values = [number, now_, Share(ai, now_)]
        check(cells, values, f"section {name}")


def check_sentences(truth: Truth, shown: Shown) -> None:
    """Each number of the sentences on top, of the advice and of the notes."""
    before, now = truth.totals_before, truth.totals
    first, second, *rest = shown.summary
    assert f"from {before.total:,} in {BEFORE} (28 days) to {now.total:,} in 31 days" in first
    told = {
        kind: judge.change(getattr(before, kind), getattr(now, kind), *DATES)
        for kind in ("human", "ai", "total")
    }
    parted = [told[kind][1] for kind in ("human", "ai")].count("rose") == 1
    assert parted == first.startswith("People")
    for kind, words in (("human", "People"), ("ai", "AI agents"), ("total", "The number of readers")):
        (value, verdict), text = told[kind], first if parted or kind == "total" else second
        said = re.search(
            f"{words}(?: and AI agents)? (hardly changed|may have risen or fallen|rose|fell)(?: (?:by|to|from) ([\\d.,]+)(%| times)?)?",
            text,
        )
        assert said is not None, text
        assert said[1] == verdict
        if value == inf:
            assert said[2].strip(",.:") == "0"
        elif said[2]:
            known = abs(100 * value) if said[3] == "%" else value + 1
            assert abs(float(said[2].replace(",", "")) - known) <= 0.5
        end = ".*? in 31 days" if kind == "total" else ""
        if more := re.match(rf"{end} \(([\d.,]+)% (more|fewer)", text[said.end() :]):
            plain = getattr(now, kind) / getattr(before, kind) - 1
            assert more[2] == ("more" if plain > 0 else "fewer")
            assert abs(float(more[1].replace(",", "")) - abs(100 * plain)) <= 0.5
    check(numbers(second)[-1:], [Share(now.ai, now.total)], second)
    for sentence in rest:
        check_place(truth, sentence)
    for advice in shown.advice:
        path = re.search(r"(/[\w./]+)", advice)
        assert path is not None
        if " lost " in advice:
            expected: list[Any] = [abs(truth.gain(path[1])), Percent(*truth.counts(path[1]))]
            check(numbers(advice.replace(path[1], "")), expected, advice)
        elif "is read by AI agents" in advice:
            _, ai, total = truth.now[path[1]]
            check(numbers(advice.replace(path[1], "")), [Share(ai, total)], advice)
        else:
            gone = sum(
                not any(truth.now.get(path, ())) for path in truth.once(0) if not path.endswith(".txt")
            )
            assert advice.startswith("Nobody reads ")
            assert numbers(advice) == ([f"{gone - 3:,}"] if gone > 3 else [])


def check_place(truth: Truth, sentence: str) -> None:
    """A sentence about sections or about pages."""
    if sentence.startswith("No section stands out: the change is the same everywhere"):
        return
    if not sentence.lower().startswith("page visits"):
        sign = 1 if " with more " in sentence else -1
        for path, number in re.findall(r"(/[\w./]+) \(([+\u2212][\d,]*\d)(?=[,)])", sentence):
            assert agrees(number, Signed(truth.gain(path)))
            assert sign * truth.gain(path) > 0
        count = re.match(r"(\d+) pages stand out", sentence)
        if count:
            assert int(count[1]) == sum(sign * truth.gain(path) > 0 for path in truth.changed(truth.of))
        return
    sections = truth.sections(truth.of)
    for name, text in re.findall(r"(/\w+) \(([^)]*)\)", sentence):
        _, before, now = sections.pop(name)
        assert agrees(text.replace(" times as many", "\u00d7"), Percent(before, now))
    rest = re.search(
        r"in all other sections of several pages they (rose|fell) (?:by ([\d.]+%)|to ([\d,]+) times as many)",
        sentence,
    )
    if rest:
        others = [one for one in sections.values() if one[0] > 1]
        before, now = (sum(one[at] for one in others) for at in (1, 2))
        minus = "+" if rest[1] == "rose" else "\u2212"
        assert agrees(f"{minus}{rest[2]}" if rest[2] else f"{rest[3]}\u00d7", Percent(before, now))


def check_hovers(truth: Truth, parsed: Parsed) -> None:
    """The texts of a page on hover: the totals, who moved, the trend, the most read pages."""
    expected = [[truth.totals.human, truth.totals.ai]]
    sides = [truth.moved(1)[:LISTED], truth.moved(-1)[:LISTED]]
    if truth.totals.total < truth.totals_before.total:
        sides.reverse()
    if truth.before:
        expected += [[*truth.counts(path)] for side in sides for path in side]
    expected += [[one.human, one.ai, one.total] for one in truth.slices]
    top = sorted(pages(truth.now).values(), key=lambda counts: -counts.total)[:LISTED]
    expected += [[counts.human, counts.ai] for counts in top]
    said = [
        numbers(hover.partition(" 2026: ")[2] if " in all" in hover else hover) for hover in parsed.hovers
    ]
    assert said == [[f"{number:,}" for number in row] for row in expected]


@pytest.mark.parametrize("seed", range(10))
def test_every_number_is_the_truth(seed: int) -> None:
    random = Random(seed)
    for _ in range(100):
        truth = Truth.random(random)
        if not truth.now:
            continue
        report = truth.report()
        assert (report.rows, report.pages) == (len(truth.now), len(pages(truth.now)))
        shown, parsed = from_html(report)
        for one in (shown, from_markdown(report)):
            check_tables(truth, one)
            check_sentences(truth, one)
            before, now = truth.totals_before, truth.totals
            for row, kind in zip(one.totals, ("human", "ai", "total"), strict=True):
                was, is_ = getattr(before, kind), getattr(now, kind)
                change = judge.change(was, is_, *DATES)[0]
                per_day = [Percent(10**9, round((1 + change) * 10**9))] if row[3:] else []
                check(row, [was, is_, Percent(was, is_), *per_day], kind)
        check_hovers(truth, parsed)


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (percent(10_000, 10_996), "+10%"),
        (percent(10_000, 9_004), "\u221210%"),
        (percent(10_000, 10_994), "+9.9%"),
        (percent(10_000, 10_004), "0%"),
        (percent(10_000, 9_996), "0%"),
        (part(0, 200), "0%"),
        (part(1, 200), "<1%"),
        (part(199, 200), ">99%"),
        (part(200, 200), "100%"),
    ],
)
def test_only_what_is_nothing_or_all_is_written_so(said: str, text: str) -> None:
    assert said == text
