"""``docplatform doctor``: checks the settings, the service and the key, and says what to do."""

from __future__ import annotations

import os
import platform
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from docplatform import (
    AuthenticationError,
    BudgetError,
    ConfigurationError,
    DocPlatformError,
    NetworkError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    ResponseError,
    StatusError,
    __version__,
)
from docplatform._native import _check, _proxy
from docplatform.cli import exits, output, phrases
from docplatform.cli.help import Command
from docplatform.cli.listings import ENDPOINTS
from docplatform.cli.session import Session, with_check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docplatform import Client

MAX_WAIT = 15.0
"""How long the one request may take, in seconds."""
AUTHORITIES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
"""The variables that replace the system's authorities, on Linux."""
PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY")
NOT_ASKED = "not checked, because a setting is missing or wrong"
UNSAID = "the service did not say"
NO_ANSWER = "not checked, because there is no answer that tells"
SPENT = "wait: the requests of this hour are spent, or the service asked for a pause"
SERVICE, KEY, PROJECT = "service", "key accepted", "project found"
"""The findings about an answer."""


class Finding(NamedTuple):
    """The result of one check."""

    name: str
    state: str
    """``ok``, ``wrong``, or ``unknown``."""
    finding: str
    advice: str = ""


@click.command("doctor", cls=Command)
@click.option(
    "--listings",
    is_flag=True,
    help="Also check which listings the key may read: one more request for each.",
)
@with_check
@click.pass_context
def doctor(context: click.Context, session: Session, *, listings: bool) -> None:
    """Check settings, service and key, and say what to do.

    It reads the totals of the visitors: one request, which counts towards the hourly limit. An existing --store keeps the
    answer, a refusal of the service (429) and, with a budget, the record of the request; nothing else is written.
    """
    settings = list(_settings(session))
    answers = [Finding(name, "unknown", NOT_ASKED) for name in (SERVICE, KEY, PROJECT)]
    error = _wrong(settings)
    if error is None:
        try:
            error, answers = _ask(session, listings=listings)
        except (ConfigurationError, click.UsageError) as problem:
            # Some settings, such as the budget, are checked by a whole client only. Nothing was sent.
            error = ConfigurationError(phrases.sentence(problem))
            settings.append(Finding("other settings", "wrong", str(error), "correct it, or leave it out"))
    findings = [*settings, *answers]
    if session.json:
        # The advice of a spent budget names an option that this command lacks.
        words = {"message": _said(error)} if isinstance(error, BudgetError) else {}
        told = error and exits.facts(error, session.again) | words
        output.document({"checks": [finding._asdict() for finding in findings], "error": told})
    else:
        output.table(findings)
    context.exit(exits.Exit.DONE if error is None else exits.code_of(error))


def _settings(session: Session) -> Iterator[Finding]:
    yield Finding(
        "client",
        "ok",
        f"docplatform {__version__}, Python {platform.python_version()}, "
        f"{platform.system()} {platform.machine()}",
    )
    address = _setting("address", session.base_url, "base_url", "DOCPLATFORM_BASE_URL")
    yield address
    yield _setting("project", session.project, "project_id", "DOCPLATFORM_PROJECT_ID")
    if session.ca_bundle is not None:
        yield _setting("certificates", session.ca_bundle, "ca_bundle", base_url="https://localhost")
    elif _address(session).startswith("https:"):
        yield _authorities()
    if session.store is not None:
        yield _store(session.store)
    try:
        where, _ = session.api_key()
        yield Finding("API key", "ok", f"is set, from {where}; it is not shown")
    except ConfigurationError as error:
        from_environment = not os.environ.get("DOCPLATFORM_API_KEY") and os.environ.get(
            "DOCPLATFORM_API_KEY_FILE"
        )
        is_file = session.api_key_file or from_environment
        advice = "correct the file" if is_file else "copy it from the dashboard of your platform"
        yield Finding("API key", "wrong", phrases.sentence(error), advice)
    names = (name if name in os.environ else name.lower() for name in PROXIES)
    found = [name for name in names if os.environ.get(name)]
    proxies = f"{', '.join(found)} set" if found else "none set"
    if address.state == "ok":
        yield _proxy_of(session, proxies)
    else:
        yield Finding("proxy", "ok", proxies)


