"""What was asked for, and what it took: the small print of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import docplatform
from docplatform.cli.report.markup import account

if TYPE_CHECKING:
    from docplatform.cli.report.figures import Report


def facts(report: Report) -> list[tuple[str, str]]:
    """Names and values."""
    return [
        ("Project", report.project),
        ("Period", report.name or "not named"),
        *([("Compared with", report.comparison.name)] if report.comparison is not None else []),
        ("Asked on", f"{report.made:%Y-%m-%d %H:%M} UTC"),
        ("Pages with visitors", f"{report.pages:,}"),
        ("Requests", account(report.requests)),
        ("Made by", f"docplatform {docplatform.__version__}"),
        *(("Found on the way", warning) for warning in report.warnings),
    ]
