"""Arguments that commands share: prompts, other texts from files, durations."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from docplatform.cli import secrets
from docplatform.cli.files import Refusal
from docplatform.cli.help import Decorator, options
from docplatform.cli.output import say

if TYPE_CHECKING:
    from docplatform.cli.session import Session


FILE = click.Path(readable=False)
"""A file, whose name shells complete. The command checks whether it can be used."""
MAX_TEXT = 16 * 2**20
"""The most bytes that are read from a file or a pipe, as some never end."""
MAX_DURATION = 365 * 86_400.0
"""The longest duration that can be given, in seconds."""
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)([smh]?)")
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}


def duration(value: str) -> float:
    """The seconds of ``90``, ``45m`` or ``1.5h``.

    Refuses what the client would refuse, because the client checks it only after the job was created.
    """
    found = _DURATION.fullmatch(value)
    if found is None:
        raise click.BadParameter("give seconds, or minutes or hours as 45m or 1.5h")
    seconds = float(found[1]) * _UNITS[found[2]]
    if seconds > MAX_DURATION:
        raise click.BadParameter("it is too long: at most one year")
    return seconds


def interval(value: str) -> float:
    """A :func:`duration` above 0."""
    seconds = duration(value)
    if not seconds:
        raise click.BadParameter("give more than 0 seconds")
    return seconds


def words_or_file(name: str, metavar: str, of_file: str) -> Decorator:
    """Words on the command line, and a file that can take their place."""
    return options(
        click.argument(name, nargs=-1, metavar=metavar),
        click.option("-f", "--file", type=FILE, metavar="FILE", help=of_file),
    )


prompt_arguments: Decorator = words_or_file(
    "prompt", "[PROMPT]", "Read the prompt from a file of UTF-8 text; - is standard input."
)
"""The prompt's argument and option; :func:`read_prompt` makes the prompt of them."""


def named_projects(session: Session, projects: tuple[str, ...], file: str | None) -> list[str]:
    """The projects that the command line names; none if it names none."""
    if session.project is not None and (projects or file is not None):
        raise click.UsageError("name the project with --project, or projects as PROJECT or in --file")
    if file is None:
        return [session.project] if session.project is not None else [*projects]
    hint = "give the ids of projects through a pipe, one per line"
    text = read_text(file, "the projects", hint, quiet=session.quiet)
    found = [line.strip() for line in text.splitlines() if line.strip()]
    if not found:
        raise Refusal(f"{file} names no project: write one id per line")
    return [*projects, *found]


def read_prompt(prompt: tuple[str, ...], file: str | None, *, quiet: bool) -> str:
    """The prompt from the argument, the file, or standard input; a usage error says what is wrong."""
    if len(prompt) > 1:
        raise click.UsageError(f"the prompt came as {len(prompt)} arguments: put quotes around it")
    if prompt and file is not None:
        raise click.UsageError("give the prompt as an argument or with --file, not both")
    if prompt and prompt[0] != "-":
        text = prompt[0]
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise click.UsageError(
                "the prompt is not UTF-8 text: write it into a file of UTF-8 text, and give that with --file"
            )
    else:
        hint = "say what the agent is to do: as an argument, with --file, or through a pipe"
        # Editors add the last line end, and git on Windows the others: they make no other prompt, also not for --once.
        text = (
            read_text(file or "-", "the prompt", hint, quiet=quiet).replace("\r\n", "\n").removesuffix("\n")
        )
    check_prompt(text)
    return text


def check_prompt(text: str) -> None:
    """A usage error for a prompt that contains an API key."""
    if secrets.contains_key(text) or secrets.is_like_a_key(text):
        raise click.UsageError(
            "the prompt contains an API key, which the agent and the platform's log would see: remove it"
        )


def read_text(file: str, what: str, hint: str, *, quiet: bool) -> str:
    """The text of a file, or of standard input; a usage error says why ``what`` cannot be read from there."""
    name = "standard input" if file == "-" else file
    try:
        if file != "-":
            with Path(file).open("rb") as reader:
                data = reader.read(MAX_TEXT + 1)
        elif sys.stdin is None or sys.stdin.isatty():
            raise click.UsageError(hint)
        else:
            if not quiet:
                say(f"Reading {what} from standard input.")
            data = sys.stdin.buffer.read(MAX_TEXT + 1)
        if len(data) > MAX_TEXT:
            raise Refusal(f"{what} cannot be read from {name}: it is longer than {MAX_TEXT >> 20} MiB")
        return data.decode("utf-8-sig")
    except OSError as error:
        raise Refusal(f"{what} cannot be read from {name}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise Refusal(f"{what} cannot be read from {name}: it is not UTF-8 text") from None
