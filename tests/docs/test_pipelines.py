"""The action for GitHub and the example for GitLab, their steps run against the stub as a runner runs them."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from docplatform.testing import StubServer
from helpers.marks import posix
from helpers.once import posts
from helpers.scripts import Ended, run_command

pytestmark = [
    pytest.mark.stub(active_polls=0),
    pytest.mark.one_python,
    posix,
]

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = YAML(typ="safe").load(ROOT / "action.yml")
GITHUB: dict[str, Any] = YAML(typ="safe").load(ROOT / "examples" / "docs-agent.yml")
WEEKLY: dict[str, Any] = YAML(typ="safe").load(ROOT / "examples" / "fix-weekly.yml")
GITLAB: dict[str, Any] = YAML(typ="safe").load(ROOT / "examples" / "docs-agent.gitlab-ci.yml")
LINK = "https://github.com/example/docs/pull/1"
GH = """#!/bin/bash -e
cd "$RUNNER_TEMP/.."
case "$1 $2" in
  "release view") cat notes;;
  "release edit") cp "$5" notes;;
  "pr view") ! grep -qF "$MARK" comment || echo https://github.com/example/docs/pull/12#issuecomment-34;;
  "pr comment") test ! -s comment && cp "$5" comment;;
  "api --silent") test "$3 $4 $5" = "--method PATCH repos/example/docs/issues/comments/34" && cp "${7#body=@}" comment;;
