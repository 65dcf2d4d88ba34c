"""All commands, with the extra ``cli``: click for arguments, help and completion, Rich for terminals."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

import docplatform
from docplatform.cli import api, dataset, doctor, exits, fix, job, plain, secrets, sync, visitors
from docplatform.cli.exits import MEANINGS, Exit
from docplatform.cli.files import Refusal
from docplatform.cli.help import Group
from docplatform.cli.listings import LISTINGS
from docplatform.cli.output import say, shown
from docplatform.cli.report.command import report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from docplatform.cli.session import Session

NAME = "docplatform"
COMPLETION = "_DOCPLATFORM_COMPLETE"
"""The variable through which shells ask for completions."""


def run(arguments: Sequence[str]) -> int:
    """Runs a command and returns its exit code. Errors of files and bugs are for the caller to report."""
    if COMPLETION in os.environ:
        cli.main(args=list(arguments), prog_name=NAME)
    session: Session | None = None
    try:
        # Not through click's `main`, which handles interrupts and closed pipes in its own way.
        with cli.make_context(NAME, list(arguments)) as context:
            try:
                cli.invoke(context)
            finally:
                session = context.obj
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.exceptions.NoArgsIsHelpError as help_:
        help_.show()
        return Exit.USAGE
    except click.ClickException as error:
        _report_usage(error)
        return Exit.USAGE
    except (docplatform.DocPlatformError, ValueError, KeyboardInterrupt) as error:
        return exits.report(error) if session is None else exits.report(error, session.again)
    return Exit.DONE


_LIMITS = ("--limit", "--rows", "--top")
"""Names that no command has, for a number of rows."""
_PERIODS = ("--period", "--month", "--week", "--day", "--year", "--quarter")
"""Names that no command has, for a period."""


def _meant(error: click.ClickException) -> str:
    """The message of a usage error, with the option that the user may mean by another name."""
    if isinstance(error, click.NoSuchOption) and error.ctx is not None:
        params, name = error.ctx.command.params, error.option_name
        numbers = ("--number", "--max-rows", "--page-size") if name in _LIMITS else ()
        if meant := [option for param in params for option in param.opts if option in numbers]:
            return f"{error.message} Did you mean {' or '.join(map(repr, meant))}?"
        if name in _PERIODS and any(param.name == "date_from" for param in params):
            return f"{error.message} A PERIOD such as 2026-10 is an argument, without an option."
        if isinstance(error.ctx.command, click.Group):
            return f"{error.message} Options come after the whole command."
    return error.format_message()


def _report_usage(error: click.ClickException) -> None:
    # A misspelt argument may be foreign text, or a key. A file's name is shown as it is, so that people recognise it.
    message = _meant(error)
    message = shown(message if isinstance(error, Refusal) else secrets.hide(message))
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is not None:
        say(context.get_usage())
    exits.usage(message, error)
    if context is not None:
        listed = "commands" if isinstance(context.command, click.Group) else "options"
        say(f"`{context.command_path} --help` lists the {listed}.")


def _codes() -> str:
    # \b keeps click from filling the lines into one paragraph.
    return "\b\nExit codes:\n" + "\n".join(f"{code:>5}  {meaning}" for code, meaning in MEANINGS.items())


@click.group(
    NAME,
    cls=Group,
    epilog=_codes(),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(docplatform.__version__, prog_name=NAME, message="%(prog)s %(version)s")
def cli() -> None:
    """See where readers of your docs get stuck, people and AI agents, and hand the docs agent the fix.

    The address, the API key and the project come from DOCPLATFORM_BASE_URL, DOCPLATFORM_API_KEY and
    DOCPLATFORM_PROJECT_ID.
    """


def _as_plain(name: str, summary: str) -> click.Command:
    """A command that needs no extra: it is listed here, and :mod:`plain` runs it."""

    def callback(arguments: tuple[str, ...]) -> None:
        raise click.exceptions.Exit(plain.run([name, *arguments]))

    return click.Command(
        name,
        callback=callback,
        params=[click.Argument(["arguments"], nargs=-1, type=click.UNPROCESSED)],
        context_settings={"ignore_unknown_options": True, "help_option_names": []},
        help=summary,
    )


for _command in (
    fix.fix,
    job.group,
    *map(visitors.group, LISTINGS),
    sync.sync,
    dataset.dataset,
    api.api,
    report,
    doctor.doctor,
    _as_plain("demo", plain.DEMO),
    _as_plain("stub", plain.STUB),
):
    cli.add_command(_command)
