"""The small print of a report: which data it shows, when it was fetched, and what it cost."""

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
        ("Period", report.name),
        *([("Compared with", report.comparison.name)] if report.comparison is not None else []),
        ("Fetched on", f"{report.made:%Y-%m-%d %H:%M} UTC"),
        ("Pages that were read", f"{report.pages:,}"),
        ("Requests", account(report.requests)),
        ("Made by", f"docplatform {docplatform.__version__}"),
        *(("Warning", warning) for warning in report.warnings),
    ]
