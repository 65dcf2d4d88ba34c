"""Compares everything that was asked for with what the server did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

CONFIRMED, CANCELLED = "confirmed", "cancelled"
EXPECTED: Mapping[str, tuple[int, int]] = {
    # How often the server may have done it, at least and at most.
    CONFIRMED: (1, 1),
    "applied": (1, 1),
    "unknown": (0, 1),
    CANCELLED: (0, 1),
    "rejected": (0, 0),
    "not_sent": (0, 0),
}


@dataclass
class Tally:
    """The client's answers. Many threads and tasks fill it, and each entry is written once."""

    writes: dict[str, str] = field(default_factory=dict)
    """The outcome of the write of each prompt."""
    jobs: dict[str, str] = field(default_factory=dict)
    """The id of the job that a confirmed create returned."""
    exports: Counter[str] = field(default_factory=Counter)
    waits: Counter[str] = field(default_factory=Counter)
    rows: int = 0
    retries: int = 0
    waited: float = 0.0
    wrong: list[str] = field(default_factory=list)
    """Discrepancies that showed at once."""


def discrepancies(tally: Tally, ledger: Mapping[str, Any]) -> list[str]:
    """The discrepancies; empty if there are none."""
    wrong = [*tally.wrong, *ledger["strange"]]
    for prompt, outcome in tally.writes.items():
        jobs = ledger["created"].get(prompt, [])
        times = len(jobs) + ledger["messages"].get(prompt, 0)
        least, most = EXPECTED.get(outcome, (0, -1))
        if not least <= times <= most:
            wrong.append(f"{prompt}: {outcome}, and done {times} times")
        if prompt in tally.jobs and jobs != [tally.jobs[prompt]]:
            wrong.append(f"{prompt}: the client got {tally.jobs[prompt]}, the server made {jobs}")
    nobodys = {*ledger["created"], *ledger["messages"]} - set(tally.writes)
    wrong += [f"{prompt}: done, and nobody asked for it" for prompt in sorted(nobodys)]
    # The same once more, as a sum.
    done = sum(map(len, ledger["created"].values())) + sum(ledger["messages"].values())
    said = Counter(tally.writes.values())
    if (
        not said[CONFIRMED] + said["applied"]
        <= done
        <= sum(said[o] for o, (_, most) in EXPECTED.items() if most)
    ):
        wrong.append(f"{done} writes done, {dict(said)} reported")
    return wrong


def table(tally: Tally, ledger: Mapping[str, Any]) -> str:
    """The closing account."""
    lines = [f"{'writes':<12}{'reported':>10}{'done':>10}{'allowed':>12}"]
    for outcome, (least, most) in EXPECTED.items():
        prompts = [prompt for prompt, said in tally.writes.items() if said == outcome]
        done = sum(len(ledger["created"].get(p, [])) + ledger["messages"].get(p, 0) for p in prompts)
        bounds = (
            f"{least * len(prompts)} to {most * len(prompts)}" if least != most else f"{most * len(prompts)}"
        )
        lines.append(f"{outcome:<12}{len(prompts):>10}{done:>10}{bounds:>12}")
    done = sum(map(len, ledger["created"].values())) + sum(ledger["messages"].values())
    lines.append(f"{'all':<12}{len(tally.writes):>10}{done:>10}")
    for name, counts in (("waits", tally.waits), ("exports", tally.exports)):
        lines.append(f"{name}: " + ", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    lines.append(f"rows: {tally.rows}, of exports that finished")
    lines.append(
        f"requests: {ledger['requests']} read, {tally.retries} retries, {tally.waited:.0f} s of pauses"
    )
    faults = sorted(ledger["faults"].items())
    lines.append(f"faults: {sum(count for _, count in faults)}")
    lines += [f"  {name:<32}{count:>8}" for name, count in faults]
    return "\n".join(lines)
