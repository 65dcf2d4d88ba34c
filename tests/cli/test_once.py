"""``--once NAME`` and ``job once``: a command that is run again does not create its job twice (docs/maintainers/faults.md, A15)."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from docplatform.testing import StubServer
from helpers.cli import SCRIPT, SOON, Cli, shell
from helpers.lake import alter
from helpers.once import posts
from helpers.phases import with_a_job
from helpers.scripts import run_script

RUN = ("job", "run", "Fix it", *SOON)


@pytest.fixture
def kept(tmp_path: Path) -> tuple[str, ...]:
    """Where the names are."""
    return ("--store", str(tmp_path / "docs.db"))


@pytest.fixture
def once(kept: tuple[str, ...]) -> tuple[str, ...]:
    return ("--once", "links-1.4", *kept)


@pytest.mark.row("A15")
def test_the_second_run_uses_the_job_of_the_first(cli: Cli, once: tuple[str, ...]) -> None:
    first, second = cli(*RUN, *once), cli(*RUN, *once)
    assert (first.status, second.status, posts(cli.stub)) == (0, 0, 1)
    assert first.out == second.out != ""
    assert "Created job job-1." in first.err
    assert "Job job-1 was created under the name links-1.4 before; nothing was sent." in second.err


def test_no_more_jobs_are_created_than_the_budget_grants(cli: Cli, kept: tuple[str, ...]) -> None:
    line = (*RUN, *kept, "--jobs-per-hour", "1", "--on-budget", "stop")
    first, second = cli(*line), cli(*line)
    assert (first.status, second.status, posts(cli.stub)) == (0, 4, 1)
    assert "budget of new jobs is spent (--jobs-per-hour)" in second.err
    assert "or with --on-budget wait" in second.err


def test_a_failed_job_keeps_its_name_and_the_message_says_so(cli: Cli, once: tuple[str, ...]) -> None:
    cli.stub.script_job("failed")
    for _ in range(2):
        ended = cli(*RUN, *once)
        assert ended.status == 5
        assert "The name links-1.4 keeps this job: another name creates another job." in ended.err
    assert posts(cli.stub) == 1


@pytest.mark.row("A15")
@pytest.mark.parametrize("exists", [True, False])
def test_nothing_is_sent_while_the_outcome_is_unknown_and_the_advice_can_be_followed(
    stub: StubServer, once: tuple[str, ...], kept: tuple[str, ...], exists: bool
) -> None:
    """The commands that the message gives are run with the job's id in them."""
    if exists:
        with_a_job(stub)
    stub.fail_next(drop=True)
    line = ("job", "create", "Fix it", *once)
    for _ in range(2):
        ended = run_script(SCRIPT, *line, stub=stub)
        assert (ended.status, ended.out) == (7, "")
        assert "Then run this again. Until then it sends nothing." in ended.err
        assert "resolve_once" not in ended.err
    assert posts(stub) == 1 + exists
    found, never = (part for part in ended.err.split("`") if part.startswith("docplatform job once"))
    if exists:
        mistyped = shell(stub, found.replace("docplatform", "$cli", 1).replace("--job ID", "--job job-9"))
        assert mistyped.status == 1
        assert "404" in mistyped.err
        assert "Nothing was recorded for the name" in mistyped.err
    advice = found.replace("--job ID", "--job job-1") if exists else never
    done = shell(stub, advice.replace("docplatform", "$cli", 1))
    assert done.status == 0, done.err
    ended = run_script(SCRIPT, *line, stub=stub)
    assert (ended.status, ended.out) == (0, "job-1\n")
    assert posts(stub) == 2


@pytest.mark.row("A15", "N3")
def test_a_message_is_sent_once_and_its_name_can_be_resolved(
    stub: StubServer, once: tuple[str, ...], kept: tuple[str, ...]
) -> None:
    with_a_job(stub)
    stub.fail_next(lost=True)
    line = ("job", "message", "job-1", "And that", *once)
    ended = run_script(SCRIPT, *line, stub=stub)
    assert ended.status == 7
    found, never = (part for part in ended.err.split("`") if part.startswith("docplatform job once"))
    assert ("--job job-1" in found, "--never-sent" in never) == (True, True)
    done = shell(stub, found.replace("docplatform", "$cli", 1))
    assert done.status == 0, done.err
    ended = run_script(SCRIPT, *line, stub=stub)
    assert (ended.status, ended.out) == (0, "job-1\n")
    assert "was sent before; nothing was sent." in ended.err
    (listed,) = json.loads(run_script(SCRIPT, "job", "once", *kept, "--json", stub=stub).out)
    assert (listed["kind"], listed["state"], listed["job"]) == ("message", "sent", "job-1")
    assert stub.jobs[0].prompts == ["Fix it", "And that"]


@pytest.mark.row("A15")
def test_a_job_of_another_run_is_not_said_to_run(stub: StubServer, once: tuple[str, ...]) -> None:
    line = (*RUN, *once)
    assert run_script(SCRIPT, *line, stub=stub).status == 0
    stub.fail_next(status=401, path="/job/job-1")
    ended = run_script(SCRIPT, *line, "--json", stub=stub)
    assert "\nTo wait for job job-1: " in ended.err
    assert "keeps running" not in ended.err
    assert json.loads(ended.out)["error"]["job"]["status"] == "unknown"


