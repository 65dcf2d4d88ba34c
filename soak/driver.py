"""The operations of a soak, on both faces."""

from __future__ import annotations

import asyncio
import itertools
import random
import threading
from collections import Counter
from collections.abc import Callable, Coroutine, Generator
from dataclasses import dataclass
from operator import methodcaller
from typing import Any

import docplatform
from docplatform import AsyncClient, Client, DocPlatformError
from soak.account import CANCELLED, CONFIRMED, Tally
from soak.site import KEY, MOST_ROWS, table

SETTINGS: dict[str, Any] = {
    "api_key": KEY,
    "project_id": "demo",
    "timeout": 0.5,
    "connect_timeout": 1.0,
    "deadline": 6.0,
    "trust_env": False,
}
OPERATIONS_A_CLIENT = 40
"""Then it is closed and another one made."""
MOST_RESUMES = 100

Step = Generator[Callable[[Any], Any], Any, None]
"""An operation for both faces: it yields calls of a client, and receives their results."""


class Enough(BaseException):
    """The call was cancelled by its caller."""


@dataclass
class Next:
    """The next row of an export, or ``None`` at its end."""

    rows: Any

    def of(self, _client: Any) -> Next:
        return self


class Driver:
    """Draws operations until it is stopped, and records the result of each."""

    def __init__(self, base_url: str, seed: int, go_on: Callable[[], bool]) -> None:
        self.base_url = base_url
        self.go_on = go_on
        self.tally = Tally()
        self.lock = threading.Lock()
        self.seeds = random.Random(seed)
        self.numbers = itertools.count()

    def operation(self, dice: random.Random, name: str) -> Step:
        """Any operation."""
        return self.export(dice) if dice.random() < 0.3 else self.job(dice, name)

    def job(self, dice: random.Random, name: str) -> Step:
        """A job, created; most are waited for, and some get a message."""
        prompt = f"{name}: create {next(self.numbers)}"
        nowhere = dice.random() < 0.03
        job = yield from self.write(prompt, lambda client: reach(client, nowhere).create_job(prompt))
        if job is None:
            return
        self.tally.jobs[prompt] = job.id
        if dice.random() < 0.5:
            yield from self.wait(job)
        if dice.random() < 0.4:
            more = f"{name}: message {next(self.numbers)}"
            yield from self.write(more, lambda client: client.send_message(job, more))

    def write(self, prompt: str, call: Callable[[Any], Any]) -> Generator[Callable[[Any], Any], Any, Any]:
        """One write, and what was said of it."""
        job, said = None, CONFIRMED
        try:
            job = yield call
        except Enough:
            said = CANCELLED
        except DocPlatformError as error:
            said = str(error.outcome)
            self.look(error)
        self.tally.writes[prompt] = said
        return job

    def wait(self, job: Any) -> Step:
        for _ in range(MOST_RESUMES):
            try:
                last = yield lambda client: client.wait_for_job(job, timeout=20, poll_interval=0.02)
            except Enough:
                continue
            except DocPlatformError as error:
                self.look(error)
                continue
            if last.id != job.id or last.status != "completed":
                self.tally.wrong.append(f"{job.id}: waited for, and came back as {last!r}")
            return self.count(self.tally.waits, "completed")
        self.count(self.tally.waits, "given up")

    def export(self, dice: random.Random) -> Step:
        """An export that is broken off, cancelled and abandoned, and goes on from its checkpoints."""
        project = f"project-{dice.randrange(MOST_ROWS)}"
        truth, came = table(project), list[Any]()
        prefetch = dice.choice([0, 1, 1, 3])
        begin = {"project_id": project, "page_size": dice.choice([7, 50, 250]), "prefetch": prefetch}
        for _ in range(MOST_RESUMES):
            rows = yield methodcaller("visitors", **begin)
            patience = dice.randint(0, 2 * len(truth)) if dice.random() < 0.2 else len(truth) + 1
            try:
                while patience > len(came):
                    row = yield Next(rows).of
                    if row is None:
                        return self.finished(project, came == truth, len(came))
                    came.append(row)
            except Enough:
                pass
            except DocPlatformError as error:
                self.look(error)
                if getattr(error, "checkpoint", None) != rows.checkpoint:
                    self.tally.wrong.append(f"{project}: the checkpoint is not that of {error!r}")
            begin = {"resume": rows.checkpoint, "prefetch": prefetch}
            self.count(self.tally.exports, "resumed")
        self.count(self.tally.exports, "given up")
        if came != truth[: len(came)]:
            self.tally.wrong.append(f"{project}: not the beginning of the truth")

    def finished(self, project: str, whole: bool, rows: int) -> None:
        self.count(self.tally.exports, "finished")
        with self.lock:
            self.tally.rows += rows
        if not whole:
            self.tally.wrong.append(f"{project}: {rows} rows that are not the truth")

    def look(self, error: DocPlatformError) -> None:
        """Checks an error: the client's own faults are wrong, whatever the server did."""
        if KEY in f"{error!r} {error} {vars(error)}":
            self.tally.wrong.append("an error shows the key")
        if type(error) is DocPlatformError or isinstance(error, docplatform.PaginationError):
            self.tally.wrong.append(f"not the server's fault: {error!r}")

    def count(self, counts: Counter[str], what: str) -> None:
        with self.lock:
            counts[what] += 1

    def add(self, stats: Any) -> None:
        with self.lock:
            self.tally.retries += stats.retries
            self.tally.waited += stats.waited

    def thread(self, name: str, seed: int) -> None:
        """Operations one after the other, on the blocking face."""
        dice = random.Random(seed)
        try:
            while self.go_on():
                with Client(base_url=self.base_url, **SETTINGS) as client:
                    for _ in range(OPERATIONS_A_CLIENT):
                        if self.go_on():
                            run(self.operation(dice, name), client)
                    self.add(client.stats)
        except BaseException as error:
            self.tally.wrong.append(f"{name} died of {error!r}")
            raise

    async def tasks(self, name: str, seed: int) -> None:
        """Operations side by side, on the asyncio face. Some are cancelled."""
        dice = random.Random(seed)
        while self.go_on():
            async with (
                AsyncClient(base_url=self.base_url, **SETTINGS) as client,
                asyncio.TaskGroup() as group,
            ):
                for _ in range(OPERATIONS_A_CLIENT):
                    if self.go_on():
                        own = random.Random(dice.random())
                        group.create_task(run_async(self.operation(own, name), client, own))
            self.add(client.stats)


