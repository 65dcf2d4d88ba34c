"""Rewrites the package's messages, which name Python's arguments, with the options of the command line."""

from __future__ import annotations

import re

OPTIONS = {
    "api_key": "--api-key-file",
    "base_url": "--base-url",
    "before": "--before",
    "ca_bundle": "--ca-bundle",
    "date_from": "--from",
    "date_to": "--to",
    "every": "--every",
    "final": "--final",
    "job_path": "--job-path",
    "jobs_per_hour": "--jobs-per-hour",
    "max_rows": "--max-rows",
    "on_budget": "--on-budget",
    "once": "--once",
    "organization": "--organization",
    "page_size": "--page-size",
    "poll_interval": "--poll-interval",
    "project_id": "--project",
    "refresh": "--refresh",
    "requests_per_hour": "--requests-per-hour",
    "reserve": "--reserve",
    "settle_days": "--settle-days",
    "source": "--source",
    "status": "--status",
    "store": "--store",
    "whole": "--whole",
}
"""The option of each argument that a message may name."""

_NAMED = re.compile(
    # A value in quotes stays, without them.
    # A name without an underscore is an ordinary word, too: it is an argument only at the beginning, or before "=".
    # A name in braces is part of a path template.
    rf"(?<!{{)\b({'|'.join(name for name in OPTIONS if '_' in name)})\b(?:=\"([^\"]*)\"|=)?"
    rf"|^(before|every|once|organization|reserve)\b=?|\b({'|'.join(name for name in OPTIONS if '_' not in name)})=(?:\"([^\"]*)\"|True\b)?"
)
_NOT_HERE = re.compile(
    r",? or (?:for |pass |with )?allow_http=True| to the call or the client\b|\bperiod=(?=\")|, and without resume\b| \(os error \d+\)"
)
"""What the command line does not have."""


def as_options(text: str, **where: str) -> str:
    """``text`` with an option for each argument; ``where`` names another replacement for some of them."""
    names = OPTIONS | where

    def option(found: re.Match[str]) -> str:
        name, *value = (group for group in found.groups() if group is not None)
        return " ".join((names[name], *value))

    return _NAMED.sub(option, _NOT_HERE.sub("", text))
