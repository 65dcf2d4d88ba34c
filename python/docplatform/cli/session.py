"""The options that commands share, and the client that they configure."""

from __future__ import annotations

import functools
import logging
import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Concatenate, Literal, TypeAlias

import click

from docplatform import (
    AuthenticationError,
    Client,
    ConfigurationError,
    DataWarning,
    DocPlatformError,
    SyncError,
    UnrecordedJobWarning,
    WaitWarning,
)
from docplatform.cli import exits, phrases, secrets
from docplatform.cli.help import STORE_SETTINGS, Decorator, number_option, options
from docplatform.cli.output import Progress, count, say, shown
from docplatform.cli.params import FILE


def _store_option(help_: str) -> Decorator:
    return click.option("--store", envvar="DOCPLATFORM_STORE", type=FILE, metavar="FILE", help=help_)


def _project_option(help_: str) -> Decorator:
    return click.option("--project", metavar="ID", help=help_)


_SHARED = (
    click.option(
        "--base-url",
        metavar="URL",
        help="The address of your documentation platform.  [default: DOCPLATFORM_BASE_URL]",
    ),
    _project_option("The project.  [default: DOCPLATFORM_PROJECT_ID]"),
    click.option(
        "--api-key-file",
        type=FILE,
        metavar="FILE",
        help="A file with the API key, which only you can read.  [default: the key in DOCPLATFORM_API_KEY, or the file "
        "that DOCPLATFORM_API_KEY_FILE names]",
    ),
    click.option(
        "--ca-bundle",
        type=FILE,
        metavar="FILE",
        help="A PEM file with certificates to trust in addition to the system's.",
    ),
    click.option(
        "-q", "--quiet", is_flag=True, help="No progress on stderr, only errors, notes and questions."
    ),
    click.option(
        "-v", "--verbose", is_flag=True, help="Print every failed attempt on stderr, unless -q is given."
    ),
    click.option("--json", is_flag=True, help="Print one JSON document on stdout, and nothing else there."),
)
_STORE = (
    _store_option(
        "A file that caches what was fetched, so that what is final is fetched once.  [default: DOCPLATFORM_STORE, or none]",
    ),
    number_option(
        "--requests-per-hour",
        help="Send at most N requests in any hour. All processes with a budget and the same --store share it; without a --store, it is this "
        "command's alone.  [default: DOCPLATFORM_REQUESTS_PER_HOUR, or no limit]",
    ),
    number_option(
        "--reserve",
        least=0,
        help="Leave N of those requests to others.  [default: DOCPLATFORM_RESERVE, or 0]",
    ),
    number_option(
        "--settle-days",
        least=0,
        help="A range is final N days after its end, and is then fetched once.  [default: 2]",
    ),
    click.option(
        "--organization",
        metavar="NAME",
        help="What the budget, the cached ranges and the names of --once belong to, if several API keys share them: a name that you choose once "
        "and keep.  [default: DOCPLATFORM_ORGANIZATION, or each key has its own]",
    ),
)
_STORE_OF_JOBS = _store_option(
    "The file that keeps the names of --once.  [default: DOCPLATFORM_STORE, or none]",
)
_JOBS_PER_HOUR = number_option(
    "--jobs-per-hour",
    help="Create at most N jobs in any hour in a project, over all processes that use the same --store with this limit.  [default: "
    "DOCPLATFORM_JOBS_PER_HOUR, or no limit]",
)
_JOB_PATH = click.option(
    "--job-path",
    metavar="PATH",
    help="The path at which your platform shows a job.  [default: /v2/agent/{project_id}/job/{id}]",
)
_DRY_RUN = click.option(
    "--dry-run", is_flag=True, help="Print what it would cost in requests, and send none."
)
_REFRESH = click.option("--refresh", is_flag=True, help="Fetch the range again even if the --store has it.")
_ON_BUDGET = click.option(
    "--on-budget",
    type=click.Choice(["wait", "stop"]),
    default="wait",
    show_default=True,
    help="When the budget of this hour is spent: wait for the next one, or stop with exit code 4.",
)
_BUDGET_ALONE = (
    _store_option("The file that keeps the request budget.  [default: DOCPLATFORM_STORE, or none]"),
    *_STORE[1:3],
    _STORE[-1],
)
_BUDGET = (_REFRESH, _DRY_RUN, *_STORE, _ON_BUDGET)

_SETTINGS = ("base_url", "ca_bundle", "job_path", "refresh", *STORE_SETTINGS)
"""The options that the client takes under the same name."""
_REPEATED = (
    "base_url",
    "project",
    "api_key_file",
    "ca_bundle",
    "job_path",
    *STORE_SETTINGS,
    "final",
)
"""The options that a command to copy repeats, if it takes them: without them it would reach another service, project or key, or
do something else."""


