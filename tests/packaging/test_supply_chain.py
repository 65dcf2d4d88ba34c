"""The crates of the wheel against deny.toml, without a network; and what may run in CI."""

from __future__ import annotations

import importlib.metadata
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.one_python

ROOT = Path(__file__).parents[2]
DENY = tomllib.loads((ROOT / "deny.toml").read_text())
MANIFEST = tomllib.loads((ROOT / "Cargo.toml").read_text())
LOCKED: list[dict[str, Any]] = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def version(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.split(r"[-+]", text, maxsplit=1)[0].split(".")))


def refused(crate: str, at: str) -> bool:
    """Whether deny.toml names this version of a crate."""
    for entry in DENY["bans"]["deny"]:
        name, _, below = (entry if isinstance(entry, str) else entry["crate"]).partition(":<")
        if name == crate and (not below or version(at) < version(below)):
            return True
    return False


def allowed(expression: str) -> bool:
    """Whether a licence expression can be met with what deny.toml allows."""
    operators = {"OR": "or", "AND": "and"}

    def met(name: re.Match[str]) -> str:
        return operators.get(name[0]) or str(name[0] in DENY["licenses"]["allow"])

    # The slash is how older manifests write OR.
    terms = re.sub(r"[A-Za-z0-9][\w.+-]*(?: WITH [\w.+-]+)?", met, expression.replace("/", " OR "))
    assert re.fullmatch(r"(?:True|False|or|and|[() ])+", terms), expression
    return bool(eval(terms))


def shipped() -> set[tuple[str, str]]:
    """Name and version of every locked crate but those that the tests alone need."""
    by_name: dict[str, list[dict[str, Any]]] = {}
    for package in LOCKED:
        by_name.setdefault(package["name"], []).append(package)
    tests_alone = set(MANIFEST["dev-dependencies"]) - set(MANIFEST["dependencies"])
    todo = [name for name in by_name["docplatform"][0]["dependencies"] if name not in tests_alone]
    found: set[tuple[str, str]] = set()
    while todo:
        # "name", or "name version" where there are several.
        name, _, at = todo.pop().partition(" ")
        for package in by_name[name]:
            key = (name, package["version"])
            if at in ("", package["version"]) and key not in found:
                found.add(key)
                todo += package.get("dependencies", [])
    return found


@pytest.fixture(scope="module")
def components() -> list[dict[str, Any]]:
    """The wheel's own list of its crates."""
    text = importlib.metadata.distribution("docplatform").read_text("sboms/docplatform.cyclonedx.json")
    assert text is not None, "the wheel has no SBOM"
    bom = json.loads(text)
    assert bom["bomFormat"] == "CycloneDX"
    found: list[dict[str, Any]] = bom["components"]
    return found


@pytest.mark.row("L3")
def test_the_wheel_lists_every_crate_in_it(components: list[dict[str, Any]]) -> None:
    listed = {(component["name"], component["version"]) for component in components}
    # Those of other platforms are listed too.
    assert shipped() <= listed
    assert listed <= {(package["name"], package["version"]) for package in LOCKED}
    assert {"pyo3", "reqwest", "rustls", "ring"} <= {name for name, _ in listed}
    for component in components:
        assert component["purl"].startswith("pkg:cargo/"), component
        assert component["hashes"], component


@pytest.mark.row("L6")
def test_every_licence_is_allowed(components: list[dict[str, Any]]) -> None:
    for component in components:
        (licence,) = component["licenses"]
        assert allowed(licence["expression"]), f"{component['name']}: {licence}"


@pytest.mark.parametrize(
    ("expression", "answer"),
    [
        ("MIT", True),
        ("MIT OR GPL-3.0", True),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", True),
        ("MIT AND GPL-3.0", False),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("Apache-2.0 WITH Swift-exception", False),
        ("MIT-0", False),
        ("Unlicense/MIT", True),
    ],
)
def test_licences_are_understood(expression: str, answer: bool) -> None:
    assert allowed(expression) is answer


@pytest.mark.row("L5", "L10")
def test_nothing_that_is_banned_or_below_its_floor_is_locked() -> None:
    assert refused("pyo3", "0.29.2")
    assert not refused("pyo3", "0.29.3")
    assert not refused("pyo3", "0.30.0")
    assert refused("openssl-sys", "99.0.0")
    assert [package for package in LOCKED if refused(package["name"], package["version"])] == []


@pytest.mark.row("L6")
def test_everything_locked_comes_from_the_one_registry_with_a_checksum() -> None:
    others = [package for package in LOCKED if package["name"] != "docplatform"]
    sources = {package.get("source", "a path") for package in others}
    assert len(sources) == 1
    assert re.fullmatch(r"registry\+.*/crates\.io-index", sources.pop())
    assert all(re.fullmatch(r"[0-9a-f]{64}", package["checksum"]) for package in others)


@pytest.mark.row("L6")
@pytest.mark.parametrize("path", sorted((ROOT / "requirements").glob("*.txt")), ids=lambda path: path.name)
def test_every_tool_is_pinned(path: Path) -> None:
    lines = [line.partition("#")[0].strip() for line in path.read_text().splitlines()]
    pinned = re.compile(r"""[\w.-]+==[\w.]+(; python_version < "3.\d+")?""")
    assert all(pinned.fullmatch(line) for line in lines if line), path


def test_every_dependency_of_a_group_is_pinned() -> None:
    def names(requirements: list[str]) -> set[str]:
        found = [re.match(r"[\w.-]+", requirement) for requirement in requirements]
        return {re.sub(r"[-_.]+", "-", name[0]).lower() for name in found if name}

    files = {path.stem: path for path in (ROOT / "requirements").glob("*.txt")}
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    # One that is there beside what `dev` pins.
    assert files.keys() - groups.keys() == {"oldest"}
    for group, wanted in groups.items():
        assert names(wanted) <= names(files[group].read_text().splitlines()), group


@pytest.mark.row("L7")
@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_runs_pinned_actions_with_the_least_it_needs(path: Path) -> None:
    text = path.read_text()
    used = re.findall(r"uses:\s*(.*)", text)
    assert used
    for action in used:
        assert re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v[\d.]+", action), action
    assert "pull_request_target" not in text
    assert re.search(r"^permissions:\n  contents: read\n\n", text, re.MULTILINE), "what nothing else grants"
    assert text.count("actions/checkout@") == text.count("persist-credentials: false")
    # Foreign text, such as a branch's name, is never pasted into a shell.
    assert not re.search(r"run:.*\$\{\{", text)


@pytest.mark.row("L7")
def test_only_the_job_that_publishes_can_say_who_it_is() -> None:
    release = next(path for path in WORKFLOWS if path.name == "release.yml").read_text()
    before, publish = release.split("\n  publish:\n")
    assert "environment: pypi\n    permissions:\n      id-token: write" in publish
    assert "if: github.event_name == 'push' && startsWith(github.ref, 'refs/tags/v')" in publish
    # It builds nothing and runs nothing of this repository.
    assert "run:" not in publish
    assert "checkout" not in publish
    others = before + "".join(path.read_text() for path in WORKFLOWS if path.name != "release.yml")
    assert ": write" not in others
    assert "secrets." not in release


def test_there_are_workflows() -> None:
    assert {"ci.yml", "release.yml"} <= {path.name for path in WORKFLOWS}