esac
"""
"""`gh` for one release and one pull request with at most one comment, whose texts are files."""
PROMPT = "Fix `the` $(links)\nand \"the\" 'rest'"


def shell(script: str, env: Mapping[str, str], cwd: Path, stub: StubServer | None = None) -> Ended:
    line = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    return run_command(line, stub=stub, env=env, cwd=cwd)


@pytest.fixture
def github(stub: StubServer, tmp_path: Path, hurried: dict[str, str]) -> GitHub:
    return GitHub(stub, tmp_path, hurried)


@pytest.fixture
def gitlab(stub: StubServer, tmp_path: Path, hurried: dict[str, str]) -> GitLab:
    return GitLab(stub, tmp_path, hurried)


@dataclass
class GitHub:
    """Runs the action's steps as a runner does; what `actions/cache` saves is in `cache`."""

    stub: StubServer
    folder: Path
    hurried: Mapping[str, str]
    runs: int = 0
    cache: dict[str, Path] = field(default_factory=dict)
    log: str = ""
    summary: str = ""

    def run(
        self, inputs: Mapping[str, str], *, event: Mapping[str, str] | None = None, new_run: bool = False
    ) -> dict[str, str]:
        """One attempt on a new machine, or with ``new_run`` the first of another run; returns the action's outputs."""
        self.runs += 1
        self.log = self.summary = ""
        home = self.folder / f"machine-{self.runs}"
        (home / "docplatform").mkdir(parents=True)
        (home / "docplatform" / "bin").symlink_to(Path(sys.executable).parent)
        (home / "fake").mkdir()
        gh = home / "fake" / "gh"
        gh.write_text(GH)
        gh.chmod(0o755)
        (home / "prompt.md").write_text(PROMPT)
        context = {"github.repository": "example/docs", "github.repository_owner": "example"}
        run, attempt = (str(100 + self.runs), "1") if new_run else ("7", str(self.runs))
        context |= {"github.token": "t", "github.run_id": run, "github.run_attempt": attempt}
        context |= {"runner.temp": str(home), "github.job": "ask"}
        context |= {f"github.event.{name}": value for name, value in (event or {}).items()}
        given = {
            name: self._fill(str(about.get("default", "")), context)
            for name, about in ACTION["inputs"].items()
        }
        given |= {"base-url": self.stub.url, "api-key": self.stub.api_key, "project-id": self.stub.project_id}
        given |= inputs
        context |= {f"inputs.{name}": value for name, value in given.items()}
        failed = False
        for step in ACTION["runs"]["steps"]:
            condition = str(step.get("if", "success()"))
            ran_ask = "steps.ask.outcome" in context
            wanted = ran_ask if "always()" in condition else not failed
            if "inputs.comment == 'true'" in condition:
                wanted = wanted and given["comment"] == "true"
            if not wanted:
                continue
            told = {
                key: self._fill(str(value), context)
                for key, value in {**step.get("env", {}), **step.get("with", {})}.items()
            }
            uses = str(step.get("uses", ""))
            if uses.startswith("actions/cache/restore"):
                found = [key for key in self.cache if key.startswith(told["restore-keys"])]
                if found:
                    shutil.copytree(self.cache[found[-1]], told["path"])
            elif uses.startswith("actions/cache/save"):
                if Path(told["path"]).exists():
                    self.cache[told["key"]] = Path(told["path"])
            elif "run" in step and "pip" not in step["run"]:
                failed = self._shell(step, told, home, context) != 0 or failed
        return {name: self._fill(about["value"], context) for name, about in ACTION["outputs"].items()}

    def _shell(self, step: dict[str, Any], env: dict[str, str], home: Path, context: dict[str, str]) -> int:
        assert "${{" not in step["run"], "a value put into a script could be a command"
        files = {name: home / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for file in files.values():
            file.write_text("")
        done = shell(
            step["run"],
            {
                "PATH": f"{home / 'fake'}:/usr/bin:/bin",
                "RUNNER_TEMP": str(home),
                "GITHUB_RUN_ID": context["github.run_id"],
            }
            | {name: str(file) for name, file in files.items()}
            | dict(self.hurried)
            | env,
            home,
        )
        self.log += done.out + done.err
        self.summary += files["GITHUB_STEP_SUMMARY"].read_text()
        if "id" in step:
            context[f"steps.{step['id']}.outcome"] = "success" if done.status == 0 else "failure"
            for line in files["GITHUB_OUTPUT"].read_text().splitlines():
                name, _, value = line.partition("=")
                context[f"steps.{step['id']}.outputs.{name}"] = value
        return done.status

    @staticmethod
    def _fill(text: str, context: Mapping[str, str]) -> str:
        return re.sub(r"\$\{\{ (\S+) \}\}", lambda found: context.get(found[1], ""), text)


def test_the_action_gives_job_status_and_pull_request_and_a_second_run_creates_no_second_job(
    stub: StubServer, github: GitHub
) -> None:
    for _ in range(2):
        outputs = github.run({"prompt": PROMPT, "once": "docs-1.4"})
        (job,) = stub.jobs
        assert outputs == {"job-id": job.id, "status": "completed", "pr-url": LINK, "exit-code": "0"}
        assert f"Pull request: {LINK}" in github.summary
        assert f"Job `{job.id}`, last status: `completed`." in github.summary
    assert [job.prompts for job in stub.jobs] == [[PROMPT]]
    assert stub.api_key not in github.log + github.summary


def test_without_a_name_one_run_of_the_workflow_creates_one_job(stub: StubServer, github: GitHub) -> None:
    for _ in range(2):
        assert github.run({"prompt-file": "prompt.md"})["exit-code"] == "0"
    assert [job.prompts for job in stub.jobs] == [[PROMPT]]


def test_a_job_without_a_pull_request_is_never_said_to_have_changed_nothing(
    stub: StubServer, github: GitHub
) -> None:
    stub.script_job("completed", pr_link=None)
    assert github.run({"prompt": PROMPT})["pr-url"] == ""
    assert "No pull request: nothing changed, or this project publishes without one." in github.summary


@pytest.mark.parametrize(
    ("fault", "inputs", "code", "says"),
    [
        ("failed", {}, "5", "The job failed"),
        ("active", {"timeout": "0.1s"}, "6", "Run this again to wait for the same job"),
        ("dropped", {}, "7", "unknown whether the job was created"),
        ("401", {}, "3", "API key"),
        ("429", {}, "4", "rate limit"),
        ("", {"timeout": "soon"}, "2", "no job was created"),
        ("", {"prompt-file": "prompt.md"}, "2", "no job was created"),
        ("404 on a poll", {}, "1", "uses the job that was created"),
    ],
)
def test_every_failure_is_in_the_summary_with_its_exit_code(
    stub: StubServer, github: GitHub, fault: str, inputs: dict[str, str], code: str, says: str
) -> None:
    match fault:
        case "failed":
            stub.script_job("failed")
        case "active":
            stub.script_job("active")
        case "dropped":
            stub.fail_next(drop=True)
        case "401" | "429":
            stub.fail_next(status=int(fault), times=10, retry_after=1_000)
        case "404 on a poll":
            stub.fail_next(status=404, times=10, path="/v2/agent/demo/job/job-1")
    outputs = github.run({"prompt": PROMPT, "once": "x"} | inputs)
    assert outputs["exit-code"] == code, github.log
    assert says in github.summary
    if code in ("5", "6"):
        assert outputs["job-id"] == stub.jobs[0].id
        assert outputs["job-id"] in github.summary


def test_a_creation_of_unknown_outcome_is_not_repeated_on_another_machine(
    stub: StubServer, github: GitHub
) -> None:
    stub.fail_next(drop=True)
    assert [github.run({"prompt": PROMPT, "once": "x"})["exit-code"] for _ in range(3)] == ["7", "7", "7"]
    assert posts(stub) == 1
    assert github.run({"prompt": PROMPT, "once": "another"})["exit-code"] == "0"


@pytest.mark.parametrize(
    ("forge", "found", "jobs"),
    [
        ("github", "never-created", 1),
        ("github", "job-1", 1),
        ("github", "job-9", 0),
        ("gitlab", "job-1", 1),
        ("gitlab", "job-9", 0),
    ],
)
def test_what_was_found_on_the_platform_is_recorded_where_the_cache_is(
    stub: StubServer, github: GitHub, gitlab: GitLab, forge: str, found: str, jobs: int
) -> None:
    def code(outcome: str = "") -> int:
        if forge == "gitlab":
            return gitlab.run(job=outcome).status
        return int(github.run({"prompt": PROMPT, "once": "x", "outcome": outcome}, new_run=True)["exit-code"])

    stub.fail_next(lost=True) if found == "job-1" else stub.fail_next(drop=True)
    assert code() == 7
    # A job that is not there is not recorded, and nothing is created.
    assert [code(found), code(found), code()] == ([0, 0, 0] if jobs else [1, 1, 7])
    assert len(stub.jobs) == jobs


@pytest.mark.parametrize("forge", ["github", "gitlab"])
def test_a_job_that_was_found_is_waited_for_if_the_cache_is_lost(
    stub: StubServer, github: GitHub, gitlab: GitLab, forge: str
) -> None:
    with stub.client() as client:
        found = client.create_job(PROMPT).id
    if forge == "github":
        outputs = github.run({"prompt": PROMPT, "once": "x", "outcome": found})
        assert (outputs["exit-code"], outputs["pr-url"]) == ("0", LINK)
    else:
        assert (gitlab.run(job=found).status, gitlab.dotenv) == (0, f"DOCS_AGENT_URL={LINK}\n")
    assert posts(stub) == 1


def test_a_run_that_is_tried_again_does_not_say_again_that_there_was_no_job(
    stub: StubServer, github: GitHub
) -> None:
    inputs = {"prompt": PROMPT, "once": "x"}
    stub.fail_next(drop=True)
    assert github.run(inputs)["exit-code"] == "7"
    stub.fail_next(lost=True)
    said = {**inputs, "outcome": "never-created"}
    assert github.run(said, new_run=True)["exit-code"] == "7"
    assert github.run(said)["exit-code"] == "7"
    assert len(stub.jobs) == 1


@pytest.mark.parametrize("name", ["docs]1", "two words", "a,b", "x" * 101])
def test_a_name_that_could_not_be_part_of_a_cache_key_is_refused_first(
    stub: StubServer, github: GitHub, name: str
) -> None:
    assert github.run({"prompt": PROMPT, "once": name})["exit-code"] == ""
    assert "::error::once: use" in github.log
    assert stub.requests == []


def test_one_name_never_finds_the_cache_of_a_longer_one(stub: StubServer, github: GitHub) -> None:
    for name in ("docs-1", "docs-1-2", "docs-1"):
        github.run({"prompt": PROMPT, "once": name})
    assert len(stub.jobs) == 2


RESULT = """<!-- docplatform ask -->
### Docs agent

Pull request: {}

Job `{}`, last status: `completed`.
<!-- end of docplatform ask -->"""


@pytest.mark.parametrize(
    ("event", "file", "before", "after"),
    [
        ({"pull_request.number": "12"}, "comment", "", ""),
        ({"release.tag_name": "v1"}, "notes", "Notes of the release\n\n", "\nMore notes"),
        ({}, None, "", ""),
    ],
)
def test_the_result_is_written_once_where_the_workflow_was_started_and_a_failure_in_the_summary_only(
    stub: StubServer,
    github: GitHub,
    tmp_path: Path,
    event: dict[str, str],
    file: str | None,
    before: str,
    after: str,
) -> None:
    (tmp_path / "notes").write_text("Notes of the release\n")
    (tmp_path / "comment").write_text("")
    for run in range(2):
        github.run({"prompt": PROMPT, "comment": "true"}, event=event, new_run=True)
        result = RESULT.format(LINK.replace("1", str(run + 1)), f"job-{run + 1}")
        if file is None:
            assert "started by no pull request and no release" in github.log
            continue
        text = (tmp_path / file).read_text()
        assert text == before + result + (after if run else "") + "\n"
        if before:
            (tmp_path / file).write_text(text + "More notes\n")
    texts = [(tmp_path / name).read_text() for name in ("notes", "comment")]
    stub.script_job("failed")
    github.run({"prompt": PROMPT, "comment": "true"}, event=event, new_run=True)
    assert "The job failed" in github.summary
    assert [(tmp_path / name).read_text() for name in ("notes", "comment")] == texts


def test_the_example_workflow_gives_the_action_what_it_asks_for() -> None:
    (step,) = [step for step in GITHUB["jobs"]["ask"]["steps"] if step.get("id") == "ask"]
    required = {name for name, about in ACTION["inputs"].items() if about.get("required")}
    assert required <= set(step["with"]) <= set(ACTION["inputs"])
    outputs = re.findall(r"steps\.ask\.outputs\.([\w-]+)", str(GITHUB["jobs"]["ask"]["outputs"]))
    assert set(outputs) <= set(ACTION["outputs"])
    for file in (
        ROOT / "action.yml",
        *(ROOT / "examples" / f"{name}.yml" for name in ("docs-agent", "fix-weekly")),
    ):
        for action in re.findall(r"uses: (\S+)", file.read_text(encoding="utf-8")):
            assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action), action


