"""``docplatform fix``: the list, and a job with a pull request for each of its first problems."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from docplatform.cli.days import Days
from docplatform.cli.fix import once_name
from docplatform.testing import StubServer
from docplatform.testing._story import PROBLEMS
from helpers.cli import SOON, Cli
from helpers.once import posts

FIX = ("fix", "2026-10")
PATHS = [problem.path for problem in PROBLEMS]


def test_the_list_as_text_json_and_files(cli: Cli, tmp_path: Path) -> None:
    shown = cli(*FIX)
    assert shown.status == 0, shown.err
    assert [line.split("\t")[0] for line in shown.out.splitlines()[1:4]] == PATHS
    assert f"docplatform fix 2026-10 --run {PATHS[0]}" in shown.err
    found = json.loads(cli("fix", "--from", "2026-10-01", "--to", "2026-11-01", "--json", "-n", "3").out)
    assert [row["path"] for row in found["rows"]] == PATHS
    markdown = tmp_path / "fixes.md"
    assert cli(*FIX, "-o", str(markdown)).status == 0
    assert markdown.read_text().startswith(
        f"### What to fix first, October 2026\n\n| page or search | readers | why |\n| --- | --- | --- |\n| `{PATHS[0]}` | "
    )
    assert cli(*FIX, "-o", str(markdown)).status == 2, "a file is replaced only with --force"
    assert cli(*FIX, "-o", str(tmp_path / "fixes.csv")).status == 0
    assert (tmp_path / "fixes.csv").read_text().startswith("path,query,readers,")


@pytest.mark.stub(feedback=[], feedback_by_page=[], conversations=[], searches=[])
def test_a_quiet_site_has_nothing_to_fix(cli: Cli) -> None:
    ended = cli(*FIX)
    assert (ended.status, ended.out) == (0, "")
    assert "Nothing to fix" in ended.err
    assert "Note: searches: this listing is empty." in ended.err


def test_unreadable_listings_are_not_said_to_have_no_problem(
    cli: Cli, stub: StubServer, tmp_path: Path
) -> None:
    file = tmp_path / "fixes.md"
    for path in ("feedback", "conversations", "assistant"):
        stub.fail_next(status=403, times=9, path=path)
    assert cli(*FIX, "--run", "1", "--yes", "--store", str(tmp_path / "docs.db")).status == 0, (
        "searches are there"
    )
    assert cli(*FIX, "-o", str(file)).status == 0
    assert "Note: feedback: the key may not read this listing (403)." in file.read_text()
    stub.fail_next(status=403, times=9, path="searches")
    ended = cli(*FIX)
    assert (ended.status, "Nothing to fix" in ended.err) == (3, False)


def test_a_dry_run_sends_nothing(cli: Cli, stub: StubServer, tmp_path: Path) -> None:
    ended = cli(*FIX, "--dry-run", "--run", "3", "--json")
    found = json.loads(ended.out)
    assert (ended.status, found["requests"], stub.requests) == (0, 5, [])
    assert len({part["listing"] for part in found["slices"]}) == 5
    assert "so they are not known yet. --run shows them and, without --yes, asks" in ended.err
    store = ("--store", str(tmp_path / "docs.db"))
    cli(*FIX, *store)
    assert json.loads(cli(*FIX, *store, "--dry-run", "--json").out)["requests"] == 0


def test_a_run_needs_a_store_a_yes_and_a_problem(cli: Cli, stub: StubServer, tmp_path: Path) -> None:
    store = ("--store", str(tmp_path / "docs.db"))
    for wrong, text in (
        (("--run", "2", "--yes"), "--store"),
        (("--run", "2", *store), "confirm it with --yes"),
        (("--run", "0", "--yes", *store), "at least 1"),
        (("--run", "2", "--yes", "-o", "fixes.csv", *store), ".md"),
    ):
        ended = cli(*FIX, *wrong)
        assert ended.status == 2
        assert text in ended.err
    assert stub.requests == []
    ended = cli(*FIX, "--run", "/nowhere", "--yes", *store)
    assert "/nowhere is not among the problems of October 2026" in ended.err
    assert (ended.status, posts(stub)) == (2, 0)


SAID: list[dict[str, Any]] = []


@pytest.mark.stub(feedback=lambda *_: SAID)
def test_a_run_again_creates_nothing_twice_though_readers_go_on(
    cli: Cli, stub: StubServer, tmp_path: Path
) -> None:
    # The period still changes, so that it is read again.
    run = (*FIX, "--yes", "--store", str(tmp_path / "docs.db"), "--settle-days", "100000", *SOON)
    first = cli(*run, "--run", "2", "--json")
    assert first.status == 0, first.err
    assert f'> page: "{PATHS[0]}"' in first.err, "the prompts are shown first"
    found = json.loads(first.out)
    assert found["requests"] == len(stub.requests), "those for the jobs, too"
    rows = found["rows"]
    assert [(row["path"], row["result"], row["name"]) for row in rows] == [
        (path, "done", f"fix:2026-10:{path}") for path in PATHS[:2]
    ]
    assert {row["pr_link"] for row in rows} == {job.pr_link for job in stub.jobs}
    SAID.append({"id": "1", "path": PATHS[0], "comment": "Now it is worse"})
    done = tmp_path / "done.md"
    again = cli(*run, "--run", "3", "-o", str(done))
    assert (again.status, posts(stub)) == (0, 3), again.err
    assert all(str(job.pr_link) in again.out for job in stub.jobs)
    assert [line.split(" | ")[0] for line in done.read_text().splitlines()[4:]] == [
        f"| `{path}`" for path in PATHS
    ]
    assert all(f" | done | <{job.pr_link}> |" in done.read_text() for job in stub.jobs)
    phrase = cli(*run, "--run", "search:terraform provider")
    assert (phrase.status, posts(stub)) == (0, 4)
    assert "search:terraform provider" in phrase.out
    listed = cli(*FIX, "--store", str(tmp_path / "docs.db"), "--json")
    ids = {row["path"]: row["job"] for row in json.loads(listed.out)["rows"]}
    assert [ids[path] for path in PATHS] == [job.id for job in stub.jobs[:3]]
    assert f"Already handed to the docs agent: {', '.join(PATHS)}" in listed.err
    brief = cli("report", "2026-10", "--brief", "--store", str(tmp_path / "docs.db"))
    assert brief.out.count("The docs agent has a job for it already") == 3


@pytest.mark.stub(searches=lambda *_: [{"searchQuery": "日本語 $x", "hits": 99, "ctr": 0}])
@pytest.mark.parametrize(
    "text",
    [
        r"search:\u65e5\u672c\u8a9e $x",
        "search:日本語 ?x",
        "fix:2026-10:日本語 $x",
        "fix:2026-10:search:日本語 $x",
    ],
    ids=["code page", "Windows", "name", "search"],
)
def test_a_phrase_can_be_copied_as_it_was_printed(
    cli: Cli, stub: StubServer, tmp_path: Path, text: str
) -> None:
    run = (*FIX, "--run", text, "--yes", "--store", str(tmp_path / "docs.db"), *SOON)
    assert (cli(*run).status, cli(*run).status, posts(stub)) == (0, 0, 1)
    [job] = json.loads(cli(*run, "--json").out)["rows"]
    assert job["name"].startswith("fix:2026-10:日本語 ?x:")


@pytest.mark.stub(
    searches=lambda *_: [
        {"searchQuery": phrase, "hits": 99, "ctr": 0} for phrase in ('"x"', "“x”", "search:x", "x")
    ]
)
@pytest.mark.parametrize("text", ['search:"x"', "search:“x”", "fix:2026-10:search:x"])
def test_a_name_means_one_problem(cli: Cli, stub: StubServer, tmp_path: Path, text: str) -> None:
    run = (*FIX, "-n", "30", "--yes", "--store", str(tmp_path / "docs.db"), *SOON, "--run")
    assert (cli(*run, text).status, posts(stub)) == (0, 1)
    either = cli(*run, "search:?x?")
    assert (either.status, posts(stub)) == (2, 1)
    assert 'search:?x? may be one of search:"x", search:“x”' in either.err


def test_failed_and_unknown_jobs_end_with_their_exit_codes(
    cli: Cli, stub: StubServer, tmp_path: Path
) -> None:
    run = (*FIX, "--yes", "--store", str(tmp_path / "docs.db"), *SOON)
    stub.script_job("failed")
    assert [cli(*run, "--run", "1").status for _ in range(2)] == [5, 5]
    stub.fail_next(lost=True, path="/job")
    lost = cli(*run, "--run", "2")
    again = cli(*run, "--run", "2", "--json")
    assert (lost.status, again.status, posts(stub)) == (7, 7, 2)
    found = json.loads(again.out)
    assert [row["result"] for row in found["rows"]] == ["failed", "unknown"]
    assert (found["error"]["class"], found["error"]["name"]) == (
        "UnconfirmedWriteError",
        f"fix:2026-10:{PATHS[1]}",
    )
    assert f"docplatform job once fix:2026-10:{PATHS[1]} --job ID" in again.out
    assert "0 jobs created, 1 unknown; 1 job known from before." in lost.err
    listed = cli(*FIX, "--store", str(tmp_path / "docs.db")).err
    assert f"Already handed to the docs agent: {PATHS[0]}. --run shows" in listed
    assert f"It is unknown whether a job exists for: {PATHS[1]}. --run says what to do." in listed
    assert f"To hand the next one to the docs agent: docplatform fix 2026-10 --run {PATHS[2]} " in listed
    assert (
        cli(
            "job", "once", f"fix:2026-10:{PATHS[1]}", "--job", "job-2", "--store", str(tmp_path / "docs.db")
        ).status
        == 0
    )
    assert cli(*run, "--run", PATHS[1]).status == 0


@pytest.mark.parametrize(
    ("subject", "name"),
    [
        ({"path": "/guides/webhooks", "query": None}, "fix:2026-10:/guides/webhooks"),
        ({"path": None, "query": "sso"}, "fix:2026-10:sso"),
        ({"path": "/" + "\u00fc" * 300, "query": None}, None),
        ({"path": "/a\n\u202e", "query": None}, None),
        # No quotes hold it in a shell of Windows.
        ({"path": "/a$b", "query": None}, None),
        # A page has this name.
        ({"path": None, "query": "/guides/webhooks"}, None),
    ],
)
def test_each_problem_has_a_name_of_once(subject: dict[str, Any], name: str | None) -> None:
    days = Days(date(2026, 10, 1), date(2026, 11, 1), "month", "October 2026")
    found = once_name(days, subject)
    assert found == name or (
        name is None and found.startswith("fix:2026-10:/") and len(found.encode()) <= 200
    )
    assert found.isprintable()
    assert found != once_name(days, {**subject, "query": "\u200b"})
    assert once_name(days._replace(kind="days"), subject).startswith("fix:2026-10-01 to 2026-10-31:")
