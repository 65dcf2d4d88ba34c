"""Properties of all commands: each row is a command, and each test a property. Other files test what one command alone does."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import click
import pytest

from docplatform import Client
from docplatform.cli import app, main, secrets
from docplatform.testing import StubServer
from helpers.cli import JANUARY, SOON, Cli, closed_pipe, kept
from helpers.marks import posix
from helpers.phases import HOLD, pending, with_a_job

LIKE_A_KEY = "mint_a1B2c3D4e5F6g7H8i9J0"
LINK = "https://github.com/example/docs/pull/"
HOSTILE = "\x1b]52;c;eA==\x07\x9b2J\u202e\r\n\t\x7fend"


def is_plain(text: str) -> bool:
    """Whether a terminal would obey nothing of it but line ends and tabs."""
    return all(c in "\n\t" or c.isprintable() for c in text)


@dataclass(frozen=True)
class Row:
    """A command, and arguments that make it work."""

    name: str
    rest: tuple[str, ...] = ()
    writes: bool = False
    """It sends a POST first."""
    waits: bool = False
    """It waits for a job."""
    json: tuple[str, ...] = ("--json",)
    """With these it prints one document."""
    store: int = 0
    """How many requests it sends, and a store saves."""
    plans: bool = True
    """It knows from the store what it would cost."""
    slices: bool = False
    """It cuts its range into slices, and so needs both days."""
    shows_failures: bool = False
    """It also prints what went wrong."""

    @property
    def line(self) -> tuple[str, ...]:
        return (*self.name.split(), *self.rest)


ROWS = [
    Row("job run", ("Fix it", *SOON), writes=True, waits=True),
    Row("job create", ("Fix it",), writes=True),
    Row("job get", ("job-1",)),
    Row("job wait", ("job-1", *SOON), waits=True),
    Row("job message", ("job-1", "And that"), writes=True),
    Row("job message", ("job-1", "And that", "--wait", *SOON), writes=True, waits=True),
    Row("visitors totals", JANUARY, store=1),
    Row("visitors top", JANUARY, store=4),
    Row("visitors export", JANUARY, store=4, json=("-o", "v.csv", "--force", "--json")),
    Row("visitors compare", JANUARY, store=8),
    Row("views totals", JANUARY, store=1),
    Row("views top", JANUARY, store=4),
    Row("views compare", JANUARY, store=8),
    *(
        Row(
            f"{name} export",
            (*JANUARY, *rest),
            store=pages,
            plans="--page-size" not in rest,
            json=("-o", "v.csv", "--force", "--json"),
        )
        for name, pages, *rest in (
            ("views", 4),
            ("searches", 2),
            ("feedback", 4, "--page-size", "20"),
            ("feedback", 1, "--by-page"),
            ("conversations", 4, "--page-size", "50"),
        )
    ),
    Row("visitors trend", (*JANUARY, "--every", "week"), store=5, slices=True),
    Row("views trend", (*JANUARY, "--every", "week"), store=5, slices=True),
    *(
        Row(
            "sync",
            (*JANUARY, "--every", "month", "--store", "visitors.db", *rest),
            store=pages,
            slices=True,
            shows_failures=True,
        )
        for pages, *rest in ((4,), (2, "--listing", "searches"))
    ),
    Row(
        "report",
        (*JANUARY, "-o", "-", "--every", "none", "--no-compare", "--no-feedback"),
        store=4,
        json=("-o", "r.html", "--force", "--json"),
    ),
    Row("fix", JANUARY, store=9),
    Row("api", ("GET", "/v2/agent/{project_id}/job/job-1")),
    Row("doctor", shows_failures=True),
]


def rows(**wanted: object) -> pytest.MarkDecorator:
    """The commands that have a property."""
    found = [row for row in ROWS if all(bool(getattr(row, name)) is value for name, value in wanted.items())]
    told = ("--wait", "--by-page", "--listing")
    ids = [" ".join((row.name, *(word for word in row.rest if word in told))) for row in found]
    return pytest.mark.parametrize("row", found, ids=ids)


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def stub(stub: StubServer) -> StubServer:
    """A stub with a job."""
    with_a_job(stub, "active", "active", "completed")
    return stub


@pytest.fixture
def tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands try once: which failures they try again, and after which pause, is tested in tests/rust/client."""
    monkeypatch.setattr("docplatform.cli.session.Client", partial(Client, max_retries=0))