def test_the_weekly_workflow_has_a_job_for_each_of_the_first_problems_and_none_twice(
    stub: StubServer, tmp_path: Path, hurried: dict[str, str]
) -> None:
    (step,) = [step for step in WEEKLY["jobs"]["fix"]["steps"] if "docplatform fix" in step.get("run", "")]
    # Between two Mondays the cache is used, and nothing else is done.
    monday, thursday = (one["cron"] for one in WEEKLY["on"]["schedule"])
    assert WEEKLY["jobs"]["keep"]["if"] == f"github.event.schedule == '{thursday}'"
    assert WEEKLY["jobs"]["fix"]["if"] == f"github.event.schedule != '{thursday}'"
    assert monday != thursday
    env = {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "GITHUB_RUN_ATTEMPT": "1",
    }
    env |= {"DOCPLATFORM_STORE": step["env"]["DOCPLATFORM_STORE"], **hurried}
    for runs in (1, 2):
        # The first and the second Monday of a month.
        done = shell(f"date() {{ echo {7 * runs}; }}\n{step['run']}", env, tmp_path, stub)
        assert done.status == 0, done.err
        summary = (tmp_path / "summary.md").read_text(encoding="utf-8")
        assert summary.count("**Who reads the docs**") == 1
        assert len(stub.jobs) == 2 * runs
    links = re.findall(r"<(https://.*?)>", summary)
    made = [str(job.pr_link) for job in stub.jobs]
    assert sorted(links) == sorted(made[:2] + made)
    # A creation whose outcome is unknown is recorded by hand.
    env["DOCPLATFORM_STORE"] = str(tmp_path / "other.db")
    stub.fail_next(drop=True, path="/job")
    assert shell(step["run"], env, tmp_path, stub).status == 7
    row = (tmp_path / "fixes.md").read_text(encoding="utf-8").split("job once fix:")[1]
    found = {"NAME": f"fix:{row.split(' ')[0]}", "OUTCOME": "never-created"}
    stub.fail_next(lost=True, path="/job")
    assert shell(step["run"], env | found, tmp_path, stub).status == 7
    # The same run again: the creation that came after the look is not repeated.
    assert shell(step["run"], env | found | {"GITHUB_RUN_ATTEMPT": "2"}, tmp_path, stub).status == 7
    before = len(stub.jobs)
    found["OUTCOME"] = stub.jobs[-1].id
    # It is recorded. If the cache is lost, it is waited for.
    for file in ("other.db", "lost.db"):
        env["DOCPLATFORM_STORE"] = str(tmp_path / file)
        done = shell(step["run"], env | found, tmp_path, stub)
        assert (done.status, len(stub.jobs)) == (0, before), done.err
    # It deals with that row alone, also in a later month.
    for name, jobs in (("fix:2026-09:/guides/deployment", 1), ("fix:2026-09:terraform provider", 2)):
        for _ in range(2):
            done = shell(f"date() {{ echo 1; }}\n{step['run']}", env | {"NAME": name}, tmp_path, stub)
            assert (done.status, len(stub.jobs) - before) == (0, jobs), done.err
    assert (tmp_path / "summary.md").read_text(encoding="utf-8").count("**Who reads the docs**") == 1
    # What is no name creates nothing, and neither does an outcome without one.
    before = len(stub.jobs)
    assert shell(step["run"], env | {"OUTCOME": "never-created"}, tmp_path, stub).status == 2
    for wrong in ("/guides/deployment", "2026-09:/guides/deployment", "'fix:2026-09:/guides/deployment'"):
        assert shell(step["run"], env | {"NAME": wrong}, tmp_path, stub).status == 2
    assert len(stub.jobs) == before