def _address(session: Session) -> str:
    return session.base_url or os.environ.get("DOCPLATFORM_BASE_URL", "")


def _authorities() -> Finding:
    """Whether the client finds authorities, which the environment may name on Linux. The client's error names the remedy."""
    # An empty list of folders counts as none.
    found = {name: os.environ.get(name) for name in AUTHORITIES} if sys.platform == "linux" else {}
    named = [f"{name}={path}" for name, path in found.items() if path]
    shown = f"found; {' and '.join(named)} in place of the system's" if named else "the system's"
    return _checked("certificates", shown, "", {"base_url": "https://localhost"})


def _proxy_of(session: Session, proxies: str) -> Finding:
    """Which proxy of the environment requests to the address go through."""
    try:
        used = _proxy(_address(session))
    except ConfigurationError as error:
        return Finding("proxy", "wrong", phrases.sentence(error, advises=False), "correct it, or unset it")
    where = "none" if used is None else used
    return Finding("proxy", "ok", f"{proxies}; {where} is used for this address")


def _setting(name: str, given: str | None, argument: str, variable: str = "", **more: str) -> Finding:
    """Whether a client accepts it; nothing is sent."""
    value = os.environ.get(variable) if given is None else given
    where = phrases.SETTINGS[argument]
    if variable and value == os.environ.get(variable):
        where = variable
    if given == "" and where != variable:
        return Finding(name, "wrong", f"{where} is empty", f"leave {where} out, or give it a value")
    if not value:
        return Finding(name, "wrong", "is not set", f"set {variable}, from the dashboard of your platform")
    settings = {argument: value, **more}
    return _checked(name, f"{value} (from {where})", f"correct {where}", settings, **{argument: where})


def _checked(name: str, shown: str, advice: str, settings: dict[str, str], **where: str) -> Finding:
    """Whether a client accepts these settings; nothing is sent."""
    try:
        # The authorities that an address needs have findings of their own.
        _check(
            {"api_key": "any", "base_url": "http://127.0.0.1", "project_id": "any", **settings},
            opens=name != "address",
        )
    except (ValueError, DocPlatformError) as error:
        return Finding(name, "wrong", phrases.sentence(error, where=where), advice)
    return Finding(name, "ok", shown)


def _store(path: str) -> Finding:
    if os.path.lexists(path):
        return _setting("store", path, "store", "DOCPLATFORM_STORE")
    folder = Path(path).parent
    if not folder.is_dir():
        return Finding("store", "wrong", f"there is no folder {folder}", "create it, or correct the path")
    return Finding(
        "store",
        "unknown",
        f"{path} is not there; the first command that fetches or creates something makes it",
        "if you have a store already, check its name",
    )


def _wrong(settings: list[Finding]) -> DocPlatformError | None:
    """The error of settings that are wrong."""
    wrong = {finding.name: finding.finding for finding in settings if finding.state == "wrong"}
    if not wrong:
        return None
    kind = exits.KeyProblemError if [*wrong] == ["API key"] else ConfigurationError
    return kind("; ".join(f"{name}: {finding}" for name, finding in wrong.items()))


