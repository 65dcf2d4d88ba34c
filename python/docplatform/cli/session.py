"""What every command that asks the service shares: its options, and the client they make."""

from __future__ import annotations

import functools
import logging
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

import click

from docplatform import Client, DataWarning, DocPlatformError
from docplatform.cli import secrets
from docplatform.cli.output import say, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

P = ParamSpec("P")

# Named here, to be taken apart from what a command has of its own.
_OPTIONS = (
    click.option(
        "--base-url",
        metavar="URL",
        help="The address of your documentation platform.  [default: DOCPLATFORM_BASE_URL]",
    ),
    click.option("--project", metavar="ID", help="The project.  [default: DOCPLATFORM_PROJECT_ID]"),
    click.option(
        "--api-key-file",
        metavar="FILE",
        help="A file that holds the API key and that only you can read.  [default: DOCPLATFORM_API_KEY's value]",
    ),
    click.option("--ca-bundle", metavar="FILE", help="A PEM file of certificates to trust, too."),
    click.option("-q", "--quiet", is_flag=True, help="No progress on stderr, only errors."),
    click.option("-v", "--verbose", is_flag=True, help="Tell every failed attempt on stderr."),
    click.option("--json", is_flag=True, help="Print one JSON document, and nothing else."),
)


@dataclass(frozen=True)
class Session:
    """The shared options of one command."""

    base_url: str | None
    project: str | None
    api_key_file: str | None
    ca_bundle: str | None
    quiet: bool
    verbose: bool
    json: bool

    @contextmanager
    def client(self, **settings: Any) -> Iterator[Client]:
        """A client, for as long as the command needs it. What the client finds wrong with an argument is wrong usage."""
        with _told(self), _arguments():
            shared: dict[str, Any] = {
                "base_url": self.base_url,
                "project_id": self.project,
                "ca_bundle": self.ca_bundle,
            }
            with Client(secrets.read(self.api_key_file), **shared, **settings) as client:
                yield client

    def say(self, line: str) -> None:
        """A line for people, on stderr, unless they want none."""
        if not self.quiet:
            say(line)


def with_session(command: Callable[Concatenate[Session, P], None]) -> Callable[..., None]:
    """Gives a command the shared options, as its first argument."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        shared: dict[str, Any] = {name: kwargs.pop(name) for name in Session.__dataclass_fields__}
        command(Session(**shared), *args, **kwargs)

    for option in reversed(_OPTIONS):
        run = option(run)
    return run


@contextmanager
def _arguments() -> Iterator[None]:
    try:
        yield
    except DocPlatformError:
        raise
    except ValueError as error:
        raise click.UsageError(str(error)) from error


@contextmanager
def _told(session: Session) -> Iterator[None]:
    """Shows what the client tells, for as long as it is used: its pauses, what is odd about the data, and every failed
    attempt if that is asked for."""
    logger = logging.getLogger("docplatform")
    level, handler = logger.level, _Lines()
    if session.quiet:
        handler.addFilter(lambda _: False)
    elif not session.verbose:
        # The last failed attempt is the error, which is told anyway.
        handler.addFilter(lambda record: record.levelno == logging.INFO)
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", DataWarning)
            warnings.showwarning = lambda message, *_, **__: say(f"Note: {shown(message)}")
            yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


class _Lines(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        """Shows a line."""
        say(shown(record.getMessage()))
