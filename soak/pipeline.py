"""Runs a pipeline step again and again, in up to three processes that are killed at random: nothing is done twice.

The step creates a job, sends it a message, and waits.

``python -m soak.pipeline --runs 2000 --seed 1``; exit code 1 where anything does not add up.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import docplatform
from docplatform.testing import StubServer
from docplatform.testing._service import make_answer

PROCESSES = 3
"""Steps at a time."""
OPEN = 8
"""Names that are worked on at a time: now and then two processes have the same."""
KILLED = 0.35
"""The share of steps for which a kill is drawn. A step that ends before it is not killed."""
LONGEST = 0.25
"""When a kill comes at the latest, in seconds after the step began."""
FATES = {"answered": 60, "refused": 12, "lost before": 8, "lost after": 12, "503 after": 8}
"""The fates of a creation or a message, and their weights."""
ON_ITS_WAY = 0.3
"""How long a request may be on its way whose process was killed, in seconds."""


class Breaking(StubServer):
    """Loses and refuses creations and messages at random. The jobs are in ``jobs``."""

    def __init__(self, seed: int) -> None:
        super().__init__(visitors=1, active_polls=0, latency=0.03)
        self._random = random.Random(seed)
        self.fates: Counter[str] = Counter()

    def _decide(self, call: Any) -> Any:
        if call.request.method != "POST":
            return super()._decide(call)
        (fate,) = self._random.choices(list(FATES), list(FATES.values()))
        self.fates[fate] += 1
        if fate == "refused":
            return make_answer(self._random.choice([400, 401, 422, 429]), None, []), self._latency
        if fate == "lost before":
            return None, self._latency
        answer, delay = super()._decide(call)
        if fate == "503 after":
            return make_answer(503, None, []), delay
        return None if fate == "lost after" else answer, delay

    def done(self, prompt: str) -> list[str]:
        """The id of a job for each time that it got a prompt."""
        return [job.id for job in self.jobs for each in job.prompts if each == prompt]


def step(settings: dict[str, str], name: str, end: Connection) -> None:
    """Creates a job and sends a message as a pipeline does, and reports how that ended, at which name, and the job."""
    at, job = name, ""
    try:
        with docplatform.Client(**settings) as client:  # type: ignore[arg-type]
            job = client.create_job(prompt_of(name), once=name).id
            at = message_of(name)
            client.follow_up(job, prompt_of(at), once=at, settle=0.05, poll_interval=0.01)
        result = "done"
    except docplatform.DocPlatformError as error:
        result = str(error.outcome)
    end.send((result, at, job))


def prompt_of(name: str) -> str:
    return f"Document {name}"


def message_of(name: str) -> str:
    """The name of the message to a name's job."""
    return f"{name}, message"


@dataclass
class Account:
    """How the runs of each name ended."""

    ends: Counter[str] = field(default_factory=Counter)
    by_name: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    ids: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    wrong: list[str] = field(default_factory=list)
    resolved: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def enter(self, name: str, end: str, job: str = "") -> None:
        with self.lock:
            self.ends[end] += 1
            self.by_name[name][end] += 1
            if job:
                self.ids[name].add(job)


class Pipelines:
    """Runs steps, kills some, and does what a person does when an outcome is unknown."""

    def __init__(self, stub: Breaking, store: Path, seed: int) -> None:
        self.stub, self.account, self._random = stub, Account(), random.Random(seed)
        self.settings = {
            "base_url": stub.url,
            "api_key": stub.api_key,
            "project_id": stub.project_id,
            "store": str(store),
        }
        self._processes = multiprocessing.get_context("forkserver")
        self._processes.set_forkserver_preload(["docplatform"])
        self._names = [f"release {number}" for number in range(OPEN)]
        self._next = OPEN

    def run(self, _: int) -> None:
        """One step."""
        with self.account.lock:
            name = self._random.choice(self._names)
            kill = self._random.uniform(0, LONGEST) if self._random.random() < KILLED else None
            looks = self._random.random() < 0.5
        here, there = self._processes.Pipe(duplex=False)
        process = self._processes.Process(target=step, args=(self.settings, name, there))
        process.start()
        there.close()
        if kill is None:
            process.join(100)
        else:
            process.join(kill)
        process.kill()
        process.join()
        try:
            end, at, job = here.recv()
        except EOFError:
            end, at, job = "killed", message_of(name), ""
            self.account.enter(name, end)
            if kill is None:
                self.account.wrong.append(f"{name}: a step that nobody killed did not end")
        here.close()
        if job:
            self.account.enter(name, "done", job)
        self.account.enter(at, end, job if end == "done" else "")
        if end == "unknown" and looks:
            self.look(at)
        if self.account.by_name[message_of(name)]["done"] >= 2:
            self.retire(name)

    def look(self, name: str) -> None:
        """As a person does: some time after the last request, and never while the job is being created."""
        time.sleep(ON_ITS_WAY)
        found = self.stub.done(prompt_of(name))
        with docplatform.Client(**self.settings) as client, suppress(ValueError):  # type: ignore[arg-type]
            client.resolve_once(name, found[0] if found else None)
            self.account.resolved["found" if found else "never created"] += 1

    def retire(self, name: str) -> None:
        with self.account.lock, suppress(ValueError):
            self._names[self._names.index(name)] = f"release {self._next}"
            self._next += 1

    def discrepancies(self) -> tuple[list[str], Counter[str]]:
        """The discrepancies, and what became of names with an unknown outcome."""
        wrong, unknown = list(self.account.wrong), Counter[str]()
        asked = {str((request.json or {}).get("prompt")) for request in self.stub.requests}
        for name, ends in self.account.by_name.items():
            done, ids = self.stub.done(prompt_of(name)), self.account.ids[name]
            if len(done) > 1:
                wrong.append(f"{name}: done {len(done)} times")
            if ids - {*done} or len(ids) > 1:
                wrong.append(f"{name}: the steps got {sorted(ids)}, the service has {done}")
            if ends["unknown"]:
                left = prompt_of(name) in asked
                unknown["its request had arrived" if left else "killed before its request arrived"] += 1
                if not left and not ends["killed"]:
                    wrong.append(f"{name}: unknown, though nothing was sent and nothing was killed")
            strange = {*ends} - {"done", "rejected", "not_sent", "unknown", "applied", "killed"}
            wrong += [f"{name}: ended as {end}" for end in sorted(strange)]
        return wrong, unknown


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=random.randrange(2**31))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Breaking(options.seed) as stub:
        pipelines = Pipelines(stub, Path(folder) / "docs.db", options.seed)
        with ThreadPoolExecutor(PROCESSES) as pool:
            list(pool.map(pipelines.run, range(options.runs)))
        wrong, unknown = pipelines.discrepancies()
        account = pipelines.account
        print(f"{options.runs} runs of {len(account.by_name)} names: {dict(account.ends)}")
        messages = sum(len(job.prompts) - 1 for job in stub.jobs)
        print(f"the service: {dict(stub.fates)}; {len(stub.jobs)} jobs, {messages} messages")
        print(f"names that were unknown for a time: {dict(unknown)}; resolved: {dict(account.resolved)}")
    for line in wrong:
        print(line)
    print(f"{len(wrong)} discrepancies (seed {options.seed})")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