def _ask(session: Session, *, listings: bool) -> tuple[DocPlatformError | None, list[Finding]]:
    """Sends one request, without retries; with ``listings``, one more for each."""
    begun = time.monotonic()
    if session.store is not None and not os.path.lexists(session.store):
        # The check must not create a store, not even one that the environment names.
        os.environ.pop("DOCPLATFORM_STORE", None)
        session = replace(session, store=None)
    with session.client(max_retries=0, timeout=MAX_WAIT, deadline=MAX_WAIT) as client:
        try:
            client.visitor_totals(on_budget="stop")
        except DocPlatformError as error:
            return error, _after(error)
        seconds = time.monotonic() - begun
        failed, others = _others(client) if listings else (None, [])
    return failed, [
        Finding(SERVICE, "ok", f"answered in {seconds:.2f} s; this cost one request"),
        Finding(KEY, "ok", "yes"),
        Finding(PROJECT, "ok", "yes, and its visitors can be read"),
        *others,
    ]


def _others(client: Client) -> tuple[DocPlatformError | None, list[Finding]]:
    """Checks which other listings can be read. The first failure decides the exit code."""
    failed: DocPlatformError | None = None
    found, spent = [], False
    # The visitors, which come first, were read before.
    for listing in [*ENDPOINTS][1:]:
        if spent:
            found.append(
                Finding(
                    listing,
                    "unknown",
                    "not checked, because the requests of this hour are spent, or the service asked for a pause",
                )
            )
            continue

        # A row that the store has would say nothing about the key.
        rows = getattr(client, listing)(page_size=1, max_rows=1, refresh=True, on_budget="stop")
        try:
            # One row is asked for, so it does not matter what the listing cuts off.
            with warnings.catch_warnings(action="ignore"):
                next(rows, None)
        except DocPlatformError as error:
            spent = exits.code_of(error) is exits.Exit.LIMIT
            failed = failed or error
            found.append(_unread(listing, error))
        else:
            found.append(Finding(listing, "ok", "can be read; this cost one request"))
    return failed, found


def _unread(listing: str, error: DocPlatformError) -> Finding:
    """Why a listing cannot be read although visitors can."""
    state, advice = "wrong", "try again later"
    match error:
        case AuthenticationError() | PermissionDeniedError():
            advice = "give the key the right to read it, in the dashboard"
        case NotFoundError():
            advice = "ask whether your platform's plan includes it"
        case RateLimitError() | BudgetError():
            state, advice = "unknown", SPENT
    return Finding(listing, state, _said(error), advice)


def _said(error: DocPlatformError) -> str:
    """The service's message, or else the error in words."""
    if isinstance(error, StatusError) and error.message:
        return error.message
    return phrases.sentence(error, advises=False)


def _after(error: DocPlatformError) -> list[Finding]:
    """The findings about the service, the key and the project that follow from an error."""
    name, state = SERVICE, "wrong"
    match error:
        case AuthenticationError():
            name, advice = (
                KEY,
                (
                    "copy the key again from the dashboard, or create a new one: keys expire, often after 90 days, and a "
                    "key of another kind is refused"
                ),
            )
        case PermissionDeniedError():
            name, advice = (
                KEY,
                (
                    "give the key the right to read analytics, in the dashboard; if keys are limited to addresses, add "
                    "this machine's"
                ),
            )
        case NotFoundError():
            name, advice = (
                PROJECT,
                "compare the project's id, and the path of the address, with the dashboard",
            )
        case BudgetError():
            state, advice = "unknown", "run it again after that"
        case RateLimitError():
            advice = SPENT
        case StatusError() | ResponseError():
            advice = "check that the address is that of the platform's API, or try again later"
        case NetworkError():
            advice = (
                "check the address, the network and the proxy; if your company has its own certificates, name them "
                "with --ca-bundle"
            )
        case _:
            state, advice = "unknown", "mend the store, or leave it out: the service was not asked"
    unsaid = NO_ANSWER if name == SERVICE else UNSAID
    found = {
        SERVICE: Finding(SERVICE, "ok", "answered; this cost one request"),
        KEY: Finding(KEY, "unknown", unsaid),
        PROJECT: Finding(PROJECT, "unknown", unsaid),
        name: Finding(name, state, _said(error), advice),
    }
    return [*found.values()]