def sent(cli: Cli) -> int:
    """How many requests were sent, after the one that created the job."""
    return len(cli.stub.requests) - 1


def leaves(command: click.Command = app.cli, name: str = "") -> Iterator[tuple[str, click.Command]]:
    """All commands that are no group."""
    for below, found in getattr(command, "commands", {}).items():
        yield from leaves(found, f"{name} {below}".strip())
    if not hasattr(command, "commands"):
        yield name, command


LEAVES = dict(leaves())


def test_commands_have_the_same_options_where_they_make_sense() -> None:
    options = {
        name: {word for param in command.params for word in param.opts} for name, command in LEAVES.items()
    }
    for name, given in options.items():
        reads = name in {row.name for row in ROWS if row.store}
        assert ({"--dry-run", "--refresh", "--on-budget"} <= given) is reads, name
        assert ({"-q", "-v", "--json"} <= given) is (name not in ("demo", "stub")), name
        assert "-n" in given or not name.endswith((" top", " compare", " export", "report")), name


def test_every_command_has_a_row() -> None:
    # Names and datasets need a store that is there: test_once.py, test_listings.py.
    assert {row.name for row in ROWS} | {"demo", "stub", "job once", "dataset"} == set(LEAVES)


# -- help and usage --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", *sorted({name.split()[0] for name in LEAVES if " " in name}), *LEAVES])
def test_help_is_complete(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*name.split(), "--help"]) == 0
    shown = capsys.readouterr()
    assert shown.out.lower().startswith(f"usage: docplatform {name}".strip())
    assert (shown.err, len(shown.out.splitlines()) > 4) == ("", True)
    own, *sections = re.split(r"^(?=Store and budget:|Connection:)", shown.out, flags=re.MULTILINE)
    headings = [section.partition(":")[0] for section in sections]
    assert headings in ([], ["Connection"], ["Store and budget", "Connection"])
    # An argument is not listed as an option.
    assert "PROMPT" not in own.partition("Options:")[2]
    for param in LEAVES[name].params if name in LEAVES else ():
        if not isinstance(param, click.Option):
            continue
        assert param.help
        assert not secrets.on_command_line(param.opts)
        # Options that many commands share have headings of their own.
        at = {"store": "Store and budget", "base_url": "Connection"}.get(param.name or "")
        section = own if at is None else sections[headings.index(at)]
        assert (at is not None) or any(part in shown.out for part in param.opts)
        assert at is None or f"  --{(param.name or '').replace('_', '-')} " in section


@pytest.mark.row("J8", "J12", "H6")
@rows()
def test_wrong_usage_is_2_and_sends_nothing(cli: Cli, row: Row) -> None:
    for wrong, says in (
        (("--no-such-option",), "--no-such-option"),
        ((f"--{HOSTILE}",), "No such option"),
        ((f"--{LIKE_A_KEY}",), "[hidden]"),
        (("--token", LIKE_A_KEY), "set DOCPLATFORM_API_KEY"),
        ((f"--API_KEY={LIKE_A_KEY}",), "set DOCPLATFORM_API_KEY"),
        (("--project", cli.stub.api_key), "contains the API key"),
        (("--project", "../x"), "--project contains '/'"),
        (("--base-url", "http://example.com"), "--base-url example.com is plain http"),
        (("--ca-bundle", "none.pem"), "none.pem: "),
    ):
        shown_by_doctor = ("--", "hidden", "key", "none.pem")
        if row.name == "doctor" and not any(part in says.lower() for part in shown_by_doctor):
            continue
        ended = cli(*row.line, *wrong)
        assert ended.status == 2, wrong
        text = ended.out + ended.err
        assert says in text
        assert LIKE_A_KEY not in text
        assert is_plain(text)
    assert sent(cli) == 0