def reach(client: Any, nowhere: bool) -> Any:
    """The client, or one like it of an address where nobody listens."""
    return client.with_options(base_url="http://127.0.0.1:9", max_retries=0) if nowhere else client


def run(step: Step, client: Client) -> None:
    """An operation on the blocking face."""
    drive = step.send
    value: Any = None
    while True:
        try:
            call = drive(value)
        except StopIteration:
            return
        try:
            value, drive = call(client), step.send
            if isinstance(value, Next):
                value = next(value.rows, None)
        except DocPlatformError as error:
            value, drive = error, step.throw


async def run_async(step: Step, client: AsyncClient, dice: random.Random) -> None:
    """An operation on the asyncio face; a part of its calls is cancelled on the way."""
    drive = step.send
    value: Any = None
    while True:
        try:
            call = drive(value)
        except StopIteration:
            return
        try:
            value, drive = call(client), step.send
            if isinstance(value, Next):
                value = anext(value.rows, None)
                value = await (impatient(value, dice) if dice.random() < 0.001 else value)
            elif isinstance(value, Coroutine):
                value = await (impatient(value, dice) if dice.random() < 0.05 else value)
        except (DocPlatformError, Enough) as error:
            value, drive = error, step.throw


async def impatient(waiting: Any, dice: random.Random) -> Any:
    """Cancels ``waiting`` after a moment."""

    async def wait() -> Any:
        return await waiting

    task = asyncio.create_task(wait())
    await asyncio.wait([task], timeout=dice.uniform(0, 0.02))
    if task.cancel():
        await asyncio.wait([task])
    if task.cancelled():
        raise Enough
    return task.result()