@dataclass(frozen=True)
class Session:
    """The shared options of one command."""

    base_url: str | None
    project: str | None
    quiet: bool
    verbose: bool
    json: bool
    root: click.Command
    """The command that has all others."""
    api_key_file: str | None = None
    ca_bundle: str | None = None
    job_path: str | None = None
    """For commands about jobs."""
    # For commands with a store or a budget.
    store: str | None = None
    requests_per_hour: int | None = None
    reserve: int | None = None
    jobs_per_hour: int | None = None
    settle_days: int | None = None
    organization: str | None = None
    final: tuple[str, ...] = ()
    """Further statuses that end a wait. They stay an option of the command, too."""
    on_budget: Literal["wait", "stop"] = "wait"
    """Whether calls wait or stop when the budget is spent."""
    dry_run: bool = False
    """Whether to print what the command would cost, and to send nothing."""
    refresh: bool = False
    """Whether ranges are fetched again that the store has."""
    fetches: bool = False
    """Whether the command reads what a store keeps."""
    spends: bool = False
    """Whether the command fetches what a store would keep."""
    keys: list[tuple[str, Any]] = field(default_factory=list, repr=False)
    """See :meth:`api_key`."""

    def api_key(self) -> tuple[str, Any]:
        """Where the API key is from, and the key. It is read once for a command, because it may come from a pipe."""
        if not self.keys:
            self.keys.append(secrets.read(self.api_key_file))
        return self.keys[0]

    @contextmanager
    def client(self, **settings: Any) -> Iterator[Client]:
        """A client for the command. Before the first request, a wrong argument is wrong usage; after it, a failure."""
        # A call may wait an hour for the budget. A terminal shows the log's line about that; elsewhere a line comes each minute.
        with logged(self), Progress("Waiting", quiet=self.quiet, at_once=False):
            # The client has its own defaults.
            shared: dict[str, Any] = {
                name: value for name in _SETTINGS if (value := getattr(self, name)) is not None
            }
            with arguments():
                _, key = self.api_key()
                answered = Counter[bool]()
                shared["on_attempt"] = lambda attempt: answered.update([attempt.error is None])
                client = Client(key, project_id=self.project, **shared, **settings)
            with client, self._kept(client, answered):
                yield client

    @contextmanager
    def _kept(self, client: Client, attempts: Counter[bool]) -> Iterator[None]:
        """Adds a note to an error or an interrupt: what became of the answers before it."""
        try:
            with arguments(client):
                yield
        except (DocPlatformError, OSError, ValueError, KeyboardInterrupt) as error:
            answered = attempts[True]
            # A full disk, for example, has no room for a store either.
            no_room = isinstance(error, OSError) and not isinstance(error, DocPlatformError)
            # The same command would fail in the same way.
            fails_again = phrases.has("ReadFromBeginning", error) or phrases.has("NotStrict", error)
            other_key = " What another key fetched is not used, unless --organization was given."
            # If the store itself failed, it is unknown what it kept.
            store_failed = type(error) is DocPlatformError
            if self.store is not None:
                if (
                    self.fetches
                    and answered
                    and not (fails_again or isinstance(error, ValueError) or store_failed)
                ):
                    advice = (
                        ". With --refresh the next run fetches all of it again."
                        if self.refresh
                        # The causes of failed slices are in the error, which also says how to go on.
                        else "."
                        if isinstance(error, SyncError)
                        else ": run the same command again to continue."
                        + other_key
                        * (isinstance(error, AuthenticationError) and not self._named_organization)
                    )
                    exits.note(error, f"What was fetched is in {self.store}{advice}")
            elif self.spends and answered and not no_room and not fails_again:
                exits.note(
                    error,
                    f"{count(answered, 'request')} had been answered. With --store FILE what was answered is kept, and the next "
                    "run continues after it.",
                )
            if isinstance(error, ConfigurationError) and answered:
                late = exits.OnTheWayError(str(error))
                late.__dict__.update(error.__dict__)
                raise late from error
            raise

    @property
    def _named_organization(self) -> str | None:
        """The organization of the option, or of the environment."""
        return self.organization or os.environ.get("DOCPLATFORM_ORGANIZATION")

    def again(self, *name: str, job: str | None = None) -> str:
        """A command to copy, with the options of this one for service, project and key."""
        taken = _options_of(self.root, name)
        given = {field: getattr(self, field) for field in _REPEATED if field in taken}
        if name[:2] == ("job", "once"):
            # Names belong to it, and the shell that the command is copied into may lack the variable.
            given["organization"] = self._named_organization
        if self.store == os.environ.get("DOCPLATFORM_STORE"):
            given.pop("store", None)
        if secrets.may_be_secret(self.base_url or ""):
            del given["base_url"]
        if secrets.may_be_key(self.api_key_file or ""):
            del given["api_key_file"]
        repeated = [
            word
            for field, value in given.items()
            if value not in (None, "")
            for one in (value if isinstance(value, tuple) else (value,))
            for word in (f"--{field.replace('_', '-')}", str(one))
        ]
        return phrases.command(*name, options=tuple(repeated), job=job)

    def project_id(self) -> str:
        """The project of ``--project``, or else of the environment."""
        found = self.project or os.environ.get("DOCPLATFORM_PROJECT_ID")
        if not found:
            raise click.UsageError("name a project, with --project or in DOCPLATFORM_PROJECT_ID")
        return found

    def progress(self, text: str) -> Progress:
        """Shows what the command waits for, unless ``--quiet`` is given."""
        return Progress(text, quiet=self.quiet)

    def say(self, line: str) -> None:
        """Prints a line on stderr, unless ``--quiet`` is given."""
        if not self.quiet:
            say(line)