@rows(slices=True)
def test_days_that_cannot_be_cut_into_slices_are_wrong_usage(cli: Cli, row: Row) -> None:
    line = without_days(row)
    for days, says in (
        ((), "--from"),
        (("--from", "2024-01-01"), "--to"),
        (("--from", "2024-02-01", "--to", "2024-01-01"), "exclusive"),
        (("--from", "2024-01-01T12:00", "--to", "2024-02-01"), "slices consist of whole days"),
        ((*JANUARY, "--every", "hour"), "--every"),
    ):
        ended = cli(*line, *days)
        assert (ended.status, ended.out, sent(cli)) == (2, "", 0)
        assert says in ended.err


def without_days(row: Row) -> tuple[str, ...]:
    """A command that reads a range, without the range."""
    assert JANUARY[0] in row.line
    return tuple(word for word in row.line if word not in JANUARY)


@rows(store=True)
def test_a_range_is_a_period_or_dates_or_the_last_days(cli: Cli, row: Row) -> None:
    line = without_days(row)
    asked = []
    for days in (("2024-01",), JANUARY):
        before = len(cli.stub.requests)
        # A sync fetches what may still change each time.
        assert cli(*line, *days, "-q", "--settle-days", "100000").status == 0
        queries = [request.query for request in cli.stub.requests[before:]]
        asked.append(queries)
    assert asked[0] == asked[1]
    for wrong, says in (
        (("2024-13",), "months are 01 to 12"),
        (("soon",), '"2026-W03"'),
        (("2024-01", "--last", "7"), "name the range once"),
        (("2024-01", "--to", "2024-02-01"), "name the range once"),
        ((*JANUARY, "--last", "7"), "name the range once"),
        (("--last", "9999999"), "too far"),
    ):
        before = sent(cli)
        ended = cli(*line, *wrong)
        # Where dates name the range of a sync, all its words are projects.
        assert (ended.status, sent(cli)) == (2, before) or row.name == "sync"
        assert says in ended.err or row.name == "sync"


@rows(store=True, plans=False)
def test_a_dry_run_that_cannot_know_says_the_least_and_sends_nothing(cli: Cli, row: Row) -> None:
    for store in ((), ("--store", "visitors.db")):
        ended = cli(*row.line, *store, "--dry-run")
        assert ended.out == "requests\t1\ncached\t0\nexact\tno\n"
        assert ended.err.startswith("Size unknown: at least 1 request.\nEvery ")
        assert ("Final rows that the store has cost no request." in ended.err) is bool(store)
        assert ended.err.splitlines()[-1] == "Nothing was sent."
    found = json.loads(cli(*row.line, "--dry-run", *row.json).out)
    assert (found["dry_run"], found["requests"], found["estimated"]) == (True, 1, False)
    # A dry run reports wrong usage, too.
    wrong = cli(*without_days(row), "--from", "2024-02-01", "--to", "2024-01-01", "--dry-run")
    assert (wrong.status, "exclusive" in wrong.err, sent(cli)) == (2, True, 0)


@rows(store=True, plans=True)
def test_a_dry_run_says_what_the_command_costs_and_sends_nothing(cli: Cli, row: Row) -> None:
    store = ("--store", "visitors.db") if "--store" not in row.line else ()
    before, _, after = (cli(*row.line, *store, *dry) for dry in (("--dry-run",), ("-q",), ("--dry-run",)))
    assert (before.status, after.status, sent(cli)) == (0, 0, row.store)
    assert dict(line.split("\t") for line in after.out.splitlines()) == {
        "requests": "0",
        "cached": str(row.store),
        "exact": "yes",
    }
    assert 1 <= int(before.out.split()[1]) <= row.store
    assert before.err.splitlines()[-1] == "Nothing was sent."
    found = json.loads(cli(*row.line, *store, "--dry-run", *row.json).out)
    assert (found["dry_run"], found["requests"], found["cached"]) == (True, 0, row.store)
    found = json.loads(cli(*row.line, *store, "--dry-run", "--refresh", *row.json).out)
    assert (found["requests"], found["cached"]) == (row.store, 0)


