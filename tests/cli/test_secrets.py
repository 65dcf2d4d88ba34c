"""The API key: from the environment or a file that is private, never from the command line, and never shown."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from helpers.cli import Cli
from helpers.marks import linux, posix

LIKE_A_KEY = "mint_a1B2c3D4e5F6g7H8i9J0"
TRIED = ("--api-key", "--apikey", "--API_KEY", "--key", "--token", "--secret", "--password")


@pytest.mark.row("H6")
def test_the_real_key_is_refused_in_any_argument(cli: Cli) -> None:
    key = cli.stub.api_key
    for arguments in (
        (key,),
        ("job", "get", key),
        ("job", "run", f"Fix it with {key}"),
        ("job", "run", "--", key),
        ("visitors", "totals", f"--from={key}"),
        ("stub", "--port", key),
    ):
        # That no output contains it is checked by `Cli`.
        ended = cli(*arguments)
        assert (ended.status, ended.out, cli.stub.requests) == (2, "", [])
        assert "API key" in ended.err


@pytest.mark.parametrize("prompt", ["The key is {key}", LIKE_A_KEY, f"{LIKE_A_KEY}\n"])
def test_a_prompt_with_a_key_in_it_is_not_sent(cli: Cli, prompt: str) -> None:
    ended = cli("job", "create", stdin=prompt.format(key=cli.stub.api_key).encode())
    assert (ended.status, ended.out, cli.stub.requests) == (2, "", [])
    assert LIKE_A_KEY not in ended.err


@pytest.mark.row("H6")
@pytest.mark.parametrize(
    "arguments",
    [
        (LIKE_A_KEY,),
        ("job", "get", "job-1", LIKE_A_KEY),
        *((*words, option, LIKE_A_KEY) for words in ((), ("demo",), ("stub",)) for option in TRIED),
    ],
)
def test_an_argument_that_looks_like_a_key_is_not_repeated(cli: Cli, arguments: tuple[str, ...]) -> None:
    ended = cli(*arguments)
    assert (ended.status, ended.out) == (2, "")
    assert LIKE_A_KEY not in ended.err


FILE = "visitors_2026-01-01_to_2026-02-01.csv"
FOLDER = "none_2026-01-01_to_2026-02-01"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("visitors", "export", "-o", FILE), f"{FILE} exists"),
        (("report", "-o", FILE), f"{FILE} exists"),
        (("report", "-o", f"{FOLDER}/x.html"), f"no folder {FOLDER}:"),
        (
            ("job", "create", "-f", "no_prompt_of_2026_01_31_v2.txt"),
            "no_prompt_of_2026_01_31_v2.txt: No such",
        ),
        (("visitors", "export", FILE), f'period "{FILE}" is'),
    ],
)
def test_names_of_files_are_shown_even_if_they_look_like_keys(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(FILE).touch()
    ended = cli(*arguments)
    assert (ended.status, ended.out, cli.stub.requests) == (2, "", [])
    assert says in ended.err


@pytest.mark.parametrize(
    "prompt", ["Document get_user_by_id_v2_with_options", "Fix: --api-key is undocumented", "fix_it"]
)
def test_prompts_about_keys_and_ids_like_keys_are_fine(cli: Cli, prompt: str) -> None:
    assert cli("job", "create", prompt).status == 0
    assert cli.stub.jobs[0].prompts == [prompt]
    assert "No such job" in cli("job", "get", "job_01HZX3V5T8Q2W4E6R8").err


# -- the file --------------------------------------------------------------------------------------


@pytest.fixture
def key_file(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("DOCPLATFORM_API_KEY")
    path = tmp_path / "key"
    path.touch(0o600)
    path.write_text(f"{cli.stub.api_key}\n")
    return path


@pytest.mark.row("H6")
def test_a_private_file_is_read(cli: Cli, key_file: Path) -> None:
    assert cli("visitors", "totals", "--api-key-file", str(key_file)).status == 0
    error = json.loads(cli("visitors", "totals", "--json").out)["error"]
    assert (error["class"], "no API key" in error["message"]) == ("ConfigurationError", True)
    # Editors of Windows put a byte order mark in front.
    key_file.write_text(f"\ufeff{cli.stub.api_key}\r\n", encoding="utf-8")
    assert cli("visitors", "totals", "--api-key-file", str(key_file)).status == 0


@pytest.mark.row("H6")
@posix
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644])
def test_a_file_that_others_can_read_is_refused(cli: Cli, key_file: Path, mode: int) -> None:
    key_file.chmod(mode)
    ended = cli("visitors", "totals", "--api-key-file", str(key_file))
    assert (ended.status, cli.stub.requests) == (3, [])
    assert f"chmod 600 {key_file}" in ended.err


@pytest.mark.parametrize("content", [None, b"", b"\n", b"\xff\xfe", b"two words"])
def test_a_file_without_a_key_is_refused(cli: Cli, key_file: Path, content: bytes | None) -> None:
    key_file.unlink() if content is None else key_file.write_bytes(content)
    ended = cli("visitors", "totals", "--api-key-file", str(key_file))
    assert (ended.status, cli.stub.requests) == (3, [])
    assert "API key" in ended.err


def test_a_key_in_place_of_its_file_is_not_repeated(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DOCPLATFORM_API_KEY")
    option = ("--api-key-file", LIKE_A_KEY)
    monkeypatch.setenv("DOCPLATFORM_API_KEY_FILE", LIKE_A_KEY)
    for arguments in (("job", "get", "j"), ("job", "get", "j", *option), ("doctor",), ("doctor", *option)):
        ended = cli(*arguments)
        assert (ended.status, cli.stub.requests) == (3, [])
        assert LIKE_A_KEY not in ended.out + ended.err
        assert "no file of the name" in ended.out + ended.err


@pytest.mark.row("H6")
@linux
@pytest.mark.parametrize("line", [("visitors", "totals"), ("doctor",)], ids=" ".join)
@pytest.mark.parametrize("by_variable", [True, False])
def test_a_pipe_can_take_the_place_of_the_file_and_is_read_once(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, line: tuple[str, ...], by_variable: bool
) -> None:
    monkeypatch.delenv("DOCPLATFORM_API_KEY")
    read, write = os.pipe()
    os.write(write, cli.stub.api_key.encode())
    os.close(write)
    file = f"/dev/fd/{read}"
    if by_variable:
        monkeypatch.setenv("DOCPLATFORM_API_KEY_FILE", file)
    ended = cli(*line, *(() if by_variable else ("--api-key-file", file)))
    os.close(read)
    assert ended.status == 0, ended
