"""Several jobs at a time: ``docplatform job run --file prompts.json``."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from docplatform import DocPlatformError, Job
from docplatform.cli import exits, files, output
from docplatform.cli.exits import Exit
from docplatform.cli.params import check_prompt, read_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from docplatform import Client, JobsReport
    from docplatform.cli.session import Session


def read(file: str, *, quiet: bool) -> dict[str, str]:
    """The prompts of a file by their names; a usage error says what is wrong with it."""
    try:
        text = read_text(file, "the prompts", "name the file", quiet=quiet)
        prompts = json.loads(text, object_pairs_hook=_without_repeats)
    except json.JSONDecodeError as error:
        raise click.UsageError(f"{file} is not JSON: {error}") from None
    if not isinstance(prompts, dict) or not all(isinstance(prompt, str) for prompt in prompts.values()):
        raise click.UsageError(
            f'{file} must hold an object from names to prompts, such as {{"links": "Fix the broken links"}}'
        )
    for prompt in prompts.values():
        check_prompt(prompt)
    return prompts


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON. Of two entries with one name, Python would drop the first."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise click.UsageError(
                f"the name {output.shown(name)} stands twice in the file: name each task once"
            )
        found[name] = value
    return found


def run(session: Session, prompts: dict[str, str], **how: Any) -> None:
    """Runs the jobs, prints every outcome, and ends with the exit code of the worst one."""
    files.check_printing()
    show = partial(_show, session)
    with session.client() as client:
        report = start(session, client, prompts, show, once=session.store is not None, **how)
    show(report)
    click.get_current_context().exit(worst(report))


def start(
    session: Session,
    client: Client,
    prompts: dict[str, str],
    show: Callable[[JobsReport, KeyboardInterrupt], None],
    **how: Any,
) -> JobsReport:
    """Runs the jobs. If it is interrupted, ``show`` gets the outcomes until then."""
    progress = session.progress(f"Running {output.count(len(prompts), 'job')}")
    try:
        with progress, progress.counting():
            return client.run_jobs(prompts, on_budget=session.on_budget, **how)
    except KeyboardInterrupt as interrupt:
        if (begun := getattr(interrupt, "report", None)) is not None:
            show(begun, interrupt)
        raise


def worst(report: JobsReport) -> Exit:
    """The exit code of the worst outcome. Failures of several kinds have that of a failed job."""
    if report.unknown:
        waits = all(isinstance(error, TimeoutError) for error in report.unknown.values())
        return Exit.WAIT_TIMED_OUT if waits else Exit.UNCONFIRMED
    if not report.failed:
        return Exit.DONE
    return exits.shared(map(_code, report.failed.values()), Exit.JOB_FAILED)


def _code(failed: Job | DocPlatformError | ValueError) -> Exit:
    if isinstance(failed, Job):
        return Exit.JOB_FAILED
    return exits.code_of(failed) if isinstance(failed, DocPlatformError) else Exit.USAGE


def told(session: Session, report: JobsReport) -> list[dict[str, Any]]:
    """The outcome of every job. An error is what ``--json`` shows of a failure."""
    results: dict[str, Any] = {**report.failed, **report.unknown}
    jobs = report.to_dicts()
    for job in jobs:
        if job["error"] is not None:
            named = {"name": job["name"] if session.store is not None else None}
            job["error"] = exits.whole(results[job["name"]], session.again) | named
    return jobs


def error(
    report: JobsReport, jobs: list[dict[str, Any]], interrupt: KeyboardInterrupt | None
) -> dict[str, object] | None:
    """The failure that the exit code stands for, as ``--json`` shows it. ``jobs`` are the outcomes as :func:`told` makes them."""
    if interrupt is not None:
        return exits.facts(interrupt)
    problems: dict[str, Any] = {**report.failed, **report.unknown}
    if not problems:
        return None
    code = worst(report)
    # Failures of several kinds have a code that may be that of none.
    name = next((name for name, problem in problems.items() if _code(problem) == code), next(iter(problems)))
    found: dict[str, object] | None = next(job["error"] for job in jobs if job["name"] == name)
    if found is None:
        job = problems[name]
        found = output.failure("JobFailedError", f"job {job.id} of the task {name} failed")
        found |= {"job": job.to_dict(), "outcome": "applied", "name": name}
    return found


def outcome(job: dict[str, Any]) -> str:
    """The pull request of a job, or what happened instead."""
    message = job["error"] and job["error"]["message"]
    return str(job["pr_link"] or message or job["job"] or "")


def _show(session: Session, report: JobsReport, interrupt: KeyboardInterrupt | None = None) -> None:
    """Prints the outcome of every job, as a table or as JSON."""
    jobs = told(session, report)
    if session.json:
        counts = {part: len(getattr(report, part)) for part in ("done", "failed", "unknown")}
        about = {"requests": report.requests, "error": error(report, jobs, interrupt)}
        output.document({**counts, **about, "jobs": jobs})
        return
    rows = [(job["name"], job["result"], outcome(job)) for job in jobs]
    output.table(rows, ("name", "result", "pull request, or what happened"))
    if interrupt is not None and any(job["result"] == "unknown" and job["job"] for job in jobs):
        how = f"To wait for one: {session.again('job', 'wait', job='ID')}"
        if session.store is not None:
            how = "Run the same command again: it creates no job twice."
        session.say(f"The jobs that were created keep running. {how}")
