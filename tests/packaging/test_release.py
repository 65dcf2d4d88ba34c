"""Published packages have the files that they need and no others, and two builds can be compared."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest

from release import check, compare, readme
from release.archives import METADATA, ROOT, in_sdist, in_wheel, sdist_surprises, sources, wheel_surprises
from release.version import current, wrong

pytestmark = pytest.mark.one_python

EXTENSION = "docplatform/_native.abi3.so"
README = readme.README.read_text(encoding="utf-8")
BOM = "docplatform-1.dist-info/sboms/docplatform.cyclonedx.json"


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "maturin", "sdist", "--out", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (made,) = folder.iterdir()
    return made


def wheel(path: Path, **files: str) -> Path:
    path.mkdir()
    made = path / "docplatform-1-cp311-abi3-manylinux_2_28_x86_64.whl"
    with zipfile.ZipFile(made, "w") as opened:
        for name, text in files.items():
            opened.writestr(zipfile.ZipInfo(name), text)
    return made


def test_the_source_distribution_has_what_a_build_needs_and_nothing_else(sdist: Path) -> None:
    assert sdist_surprises(in_sdist(sdist)) == []


def test_a_file_too_many_or_too_few_is_reported(sdist: Path) -> None:
    names = in_sdist(sdist)
    assert sdist_surprises(names - {"src/store/schema.sql"}) == ["missing: src/store/schema.sql"]
    assert sdist_surprises(names | {".env"}) == ["unexpected: .env"]


def test_the_installed_wheel_has_what_it_needs_and_nothing_else() -> None:
    files = distribution("docplatform").files or ()
    # Files of the installer do not belong into a wheel, nor does the script outside of the packages.
    added = {"INSTALLER", "REQUESTED", "direct_url.json"}
    kept = (str(file) for file in files if ".." not in file.parts and file.suffix != ".pyc")
    names = {name.partition(".dist-info/")[2] or name for name in kept}
    assert wheel_surprises(names - added) == []


def test_a_wheel_with_other_files_is_reported(tmp_path: Path) -> None:
    package = {name.removeprefix("python/") for name in sources("python")}
    right = {EXTENSION, *package, *(f"docplatform-1.dist-info/{name}" for name in METADATA)}
    assert wheel_surprises(in_wheel(wheel(tmp_path / "right", **dict.fromkeys(right, "")))) == []
    wrong = (right | {"docplatform/secret.env"}) - {EXTENSION}
    assert wheel_surprises(in_wheel(wheel(tmp_path / "wrong", **dict.fromkeys(wrong, "")))) == [
        "unexpected: docplatform/secret.env",
        f"missing: {EXTENSION}",
    ]


def test_a_builders_folders_in_the_extension_are_reported(tmp_path: Path) -> None:
    assert list(check.machine_paths(wheel(tmp_path / "clean", **{EXTENSION: "cargo/registry"}))) == []
    for number, folder in enumerate(
        ("/root/.cargo/registry", "/Users/runner/.cargo/registry", "C:\\Users\\one\\.cargo\\registry")
    ):
        (found,) = check.machine_paths(wheel(tmp_path / f"{number}", **{EXTENSION: f"\0{folder}"}))
        assert found.endswith(f"the extension names {folder}")


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("docplatform-{}-cp311-abi3-manylinux_2_28_x86_64.whl", []),
        ("docplatform-{}-cp314-cp314t-win_amd64.whl", []),
        ("docplatform-{}-cp313-cp313-win_amd64.whl", ["neither for the stable ABI"]),
        ("docplatform-{}-cp311-abi3-linux_x86_64.whl", ["says nothing of the C library"]),
        ("docplatform-9.9.9-cp311-abi3-win_amd64.whl", ["is not version"]),
    ],
)
def test_a_wheels_name_says_what_it_is_for(tmp_path: Path, name: str, found: list[str]) -> None:
    path = tmp_path / name.format(current())
    right = {EXTENSION, *(name.removeprefix("python/") for name in sources("python"))}
    files = dict.fromkeys(right | {f"d.dist-info/{name}" for name in METADATA}, "")
    files["d.dist-info/METADATA"] = readme.released(README)
    wheel(tmp_path / "made", **files).rename(path)
    problems = list(check.of_wheel(path))
    assert len(problems) == len(found)
    assert all(part in text for part, text in zip(found, problems, strict=True))


def test_a_clones_readme_in_a_wheel_is_reported(tmp_path: Path) -> None:
    made = wheel(tmp_path / "made", **{"d.dist-info/METADATA": README})
    assert list(check.description(made)) == [f"{made.name}: its README is not that of release.readme"]


def test_an_index_shows_absolute_links_and_its_own_command_to_install() -> None:
    text = readme.released(README)
    assert re.findall(r"^pip install .*", text, re.MULTILINE) == [
        'pip install "docplatform[cli,pandas,plot]"'
    ]
    assert "clone" not in text.partition("\n## A report")[0]
    links = re.compile(r"(!?)\[[^]]*\]\(([^)]+)\)")
    relative, absolute = links.findall(README), links.findall(text)
    assert len(relative) == len(absolute) > 20
    for (picture, file), (_, link) in zip(relative, absolute, strict=True):
        kind = "raw" if picture else "blob"
        assert link == f"https://github.com/docplatform/docplatform/{kind}/v{current()}/{file}"


@pytest.mark.parametrize("code", [0, 3])
def test_a_build_leaves_the_readme_of_the_clone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    page, seen = tmp_path / "README.md", tmp_path / "seen"
    page.write_text(README, encoding="utf-8")
    modified = page.stat().st_mtime_ns
    monkeypatch.setattr(readme, "README", page)
    copy = f"import shutil, sys; shutil.copy({str(page)!r}, {str(seen)!r}); sys.exit({code})"
    assert readme.main([sys.executable, "-c", copy]) == code
    assert seen.read_text(encoding="utf-8") == readme.released(README)
    assert (page.read_text(encoding="utf-8"), page.stat().st_mtime_ns) == (README, modified)


def test_a_large_wheel_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = wheel(tmp_path / "made", **{EXTENSION: ""})
    small = list(check.of_wheel(made))
    monkeypatch.setattr(check, "LARGEST", 10)
    (problem,) = set(check.of_wheel(made)) - set(small)
    assert "bytes, more than 10" in problem


@pytest.mark.parametrize(
    ("tag", "changelog", "problems"),
    [
        ("v1.2.0", "# Changelog\n\n## Unreleased\n\n## 1.2.0 - 2026-11-20\n", None),
        ("v1.2.1", "## 1.2.0 - 2026-11-20\n", "the tag is v1.2.1"),
        ("1.2.0", "## 1.2.0 - 2026-11-20\n", "the tag is 1.2.0"),
        ("v1.2.0", "## Unreleased\n", "no heading"),
        ("v1.2.0", "## 1.2.0\n", "no heading"),
    ],
)
def test_a_tag_names_the_version_and_the_changelog_has_it(
    tag: str, changelog: str, problems: str | None
) -> None:
    found = wrong(tag, "1.2.0", changelog)
    assert found is None if problems is None else problems in str(found)


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({}, []),
        ({EXTENSION: "other"}, [EXTENSION]),
        ({BOM: '"path+file:///elsewhere#docplatform"'}, []),
        ({BOM: '"path+file:///here#another"'}, [BOM]),
        ({"docplatform-1.dist-info/RECORD": f"{EXTENSION},sha256=b,1\n{BOM},sha256=c,9\n"}, []),
        (
            {"docplatform-1.dist-info/RECORD": f"{EXTENSION},sha256=z,1\n{BOM},sha256=b,1\n"},
            ["docplatform-1.dist-info/RECORD"],
        ),
        ({"docplatform/more.py": ""}, ["their names, or their lists of files"]),
    ],
)
def test_two_builds_may_differ_in_their_folder_alone(
    tmp_path: Path, files: dict[str, str], found: list[str]
) -> None:
    one = {
        EXTENSION: "code",
        BOM: '"path+file:///here#docplatform"',
        "docplatform-1.dist-info/RECORD": f"{EXTENSION},sha256=b,1\n{BOM},sha256=b,1\n",
    }
    assert (
        compare.differences(wheel(tmp_path / "one", **one), wheel(tmp_path / "other", **{**one, **files}))
        == found
    )