@rows(slices=True)
def test_last_ends_with_yesterday(cli: Cli, row: Row) -> None:
    before = datetime.now(UTC).date()
    line = without_days(row)
    found = json.loads(cli(*line, "--last", "3", "--every", "day", "--json").out)
    first, end = (date.fromisoformat(found[name]) for name in ("date_from", "date_to"))
    assert end - first == timedelta(3)
    # The day may turn over meanwhile.
    assert before <= end <= datetime.now(UTC).date()


@pytest.mark.row("J12")
@pytest.mark.parametrize(
    ("setting", "code"),
    [
        ("BASE_URL", 2),
        ("PROJECT_ID", 2),
        ("API_KEY", 3),
        ("API_KEY=Bearer hush", 3),
        ("API_KEY=\udcffhush", 3),
    ],
)
@rows()
def test_a_missing_setting_is_named(
    cli: Cli, row: Row, monkeypatch: pytest.MonkeyPatch, setting: str, code: int
) -> None:
    name, _, value = setting.partition("=")
    monkeypatch.setenv(f"DOCPLATFORM_{name}", value) if value else monkeypatch.delenv(f"DOCPLATFORM_{name}")
    ended = cli(*row.line)
    assert (ended.status, sent(cli)) == (code, 0)
    assert ended.out == "" or row.name == "doctor"
    assert f"DOCPLATFORM_{name}" in ended.out + ended.err
    assert "hush" not in ended.out + ended.err
    assert row.name == "doctor" or re.search("`docplatform (doctor|.* --help)", ended.err)


# -- what goes where -------------------------------------------------------------------------------


@pytest.mark.row("J11")
@rows()
def test_data_goes_to_stdout_and_progress_to_stderr(cli: Cli, row: Row) -> None:
    loud, quiet = cli(*row.line), cli(*row.line, "--quiet")
    assert (loud.status, quiet.status, quiet.err) == (0, 0, "")
    assert loud.out
    # A second run may print other values, but as many lines.
    assert len(quiet.out.splitlines()) == len(loud.out.splitlines())


@pytest.mark.row("J11")
@rows()
def test_json_is_one_document(cli: Cli, row: Row) -> None:
    ended = cli(*row.line, *row.json, "-q")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.count("\n") == 1
    found = json.loads(ended.out)
    assert found
    if row.name.startswith("job"):
        names = "id status source model pr_link created_at archived_at project_id is_final"
        assert set(found) == set(names.split())


FAULTS: dict[str, tuple[dict[str, Any], int, int]] = {
    "400": ({"status": 400}, 1, 1),
    "401": ({"status": 401}, 3, 3),
    "403": ({"status": 403}, 3, 3),
    "404": ({"status": 404}, 1, 1),
    "429": ({"status": 429, "retry_after": 3600}, 4, 4),
    "500": ({"status": 500}, 1, 7),
    "no answer": ({"drop": True}, 1, 7),
    "no JSON": ({"status": 200, "body": "<html>"}, 1, 7),
}
"""A fault, the exit code of a read, and that of a write."""


@pytest.mark.row("A1", "A15", "B2", "J11", "J12")
@pytest.mark.usefixtures("tried_once")
@pytest.mark.parametrize("fault", FAULTS)
@rows()
def test_a_failure_has_its_exit_code_and_one_document(cli: Cli, row: Row, fault: str) -> None:
    given, read, written = FAULTS[fault]
    code = written if row.writes else 0 if row.waits and fault in ("500", "no answer") else read
    for options in ((), row.json) if fault == "400" else (row.json,):
        cli.stub.fail_next(**given, times=5)
        before = sent(cli)
        # --quiet does not silence errors.
        ended = cli(*row.line, *options, "-q")
        assert ended.status == code
        assert sent(cli) - before == 1 or not row.writes
        assert ended.err or not code or row.name == "doctor"
        if options:
            found = json.loads(ended.out)
            if code:
                error = found["error"]
                # The failures of a sync are in it one by one.
                assert error["class"] == "SyncError" or error["status"] == given.get("status")
                assert row.name == "doctor" or f"docplatform: {error['message']}" in ended.err
                assert error["outcome"] == (
                    {1: "rejected", 3: "rejected", 4: "rejected", 7: "unknown"}[code] if row.writes else None
                )
        else:
            assert ended.out == "" or row.shows_failures
        if fault == "401":
            assert row.name == "doctor" or "(DOCPLATFORM_API_KEY)" in ended.err
        if code == 7:
            assert "look on the platform" in ended.err.lower()
            assert ("The service calls this request" in ended.err) is (fault != "no answer")
    assert [path for path in Path().iterdir() if not path.name.startswith("visitors.db")] == []