class GitLab:
    """Runs the job's scripts as a runner does; the cache's folder is carried from one machine to the next."""

    def __init__(self, stub: StubServer, folder: Path, hurried: Mapping[str, str]) -> None:
        self.stub, self.folder, self.hurried, self.runs = stub, folder, hurried, 0
        self.api_key = ""

    def run(self, tag: str = "v1", job: str = "") -> Ended:
        self.runs += 1
        home = self.folder / f"machine-{self.runs}"
        home.mkdir()
        (home / "docs-agent.md").write_text(PROMPT)
        (path,) = GITLAB["ask-docs-agent"]["cache"]["paths"]
        before = self.folder / f"machine-{self.runs - 1}" / path
        if before.exists():
            shutil.copytree(before, home / path)
        fixed = {"CI_COMMIT_TAG": tag, "CI_PROJECT_DIR": str(home), "CI_PROJECT_ROOT_NAMESPACE": "example"}
        variables = {
            name: re.sub(r"\$(\w+)", lambda found: fixed[found[1]], value)
            for name, value in GITLAB["ask-docs-agent"]["variables"].items()
        }
        lines = [*GITLAB["ask-docs-agent"]["before_script"], *GITLAB["ask-docs-agent"]["script"]]
        script = "\n".join(line for line in lines if not line.startswith("pip "))
        path_ = f"{Path(sys.executable).parent}{os.pathsep}/usr/bin:/bin"
        key = {"DOCPLATFORM_API_KEY": self.api_key or self.stub.api_key, "JOB": job}
        done = shell(script, {"PATH": path_, **variables, **key, **self.hurried}, home, self.stub)
        dotenv = home / "docs-agent.env"
        self.dotenv = dotenv.read_text() if dotenv.exists() else ""
        return done


