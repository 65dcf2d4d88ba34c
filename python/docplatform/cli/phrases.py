"""The package's messages in the words of the command line: settings are options, advice names commands."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from docplatform.cli.output import printed, shown

Again: TypeAlias = Callable[..., str]
"""Makes a command to copy of its words and, as ``job``, the id or the name that it ends with."""

SETTINGS = {
    "api_key": "--api-key-file",
    "by_path": "--totals",
    "connect_timeout": "the time for connecting",
    "date_from": "--from",
    "date_to": "--to",
    "deadline": "the time for a call",
    "max_poll_interval": "the longest interval between polls",
    "max_response_bytes": "the largest answer",
    "max_retry_after": "the longest Retry-After",
    "n": "-n",
    "of": "--of",
    "period": "period",
    "project_id": "--project",
    "projects": "PROJECT",
    "proxy": "HTTPS_PROXY",
    "resume": "the checkpoint",
    "settle": "the time for a status to change",
    "thread_id": "the thread's id",
} | {
    name: f"--{name.replace('_', '-')}"
    for name in (
        "base_url before ca_bundle every final job_path jobs_per_hour listing max_rows on_budget on_running once organization "
        "page_size poll_interval refresh requests_per_hour reserve settle_days source status store timeout until whole"
    ).split()
}
"""The option of each setting that a message may name, or words for those without an option."""


def command(*words: str, options: tuple[str, ...] = (), job: str | None = None) -> str:
    """A command to copy; ``job`` is the id or the name that it ends with."""
    last = () if job is None else ("--", job) if job.startswith("-") else (job,)
    return shown(quoted("docplatform", *words, *options, *last))


def quoted(*words: str) -> str:
    """Words as a shell reads them. On Windows, PowerShell and Command Prompt both do."""
    return " ".join(map(_in_quotes, words)) if sys.platform == "win32" else shlex.join(words)


def _in_quotes(word: str) -> str:
    if re.fullmatch(r"-*[\w/][\w/-]*|[\w/\\][\w/\\.:=+-]*", word):
        return word
    word = quotable(word)
    # Backslashes before the quote at the end would escape it.
    return f'"{word}{word[len(word.rstrip(chr(92))) :]}"'


def quotable(text: str) -> str:
    """``text`` with ``?`` for what is special between double quotes in a shell of Windows. Readers write the phrases
    that commands name, and none of them may run a command of its own."""
    return re.sub(r'["“”„$`\x00-\x1f]|%(?![0-9A-Fa-f]{2})', "?", text)


def is_copy(text: str, name: str) -> bool:
    """Whether ``text`` may be ``name`` as a command to copy shows it, in any code page and on any system."""
    ways = ((printed, quotable), (quotable, printed))
    return any(last(first(text)) == last(first(name)) for last, first in ways)


def _fetch(
    again: Again,
    *,
    listing: str,
    project: str,
    date_from: str,
    date_to: str,
    every: str | None,
    by_path: bool,
) -> str:
    days = ("--from", date_from, "--to", date_to)
    if every is not None:
        totals = () if by_path else ("--totals",)
        found = again("sync", project, *days, "--every", every, *totals, "--listing", listing)
    else:
        what = ("export", "-o", f"{listing}.csv") if by_path else ("totals",)
        found = again(listing, *what, "--project", project, *days)
    return f"fetch them with `{found}`"


PROXIES = "HTTPS_PROXY, HTTP_PROXY or ALL_PROXY"
"""The variables that may name a proxy."""
ADVICE: dict[str, str | Callable[..., str] | None] = {
    **dict.fromkeys(
        "CallAfter CallLater CheckKeyRights CheckPath DoNotRepeat LookAtJob LookBeforeRepeat WaitForReset".split()
    ),
    "AvoidCache": "a proxy or cache on the way is broken: name the host in NO_PROXY to go around it",
    "ChangeAddress": lambda _, location: (
        f"redirects are never followed (to {location}): set --base-url to the service's own address"
    ),
    "ChangeRequest": lambda _, has_text: (
        "the service refuses the request as it is"
        + (": change what its text names" if has_text else ", and does not say why: check the options")
    ),
    "CheckIds": lambda _, job_path: (
        f"check the ids, {'--job-path, ' * job_path}--project and --base-url: docplatform doctor looks at the last two"
    ),
    "CheckKey": lambda _, variable: (
        f"check the API key ({variable or '--api-key-file'}): it may have expired, often after 90 days, or be of another "
        "kind; copy a valid one from the dashboard"
    ),
    "CheckNetwork": "check --base-url and the network: docplatform doctor looks at both",
    "CheckPage": "a login page, a proxy or another server may have answered: check that --base-url is the address of the API",
    "CheckProxy": lambda _, **given: f"check {given['from'] or PROXIES}",
    "EndAtStatus": lambda again, status, job: (
        f"look at the job on the platform: if it has ended, `{again('job', 'wait', '--final', status, job=job)}` shows it"
    ),
    "FetchRange": _fetch,
    "FetchSlices": lambda _, listing, every, stored: (
        f"{f'give --every {stored}, or ' if stored else ''}fetch whole ones with docplatform sync, --listing {listing} and --every {every}"
    ),
    "FewerCalls": "run it again",
    "FillStore": lambda _, listing, every, by_path: (
        "fill it with docplatform sync"
        + (f", --listing {listing} and --every {every}" if listing else "")
        + ("" if by_path else " and --totals")
    ),
    "NotStrict": "without --strict its rows come with a warning",
    "ProxyLogin": lambda _, **given: f"they belong in its URL, in {given['from'] or PROXIES}",
    "ReadFromBeginning": "read the range from its beginning, with --refresh where a store has a part of it",
    "RecordJob": lambda again, name, job: f"record it with `{_once(again, name, '--job', job)}`",
    "SmallerAnswers": "ask for less at a time: a shorter period, or a smaller --page-size where the command has it",
    "SupportedProxy": "name one with http:// or https:// there, or unset it to go directly",
    "TemporaryStore": "for a test, name one in a temporary directory",
    "UseHttps": "use https (http is for 127.0.0.1, [::1] and localhost)",
    "WaitForBudget": "call it again then, or with --on-budget wait",
}
"""Advice at the end of a sentence: its words, or a function of a command to copy and the facts. ``None``: Python's words."""