@pytest.mark.row("J12")
@pytest.mark.usefixtures("tried_once")
@rows()
def test_a_service_that_is_not_there_is_a_failure(cli: Cli, row: Row) -> None:
    cli.stub.close()
    ended = cli(*row.line, *(["--timeout", "0.05"] if row.waits else []))
    # A wait for a job tries again until its own timeout.
    patient = row.name == "job wait"
    assert ended.status == (6 if patient else 1)
    assert patient or "refused" in ended.out + ended.err
    # The template of a path is not rewritten as an option.
    assert "{--" not in ended.out + ended.err


@pytest.mark.row("J11", "J12")
@pytest.mark.parametrize(("status", "code"), [("failed", 5), ("active", 6)])
@rows(waits=True)
def test_a_job_that_did_not_complete_is_printed_as_json(cli: Cli, row: Row, status: str, code: int) -> None:
    cli.stub.fail_next(status=200, body={"id": "job-1", "status": status}, times=9)
    ended = cli(*row.line, "--timeout", "0.05", *row.json)
    # After a message, a final status may be the old one.
    assert ended.status == (6 if row.name == "job message" else code)
    error = json.loads(ended.out)["error"]
    assert error["class"] == ("WaitTimeoutError" if ended.status == 6 else "JobFailedError")
    assert error["job"]["status"] == status
    running = "Job job-1 keeps running. To wait for it: docplatform job wait job-1"
    assert (ended.err.splitlines()[-1] == running) is (status == "active")


@pytest.mark.row("J8")
@rows()
def test_foreign_text_is_escaped(cli: Cli, row: Row) -> None:
    counts = dict.fromkeys(("human", "ai", "total"), 1)
    job = {"id": "job-1", "status": HOSTILE, "source": {"repository": HOSTILE}, "model": HOSTILE}
    one = {**counts, **dict.fromkeys(("id", "path", "searchQuery", "query", "comment"), HOSTILE)}
    listings = ("visitors", "views", "searches", "feedback", "conversations")
    page = {"totals": counts, **{name: [one] for name in listings}, "hasMore": False}
    line = [
        *row.line,
        *(["--timeout", "0"] if row.waits else []),
        *(["--by-path"] if "trend" in row.name else []),
    ]
    for status, body in ((200, job | page), (400, {"error": HOSTILE})):
        for options in ((), row.json):
            cli.stub.fail_next(status=status, body=body, times=9)
            ended = cli(*line, *options)
            cli.stub.reset()
            # CSV and HTML are escaped for their own readers.
            out = "" if row.name.endswith(("export", "report")) and not options else ended.out
            assert is_plain(out + ended.err)


# -- the store and the budget ----------------------------------------------------------------------


@rows(store=True)
def test_what_is_in_a_store_is_not_fetched_again(cli: Cli, row: Row, monkeypatch: pytest.MonkeyPatch) -> None:
    line = [word for word in row.line if word not in ("--store", "visitors.db")]
    first = cli(*line, "--store", "visitors.db")
    assert (first.status, sent(cli)) == (0, row.store)
    monkeypatch.setenv("DOCPLATFORM_STORE", "visitors.db")
    again = cli(*line)
    assert (again.status, sent(cli)) == (0, row.store)
    assert first.out == again.out or row.name in ("sync", "report")
    # As long as it may still change, it is fetched again.
    cli(*line, "--settle-days", "100000")
    assert sent(cli) == 2 * row.store
    cli(*line, "--refresh")
    assert sent(cli) == 3 * row.store
    # The store has the new counts, which are final.
    assert cli(*line).out == again.out or row.name in ("sync", "report")
    assert sent(cli) == 3 * row.store


