"""Several jobs at a time: ``docplatform job run --file prompts.json``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from docplatform.cli import output, phrases
from docplatform.cli.exits import Exit
from docplatform.cli.output import Progress
from docplatform.cli.params import check_prompt, read_text

if TYPE_CHECKING:
    from docplatform import JobsReport
    from docplatform.cli.session import Session


def read(file: str, *, quiet: bool) -> dict[str, str]:
    """The prompts of a file by their names; a usage error says what is wrong with it."""
    try:
        prompts = json.loads(read_text(file, "the prompts", "name the file", quiet=quiet))
    except json.JSONDecodeError as error:
        raise click.UsageError(f"{file} is not JSON: {error}") from None
    if not isinstance(prompts, dict) or not all(isinstance(prompt, str) for prompt in prompts.values()):
        raise click.UsageError(
            f'{file} must hold an object from names to prompts, such as {{"links": "Fix the broken links"}}'
        )
    for prompt in prompts.values():
        check_prompt(prompt)
    return prompts


def run(session: Session, prompts: dict[str, str], **how: Any) -> None:
    """Runs the jobs, prints every outcome, and ends with the exit code of the worst one."""
    with session.client() as client:
        progress = Progress(f"Running {output.count(len(prompts), 'job')}", quiet=session.quiet)
        try:
            with progress, progress.counting():
                report = client.run_jobs(
                    prompts, once=session.store is not None, on_budget=session.on_budget, **how
                )
        except KeyboardInterrupt as interrupt:
            if (begun := getattr(interrupt, "report", None)) is not None:
                show(session, begun)
            raise
    show(session, report)
    click.get_current_context().exit(worst(report, failed=bool(report.failed)))


def worst(report: JobsReport, *, failed: bool) -> Exit:
    """The exit code of the worst outcome."""
    if report.unknown:
        waits = all(isinstance(error, TimeoutError) for error in report.unknown.values())
        return Exit.WAIT_TIMED_OUT if waits else Exit.UNCONFIRMED
    return Exit.JOB_FAILED if failed else Exit.DONE


def show(session: Session, report: JobsReport) -> None:
    """Prints the outcome of every job, as a table or as JSON."""
    results = report.failed | report.unknown
    jobs = report.to_dicts()
    for job in jobs:
        if job["error"] is not None:
            job["error"] = phrases.whole(results[job["name"]], session.again)
    if session.json:
        output.document({"jobs": jobs, "requests": report.requests})
        return
    rows = [(job["name"], job["result"], job["pr_link"] or job["error"] or job["job"] or "") for job in jobs]
    output.table(rows, ("name", "result", "pull request, or what happened"))
