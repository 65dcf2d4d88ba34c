"""``docplatform doctor``: what is set, whether the service answers, whether the key is taken, what to do."""

from __future__ import annotations

import os
import platform
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import click

import docplatform
from docplatform import Client, ConfigurationError, DocPlatformError
from docplatform.cli import exits, output, secrets
from docplatform.cli.exits import Exit
from docplatform.cli.help import Command
from docplatform.cli.session import Session, with_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PATIENCE = 15.0
"""How long the one request may take, in seconds."""
PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY")
NOT_ASKED = "not asked, as a setting is missing or wrong"


class Finding(NamedTuple):
    """One thing that was looked at."""

    name: str
    state: str
    """``ok``, ``wrong``, or ``unknown``."""
    finding: str
    advice: str = ""


@click.command("doctor", cls=Command)
@with_store
@click.pass_context
def doctor(context: click.Context, session: Session) -> None:
    """Look at settings, service and key; say what to do.

    It reads the totals of the visitors: one request, which counts towards those granted an hour. Nothing is written.
    """
    settings = list(_settings(session))
    fine = all(finding.state == "ok" for finding in settings)
    code, answers = _ask(session) if fine else (_code(settings), _not_asked())
    findings = [*settings, *answers]
    if session.json:
        output.document([finding._asdict() for finding in findings])
    else:
        output.table(findings)
    context.exit(code)


def _settings(session: Session) -> Iterator[Finding]:
    yield Finding(
        "client",
        "ok",
        f"docplatform {docplatform.__version__}, Python {platform.python_version()}, "
        f"{platform.system()} {platform.machine()}",
    )
    yield _setting(
        "address",
        session.base_url,
        "--base-url",
        "DOCPLATFORM_BASE_URL",
        lambda url: _client(base_url=url),
    )
    yield _setting(
        "project",
        session.project,
        "--project",
        "DOCPLATFORM_PROJECT_ID",
        lambda project: _client(project_id=project),
    )
    if session.ca_bundle is not None:
        yield _setting(
            "certificates",
            session.ca_bundle,
            "--ca-bundle",
            "",
            lambda path: _client(base_url="https://localhost", ca_bundle=path),
        )
    if session.store is not None:
        yield _setting(
            "store",
            session.store,
            "--store or DOCPLATFORM_STORE",
            "",
            lambda path: _client(store=path),
        )
    try:
        secrets.read(session.api_key_file)
        where = session.api_key_file or secrets.VARIABLE
        yield Finding("API key", "ok", f"is set, from {where}; it is not shown")
    except ConfigurationError as error:
        yield Finding("API key", "wrong", str(error), "copy it from the dashboard of your platform")
    found = [name for name in PROXIES if os.environ.get(name) or os.environ.get(name.lower())]
    proxies = f"{', '.join(found)} set" if found else "none set"
    yield Finding("proxy", "ok", f"{proxies}; none is used for this machine itself")


def _setting(
    name: str, given: str | None, option: str, variable: str, make: Callable[[str], Client]
) -> Finding:
    value = given if given is not None else os.environ.get(variable)
    where = variable if given is None else option
    if not value:
        return Finding(name, "wrong", "is not set", f"set {variable}, from the dashboard of your platform")
    try:
        make(value).close()
    except ValueError as error:
        return Finding(name, "wrong", str(error), f"mend {where}")
    return Finding(name, "ok", f"{value} (from {where})")


def _client(**tried: str) -> Client:
    """A client that nothing is sent with, to see whether it takes what is tried."""
    rest: dict[str, Any] = {"base_url": "http://127.0.0.1", "project_id": "any", **tried}
    return Client("any", **rest)


def _code(settings: list[Finding]) -> Exit:
    wrong = [finding.name for finding in settings if finding.state != "ok"]
    return Exit.KEY if wrong == ["API key"] else Exit.USAGE


def _not_asked() -> list[Finding]:
    return [Finding(name, "unknown", NOT_ASKED) for name in ("service", "key taken", "project known")]


def _ask(session: Session) -> tuple[Exit, list[Finding]]:
    """One request, which is not tried again."""
    begun = time.monotonic()
    with session.client(max_retries=0, timeout=PATIENCE, deadline=PATIENCE) as client:
        try:
            client.visitor_totals(on_budget="stop")
        except DocPlatformError as error:
            return exits.code_of(error), _after(error)
        seconds = time.monotonic() - begun
    return Exit.DONE, [
        Finding("service", "ok", f"answered in {seconds:.2f} s; this cost one request"),
        Finding("key taken", "ok", "yes"),
        Finding("project known", "ok", "yes, and its visitors can be read"),
    ]


def _after(error: DocPlatformError) -> list[Finding]:
    """What an error tells of the service, the key and the project."""
    words = error.message if isinstance(error, docplatform.StatusError) and error.message else str(error)
    answered = Finding("service", "ok", "answered; this cost one request")
    taken, known = (
        Finding("key taken", "unknown", "not told"),
        Finding("project known", "unknown", "not told"),
    )
    match error:
        case docplatform.AuthenticationError():
            advice = "copy the key again from the dashboard, or make a new one: it may have expired"
            return [answered, Finding("key taken", "wrong", words, advice), known]
        case docplatform.PermissionDeniedError():
            advice = "let the dashboard give the key the right to read analytics, from this address"
            return [answered, Finding("key taken", "wrong", words, advice), known]
        case docplatform.NotFoundError():
            advice = "compare the project's id, and the path of the address, with the dashboard"
            return [answered, taken, Finding("project known", "wrong", words, advice)]
        case docplatform.RateLimitError() | docplatform.BudgetError():
            advice = "wait: the requests of this hour are spent"
            return [Finding("service", "wrong", words, advice), taken, known]
        case docplatform.StatusError() | docplatform.ResponseError():
            advice = "look whether the address is that of the platform's API, or try again later"
        case _:
            advice = (
                "check the address, the network, the proxy; with a company's own certificates, --ca-bundle"
            )
    return [Finding("service", "wrong", words, advice), taken, known]