@pytest.mark.row("B2", "J12")
@rows(store=True)
def test_a_run_that_the_budget_stopped_is_continued_by_the_next(cli: Cli, row: Row) -> None:
    options = ("--store", "visitors.db", "--on-budget", "stop", "--requests-per-hour")
    granted = row.store - 1
    if not granted:
        pytest.skip("one request is all that it takes")
    # The second run sends nothing, and so has nothing to say of answers.
    for answered in (True, False):
        ended = cli(*row.line, *options, str(granted))
        assert (ended.status, sent(cli)) == (4, granted)
        assert ended.out == "" or row.shows_failures
        assert (
            "the request budget is spent (--requests-per-hour); the next request may go out at" in ended.err
        )
        assert (ended.err.splitlines()[-1] == kept("visitors.db")) is answered
    ended = cli(*row.line, *options, str(row.store))
    assert (ended.status, sent(cli)) == (0, row.store)


@rows(store=True)
def test_wrong_settings_of_the_store_and_the_budget_are_wrong_usage(
    cli: Cli, row: Row, tmp_path: Path
) -> None:
    for options, says in (
        (("--requests-per-hour", "0"), "--requests-per-hour"),
        (("--requests-per-hour", "5", "--reserve", "5"), "--reserve must be less than --requests-per-hour"),
        (("--reserve", "5"), "--reserve is a part of --requests-per-hour"),
        (("--settle-days", "-1"), "--settle-days"),
        (("--organization", ""), "organization"),
        (("--on-budget", "hope"), "--on-budget"),
        (("--store", "."), "directory"),
        (("--store", "none/visitors.db"), "none/visitors.db"),
    ):
        ended = cli(*row.line, *options)
        assert (ended.status, ended.out, sent(cli)) == (2, "", 0), options
        assert says in ended.err
    assert list(tmp_path.iterdir()) == []


# -- the end of its output, and its end. As processes: test_process.py, test_exits.py, test_store.py --


@posix
@pytest.mark.row("I5", "J12")
@rows()
def test_a_closed_pipe_ends_quietly(cli: Cli, row: Row) -> None:
    for options in ((), row.json):
        with closed_pipe() as write:
            ended = cli.into(write, *row.line, *options, "-q")
        assert ended.status == 141
        # A job that was created or waited for is named, as its id or result is lost.
        named = row.name.startswith("job") and row.name != "job get"
        assert re.fullmatch(rf"Job job-\d .*\n({LINK}\d\n)?", ended.err) if named else not ended.err


@pytest.mark.row("J11", "J12")
@rows()
def test_a_closed_standard_output_ends_only_what_would_print_its_result(
    cli: Cli, row: Row, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    creates = row.name in ("job run", "job create")
    # These have an effect, or an exit code that is the result.
    goes_on = creates or row.shows_failures
    for options in ((), row.json, ("--dry-run",)) if row.store else ((), row.json):
        dry = "--dry-run" in options
        ended = cli(*row.line, *options, "-q")
        assert ended.status == (2 if dry or not goes_on else int(creates))
        if ended.status == 2:
            assert "standard output is closed" in ended.err
        else:
            # test_process.py tests its text.
            assert bool(ended.err) is creates
    assert (sent(cli) > 0) is goes_on


@posix
@pytest.mark.row("A13", "I4", "J12")
@rows()
def test_ctrl_c_is_130_and_says_what_may_have_happened(
    cli: Cli, row: Row, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How long it waits for an answer: test_signals.py."""
    monkeypatch.setattr("docplatform.cli.ANSWER_PATIENCE", 0.0)
    cli.stub.latency = HOLD
    ended = cli.interrupted(*row.line, when=pending)
    assert ended.status == 130
    assert ended.out == ""
    assert "docplatform: interrupted" in ended.err.splitlines()
    assert ("its outcome is unknown" in ended.err) is row.writes
    assert "Traceback" not in ended.err


@posix
@pytest.mark.row("J1", "J12")
@rows()
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_a_full_disk_is_a_failure_in_one_line_unless_a_job_is_named(cli: Cli, row: Row) -> None:
    with Path("/dev/full").open("w") as full:
        ended = cli.into(full.fileno(), *row.line, "-q")
    assert ended.status == 1
    assert ended.err.count("\n") == 1 or row.name.startswith("job ")
    assert "docplatform: standard output: No space left on device: free some space" in ended.err