@pytest.mark.parametrize("fault", ["", "failed", "dropped"])
def test_the_gitlab_job_creates_one_job_for_a_tag(stub: StubServer, gitlab: GitLab, fault: str) -> None:
    if fault == "failed":
        stub.script_job("failed")
    elif fault == "dropped":
        stub.fail_next(drop=True)
    code = {"": 0, "failed": 5, "dropped": 7}[fault]
    for _ in range(2):
        done = gitlab.run()
        assert done.status == code, done.err
        assert gitlab.dotenv == f"DOCS_AGENT_URL={LINK if code == 0 else ''}\n"
        assert ("with the variable JOB=" in done.out) == (code == 7)
    assert posts(stub) == 1
    gitlab.run("v2")
    assert posts(stub) == 2


@pytest.mark.parametrize("forge", ["github", "gitlab"])
def test_a_new_api_key_finds_the_job_of_the_old_one(
    stub: StubServer, github: GitHub, gitlab: GitLab, forge: str
) -> None:
    for key in (stub.api_key, "dp_stub_0000000000000000next"):
        stub._service._api_key = gitlab.api_key = key
        if forge == "github":
            assert github.run({"prompt": PROMPT, "once": "x", "api-key": key})["exit-code"] == "0", github.log
        else:
            assert gitlab.run().status == 0
    assert len(stub.jobs) == 1
    assert posts(stub) == 1