def _options_of(command: click.Command, words: tuple[str, ...]) -> set[str | None]:
    """The options of the command below this one that begins with these words."""
    for word in words:
        if not isinstance(command, click.Group):
            break
        command = command.commands[word]
    return {param.name for param in command.params}


ForSession: TypeAlias = Callable[[Callable[Concatenate[Session, ...], None]], Callable[..., None]]
"""Gives a command the shared options, as its first argument."""


def _with(
    *given: Callable[..., Any],
    shared: tuple[Callable[..., Any], ...] = _SHARED,
    fetches: bool = False,
    spends: bool = False,
) -> ForSession:
    """Gives a command options, and a :class:`Session` of them as its first argument."""

    def decorate(command: Callable[Concatenate[Session, ...], None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(*args: Any, **kwargs: Any) -> None:
            # The rest are the command's own options.
            final = kwargs.get("final", ())
            values: dict[str, Any] = {
                name: kwargs.pop(name)
                for name in Session.__dataclass_fields__
                if name in kwargs and name != "final"
            }
            root = click.get_current_context().find_root()
            session = Session(**values, final=final, root=root.command, fetches=fetches, spends=spends)
            # `run` in app.py looks for it there when the command fails.
            root.obj = session
            command(session, *args, **kwargs)

        return options(*given, *shared)(run)

    return decorate


with_job: ForSession = _with(_JOB_PATH)
"""For a command about jobs."""
with_request: ForSession = _with(*_BUDGET_ALONE, _ON_BUDGET)
"""For a command that sends any request."""
with_names: ForSession = _with(_JOB_PATH, _STORE_OF_JOBS, _STORE[-1])
"""For a command about the names of jobs, with the store that keeps them."""
with_creation: ForSession = _with(_JOB_PATH, _STORE_OF_JOBS, _JOBS_PER_HOUR, _STORE[-1], _ON_BUDGET)
"""For a command that creates jobs, with their budget."""
with_check: ForSession = _with(*_BUDGET_ALONE)
"""For a command that sends a request of its own, and does not wait."""
with_store: ForSession = _with(
    _STORE[0],
    *_STORE[3:],
    shared=(
        _SHARED[0],
        _project_option("The only project to write.  [default: all that the store has]"),
        *_SHARED[-3:],
    ),
)
"""For a command that reads a store, and sends nothing."""
with_budget: ForSession = _with(*_BUDGET, fetches=True, spends=True)
"""For a command that spends the budget: its calls take the session's ``on_budget``."""
with_fixes: ForSession = _with(_JOB_PATH, _JOBS_PER_HOUR, *_BUDGET, fetches=True, spends=True)
"""Like ``with_budget``, for a command that may also create jobs."""


@contextmanager
def arguments(client: Client | None = None) -> Iterator[None]:
    """Turns what is wrong before a request was sent into a usage error."""
    try:
        yield
    except DocPlatformError:
        raise
    except ValueError as error:
        if client is not None and client.stats.requests:
            raise
        raise click.UsageError(phrases.sentence(error)) from error


@contextmanager
def logged(session: Session) -> Iterator[None]:
    """Shows what the client logs and warns of: pauses, changed data and, with ``--verbose``, every failed attempt."""
    logger = logging.getLogger("docplatform")
    level, handler = logger.level, _Lines()
    if session.quiet:
        handler.addFilter(lambda _: False)
    elif not session.verbose:
        # The last failed attempt is the error, which is shown anyway.
        handler.addFilter(lambda record: record.levelno == logging.INFO)
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", DataWarning)
            # Its text is logged, and so it is shown.
            warnings.simplefilter("ignore", WaitWarning)
            warnings.simplefilter("always", UnrecordedJobWarning)
            warnings.showwarning = lambda message, *_, **__: say(
                f"Note: {shown(phrases.sentence(message, session.again))}"
            )
            yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


class _Lines(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        """Shows a line."""
        say(shown(record.getMessage()))
