"""Wrong usage of single commands: exit code 2, before anything is sent or written. The matrix has what all commands share."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from helpers.cli import JANUARY, Cli

JOB_RUN = ("job", "run", "Fix it")
CA_WITHOUT_END = ("--base-url", "https://127.0.0.1", "--ca-bundle", "/dev/zero")

WRONG: list[tuple[tuple[str, ...], str]] = [
    ((), "Usage: docplatform"),
    (("job",), "Usage: docplatform job"),
    (("jobs",), "No such command 'jobs'. Did you mean 'job'?"),
    (("vistors",), "Did you mean 'visitors'?"),
    (("trend",), "Did you mean 'visitors trend' or 'views trend'?"),
    (("versions",), "No such command 'versions'.\n"),
    (("job", "lst"), "`docplatform job --help` lists the commands."),
    (("job", "run", "-f", "prompts.jsonl"), "holds one object from names to prompts"),
    (("job", "run", "Fix", "the", "links"), "put quotes around it"),
    ((*JOB_RUN, "-f", "prompt.txt"), "not both"),
    (("job", "run", "-f", "/dev/zero"), "longer than 16 MiB"),
    (("job", "run", "-f", "latin.txt"), "it is not UTF-8 text"),
    (("job", "run", "  "), "the prompt is empty"),
    (("job", "run"), "the prompt is empty"),
    (("job", "run", "Fix \udcff it"), "give that with --file"),
    ((*JOB_RUN, "--timeout", "soon"), "45m"),
    ((*JOB_RUN, "--timeout", "9999h"), "at most one year"),
    ((*JOB_RUN, "--poll-interval", "0m"), "more than 0 seconds"),
    ((*JOB_RUN, "--job-path", "/v2"), "--job-path must contain {id}"),
    ((*JOB_RUN, "--job-path", "v2"), '--job-path must start with "/"; it looks like "/v2/agent/{project_id}'),
    (("job", "get", "../job"), "id"),
    (("job", "get", "job-1", *CA_WITHOUT_END), "longer than"),
    (("job", "get", "job-1", "--store", "visitors.db"), "No such option"),
    # As of a variable that is not set.
    (("visitors", "totals", ""), 'period "" is not known'),
    (("visitors", "totals", "--store", "latin.txt"), "not an SQLite file"),
    (("visitors", "top", "-n", "0"), "--number"),
    (("visitors", "top", "--limit", "5"), "Did you mean '--number'?"),
    (("report", "--month", "2026-10"), "A PERIOD such as 2026-10 is an argument"),
    (("--store", "docs.db", "visitors", "top"), "Options come after the whole command"),
    (("fix", "-o", "fixes.html"), ".xlsx, .md, or give --format"),
    (("visitors", "export", "-o", "v.ods"), "ends in .csv, .jsonl, .parquet, .arrow, .xlsx"),
    (("visitors", "export", "-o", "v"), "--format"),
    (("visitors", "export", "--format", "parquet"), "parquet needs a file"),
    (("visitors", "export", "--json"), "name a file for the rows with -o"),
    (("visitors", "export", "--json"), "to print the rows as JSON, give --format jsonl instead of --json"),
    (("visitors", "export", "-o", ".", "--format", "csv"), "directory"),
    (("visitors", "compare", "--from", "2024-01-01"), "name whole days: a PERIOD such as 2026-01"),
    (("report", "--from", "2024-01-01T12:00", "--to", "2024-02-01"), "name whole days"),
    (("visitors", "compare", "2024-01", "--before", "2024-01"), "January 2024"),
    (("report", "-o", "none/report.html"), "there is no folder none: create it"),
    (("report", "-o", "report.pdf"), "ends in .html, .htm, .md or .markdown"),
    (("sync", "demo", *JANUARY), "--store"),
    (("sync", "--store", "v.db", "--last", "0"), "--last"),
    (
        ("sync", "--store", "v.db", "demo", "2026-10"),
        "The PERIOD comes first, and projects come after it",
    ),
    # A project's name may look much like a period.
    (
        ("sync", "--store", "v.db", "2026-w1", "2026-10"),
        "The PERIOD comes first, and projects come after it",
    ),
    (("sync", "--store", "v.db", *JANUARY, "-f", "empty.txt"), "names no project"),
    (("sync", "--store", "v.db", *JANUARY, "a/b"), "projects"),
    # Which of them was meant?
    (("sync", "--store", "v.db", *JANUARY, "other", "--project", "demo"), "with --project, or"),
    (("sync", "--store", "v.db", *JANUARY, "-f", "empty.txt", "--project", "demo"), "with --project, or"),
    (("visitors", "top", *JANUARY, "-n", str(1 << 63)), "is too large"),
    (("stub", "--visitors", "many"), "invalid int value"),
    (("stub", "--visitors", "-1"), "visitors"),
    (("stub", "--port", "99999"), "docplatform stub: error: port"),
    (("stub", "visitors", "top"), "visitors top; a command to run comes after --run --"),
    *((("stub", "--fail", failure), "--fail") for failure in ("sometimes", "200", "drop:0")),
    (("demo", "--no-such-option"), "--no-such-option"),
]


@pytest.mark.row("J12")
@pytest.mark.parametrize(
    ("arguments", "says"), WRONG, ids=lambda value: " ".join(value)[:60] if isinstance(value, tuple) else ""
)
def test_wrong_usage_sends_nothing_and_writes_nothing(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    given = {"empty.txt": b"\n", "latin.txt": b"Fix \xff"}
    for name, content in given.items():
        Path(name).write_bytes(content)
    ended = cli(*arguments)
    assert (ended.status, cli.stub.requests) == (2, [])
    if "--json" in arguments:
        error = json.loads(ended.out)["error"]
        assert (error["class"], says in error["message"]) == ("UsageError", True)
    else:
        assert ended.out == ""
    assert says in ended.err
    assert "Reading visitors" not in ended.err
    # A store is opened before the ids of projects are looked at.
    assert {path.name: path.read_bytes() for path in Path().iterdir() if "v.db" not in path.name} == given