@pytest.mark.row("A15")
def test_a_name_is_found_as_a_command_to_copy_shows_it(
    cli: Cli, stub: StubServer, kept: tuple[str, ...]
) -> None:
    for name in ("é $1", "b $1", "b %1"):
        stub.fail_next(lost=True)
        assert cli("job", "create", "Fix it", "--once", name, *kept).status == 7
    # In a code page, and on Windows.
    for copied in (r"\xe9 $1", "é ?1"):
        (listed,) = json.loads(cli("job", "once", copied, *kept, "--json").out)
        assert listed["name"] == "é $1"
    assert cli("job", "once", "é ?1", "--never-created", *kept).status == 0
    ended = cli("job", "once", "b ?1", "--never-created", *kept)
    assert (ended.status, "nothing was changed" in ended.err) == (2, True), "two names look so"


@pytest.mark.row("A15")
def test_what_is_wrong_with_a_name_is_wrong_usage(
    cli: Cli, once: tuple[str, ...], kept: tuple[str, ...], tmp_path: Path
) -> None:
    assert cli("job", "create", "Fix it", *once).status == 0
    for line, words in (
        (("job", "create", "Fix that", *once), "another prompt"),
        (
            ("job", "create", "Fix it", "--once", "x"),
            "the names of --once are kept in a store, and this client has none: pass --store",
        ),
        (("job", "create", "Fix it", "--once", "", *kept), "once must be a name"),
        (("job", "create", "Fix it", *once[:2], "--store", str(tmp_path / "no" / "x.db")), "does not exist"),
        (("job", "run", "Fix it", "--final", "active", *once), "name a status of a job that has ended"),
        (("job", "once"), "job once reads a store: name its file with --store"),
        (("job", "once", *kept, "--job", "job-1"), "say which NAME"),
        (("job", "once", "links-1.4", "--job", "job-1", "--never-created", *kept), "not both"),
        (("job", "once", "links-1.4", "--never-created", *kept), "nothing was changed"),
        (("job", "once", "links-1.4", "--job", "job-2", *kept), "nothing was changed"),
        (("job", "once", "other", *kept), "no name other for this project and key: leave out NAME"),
        (("job", "once", "--store", str(tmp_path / "mistyped.db")), "there is no such store"),
    ):
        ended = cli(*line)
        assert (ended.status, ended.out, len(cli.stub.requests)) == (2, "", 1), line
        assert words in ended.err
    failed = cli("job", "create", "Fix that", *once, "--json")
    assert json.loads(failed.out)["error"]["name"] == once[1]
    assert not (tmp_path / "mistyped.db").exists()
    assert "docplatform doctor" not in cli("job", "create", "Fix it", "--once", "x").err
    ended = cli("job", "once", *kept, "--organization", "another")
    assert (ended.status, "No names: the store has none of this" in ended.err) == (0, True)


@pytest.mark.row("A15")
def test_a_job_that_cannot_be_looked_at_is_not_recorded(
    cli: Cli, once: tuple[str, ...], kept: tuple[str, ...]
) -> None:
    cli.stub.fail_next(lost=True)
    assert cli("job", "create", "Fix it", *once).status == 7
    cli.stub.fail_next(status=401)
    ended = cli("job", "once", "links-1.4", "--job", "job-1", *kept)
    assert (ended.status, "Nothing was recorded for the name links-1.4" in ended.err) == (3, True)
    ended = cli("job", "once", "mistyped", "--job", "job-1", *kept)
    assert (ended.status, "nothing was changed" in ended.err) == (2, True)
    assert cli("job", "once", "links-1.4", "--job", "job-1", *kept).status == 0
    # A pipeline that is run again says it again.
    sent = len(cli.stub.requests)
    again = cli("job", "once", "links-1.4", "--job", "job-1", *kept)
    assert (again.status, len(cli.stub.requests)) == (0, sent)
    assert again.err == "The name links-1.4 has the job job-1 already; nothing was changed.\n"
    # Its status is known, too.
    assert '"status": "active"' in cli("job", "create", "Fix it", *once, "--json").out
    assert posts(cli.stub) == 1


@pytest.mark.row("A15", "M11")
def test_a_job_that_the_store_could_not_record_is_named_with_the_command_that_records_it(
    cli: Cli, once: tuple[str, ...], kept: tuple[str, ...]
) -> None:
    """The disk becomes full between the request and its answer."""
    cli("job", "create", "Fix it", "--once", "another", *kept)
    alter(
        Path(kept[-1]), "CREATE TRIGGER full BEFORE UPDATE ON once BEGIN SELECT raise(FAIL, 'no room'); END"
    )
    ended = cli("job", "create", "Fix it", *once, "-q")
    assert (ended.status, ended.out) == (0, "job-2\n")
    assert (
        'Note: the request under the name "links-1.4" was carried out for job job-2, but the store could not record it ('
        in ended.err
    )
    assert "no room" in ended.err
    alter(Path(kept[-1]), "DROP TRIGGER full")
    command = ended.err.split("`")[1]
    assert cli(*shlex.split(command)[1:]).status == 0
    assert cli("job", "create", "Fix it", *once).out == "job-2\n"
    assert posts(cli.stub) == 2


