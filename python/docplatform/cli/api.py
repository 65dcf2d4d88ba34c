"""``docplatform api``: any request to the service."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from docplatform import UnconfirmedWriteError
from docplatform.cli import exits, files, output
from docplatform.cli.help import Command, number_option
from docplatform.cli.output import whole
from docplatform.cli.session import Session, with_request
from docplatform.cli.writing import Target, Writer

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLE = """\b
Examples:
  docplatform api GET "/v1/analytics/{project_id}/assistant/caller-stats" -f dateFrom=2026-01-01
  docplatform api GET "/v1/analytics/{project_id}/views" --paginate views
"""


@click.command("api", cls=Command, epilog=EXAMPLE)
@click.argument("method")
@click.argument("path")
@click.option(
    "-f",
    "--field",
    "fields",
    multiple=True,
    metavar="KEY=VALUE",
    help="A query parameter of a GET, which may be repeated. For another METHOD, a field of the JSON object that is sent: a VALUE such "
    "as 5, true or [1] is JSON, and any other one is text.",
)
@click.option(
    "--paginate",
    "items",
    metavar="ITEMS",
    help="Read a listing to its end, and print each row as a line of JSON. ITEMS names the rows in the answer, such as data.items.",
)
@click.option(
    "--next-cursor",
    metavar="FIELD",
    help="With --paginate: the field of the next page's cursor.  [default: pages by offset]",
)
@number_option(
    "--page-size",
    most=1000,
    help="With --paginate: rows per request.  [default: 250]",
)
@with_request
def api(
    session: Session,
    /,
    method: str,
    path: str,
    *,
    fields: tuple[str, ...],
    items: str | None,
    next_cursor: str | None,
    page_size: int | None,
) -> None:
    """Send any request to the service, and print its answer.

    PATH may contain {project_id}. A GET is a read, and is retried. Any other METHOD is a write, and is sent again only if the service certainly did nothing.
    """
    files.check_printing()
    reads = method.upper() == "GET"
    if items is None and (next_cursor is not None or page_size is not None):
        raise click.UsageError("--next-cursor and --page-size need --paginate")
    if items is not None and not reads:
        raise click.UsageError("--paginate needs the METHOD GET")
    given = _parameters(fields) if reads else _body(fields)
    with session.client() as client, _advised():
        if items is not None:
            rows = client.paginate(
                path,
                items=items,
                params=given,
                next_cursor=next_cursor,
                page_size=page_size or 250,
                on_budget=session.on_budget,
            )
            if session.json:
                output.document(rows.to_dicts())
                return
            writer = Writer(None, "jsonl", Target(), "Reading rows")
            with writer.shown(quiet=session.quiet):
                writer.write(rows)
            return
        sent: dict[str, Any] = {"params" if reads else "json": given, "on_budget": session.on_budget}
        if session.json:
            output.document(client.request(method, path, **sent))
            return
        answer = client.request(method, path, raw=True, **sent)
    try:
        value = answer.json() if answer.content else None
    except ValueError:
        _print_other(answer.content)
        return
    output.document(value)


@contextmanager
def _advised() -> Iterator[None]:
    """Says what to do about a write that may have been carried out. It need not be one for a job."""
    try:
        yield
    except UnconfirmedWriteError as error:
        was = "was carried out" if error.outcome == "applied" else "may have been carried out"
        exits.note(error, f"It {was}: look on the platform before you send it again.")
        raise


def _parameters(fields: tuple[str, ...]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in map(_parts, fields):
        found.setdefault(name, []).append(value)
    return found


def _body(fields: tuple[str, ...]) -> dict[str, Any] | None:
    found: dict[str, Any] = {}
    for name, value in map(_parts, fields):
        if name in found:
            raise click.UsageError(f"--field {name} was given twice: for several values, give a list of JSON")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found or None


def _parts(field: str) -> tuple[str, str]:
    name, equals, value = field.partition("=")
    if not (name and equals):
        raise click.UsageError("write each --field as KEY=VALUE")
    return name, value


def _print_other(content: bytes) -> None:
    """Prints an answer that is not JSON."""
    if output.is_terminal(sys.stdout):
        for line in content.decode(errors="replace").splitlines():
            print(whole(line))
    else:
        sys.stdout.buffer.write(content)
        sys.stdout.flush()