def resolve(again: Again, *, name: str, job: str | None = None, exists: bool = False) -> str:
    """How to record what became of a name; ``job`` is its job, if that is known. ``exists``: its request was certainly carried
    out. A message's job is always known."""
    sent, never = ("the job", "--never-created") if job is None else ("the message", "--never-sent")
    found = _once(again, name, "--job", job or "ID")
    if job is not None and exists:
        return (
            f"To use what was done under this name: `{found}`, then run this again. To do more, write to the job "
            f"(`{again('job', 'message', job=job)}`), or use another name where the command takes one."
        )
    how = (
        f"Find the job on the platform, and record it: `{found}`"
        if exists
        else f"Look on the platform to see whether {sent} is there. If it is: `{found}`; if it is not there after some "
        f"minutes: `{_once(again, name, never)}`"
    )
    return f"{how}. Then run this again. Until then it sends nothing."


def _once(again: Again, name: str, *options: str) -> str:
    """A command about a name. One that looks like an option comes last."""
    if name.startswith("-"):
        return again("job", "once", *options, job=name)
    return again("job", "once", name, *options)


def goes_on(again: Again, *, job: str, runs: bool) -> str:
    """How to wait for a job, and that it keeps running if the service has said so."""
    told = f"Job {shown(job)} keeps running. To wait for it" if runs else f"To wait for job {shown(job)}"
    return f"{told}: {again('job', 'wait', job=job)}"


LINES: dict[str, Callable[..., str]] = {"ResolveName": resolve, "WaitForJob": goes_on}
"""Advice that has a line of its own."""


def _parts(told: object) -> tuple[Any, ...]:
    return getattr(told, "_parts", None) or (str(told),)


def sentence(
    told: object, again: Again = command, *, advises: bool = True, where: Mapping[str, str] | None = None
) -> str:
    """The text of an error or a warning; ``where`` names other words for some settings."""
    text = ""
    for part in _parts(told):
        if isinstance(part, str):
            text += part
            continue
        name, words, value = part
        if not isinstance(value, dict):
            text += _setting((where or {}).get(name, SETTINGS[name]), value)
        elif advises and name in ADVICE:
            said = ADVICE[name]
            text += f"; {said(again, **value) if callable(said) else said or words}"
    return text


def _setting(words: str, value: object) -> str:
    if value is None or isinstance(value, bool):
        return words
    return f"{words} {quoted(str(value))}"


def lines(told: object, again: Again) -> list[str]:
    """The advice of an error that has lines of its own."""
    found = [part for part in _parts(told) if not isinstance(part, str) and part[0] in LINES]
    return [LINES[name](again, **facts) for name, _, facts in found]


def has(name: str, told: object) -> bool:
    """Whether an error gives the advice, or names the setting, of this name."""
    return any(not isinstance(part, str) and part[0] == name for part in _parts(told))


def whole(told: object, again: Again) -> str:
    """The text of an error with all its advice, for one value of a table or a document."""
    return ". ".join((sentence(told, again), *lines(told, again)))