@pytest.mark.row("A15")
def test_line_ends_of_a_file_make_no_other_prompt(cli: Cli, once: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "prompt.md"
    for text in (b"Fix it.\nAnd that.", b"Fix it.\nAnd that.\n", b"Fix it.\r\nAnd that.\r\n"):
        file.write_bytes(text)
        assert cli("job", "create", "--file", str(file), *once).out == "job-1\n"
    assert cli("job", "create", *once, stdin=b"Fix it.\nAnd that.\n").out == "job-1\n"
    assert cli.stub.jobs[0].prompts == ["Fix it.\nAnd that."]
    file.write_bytes(b"Fix it.\nAnd that.\n\n")
    assert cli("job", "create", "--file", str(file), *once).status == 2


def test_names_are_listed(cli: Cli, once: tuple[str, ...], kept: tuple[str, ...]) -> None:
    cli("job", "create", "Fix it", *once)
    cli.stub.fail_next(drop=True)
    cli("job", "create", "Fix it", "--once", "lost", *kept)
    ended = cli("job", "once", *kept)
    rows = [line.split("\t") for line in ended.out.splitlines()]
    assert [row[:4] for row in rows] == [
        ["name", "kind", "state", "job"],
        ["links-1.4", "creation", "created", "job-1"],
        ["lost", "creation", "unknown", ""],
    ]
    (lost,) = json.loads(cli("job", "once", "lost", *kept, "--json").out)
    assert (lost["name"], lost["state"], lost["job"]) == ("lost", "unknown", None)
    assert len(cli.stub.requests) == 2


def test_tasks_of_a_file_that_fail_for_one_reason_end_with_its_code(
    cli: Cli, kept: tuple[str, ...], tmp_path: Path
) -> None:
    file = tmp_path / "tasks.json"
    line = ("job", "run", "--file", str(file), *kept, *SOON)
    file.write_text('{"links": "Fix it", "links": "Fix that"}')
    ended = cli(*line)
    assert (ended.status, "links stands twice" in ended.err, posts(cli.stub)) == (2, True, 0)
    file.write_text('{"links": "Fix it", "footer": "Fix that"}')
    for status, code in ((401, 3), (422, 1)):
        cli.stub.fail_next(status=status, times=2)
        assert cli(*line).status == code
    cli.stub.fail_next(status=401)
    cli.stub.fail_next(status=422)
    assert cli(*line).status == 5
    # A wait that timed out says the same of one task and of a file of tasks.
    file.write_text('{"links": "Fix it"}')
    cli.stub.script_job("active")
    one = cli("job", "run", "Fix it", "--once", "links", *kept, "--timeout", "0.05", "--json")
    several = cli(*line, "--timeout", "0.05", "--json")
    whole = json.loads(several.out)
    errors = json.loads(one.out)["error"], whole["jobs"][-1]["error"], whole["error"]
    assert [(error["name"], error["outcome"]) for error in errors] == [("links", "applied")] * 3
    file.write_text('{"header": "Fix this"}')
    cli.stub.script_job("failed")
    failed = json.loads(cli(*line, "--json").out)
    assert (failed["error"]["class"], failed["error"]["job"]["status"]) == ("JobFailedError", "failed")
    assert failed["jobs"][0]["error"] is None


def test_the_command_for_an_unknown_outcome_names_the_organization_of_the_environment(
    cli: Cli, once: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCPLATFORM_ORGANIZATION", "acme")
    cli.stub.fail_next(lost=True)
    ended = cli("job", "create", "Fix it", *once)
    assert ended.status == 7
    commands = [part for part in ended.err.split("`") if part.startswith("docplatform job once")]
    assert commands
    assert all("--organization acme" in command for command in commands)


def test_a_name_that_looks_like_an_option_can_be_copied(cli: Cli, once: tuple[str, ...]) -> None:
    cli.stub.fail_next(lost=True)
    ended = cli("job", "create", "Fix it", "--once=-nightly", *once[2:])
    _, never = (part for part in ended.err.split("`") if part.startswith("docplatform job once"))
    done = cli(*shlex.split(never)[1:])
    assert (done.status, "the next run creates its job" in done.err) == (0, True), done.err


def test_the_command_for_an_unknown_outcome_reads_the_job_where_it_was_looked_for(
    cli: Cli, once: tuple[str, ...]
) -> None:
    cli.stub.fail_next(lost=True)
    ended = cli("job", "create", "Fix it", *once, "--job-path", "/v2/agent/{project_id}/job/{id}")
    found, never = (part for part in ended.err.split("`") if part.startswith("docplatform job once"))
    for command in (found, never):
        assert "--job-path '/v2/agent/{project_id}/job/{id}'" in command
    assert (
        cli(*shlex.split(found.replace("ID", "job-1").replace("{project_job-1}", "{project_id}"))[1:]).status
        == 0
    )
