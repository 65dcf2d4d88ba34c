"""See where readers of your docs get stuck, people and AI agents, and hand the docs agent the fix.

>>> import docplatform
>>> client = docplatform.Client()  # reads DOCPLATFORM_API_KEY, DOCPLATFORM_BASE_URL and DOCPLATFORM_PROJECT_ID
>>> worst = client.fix_first("2026-10")[0]
>>> worst["path"], worst["why"]
('/guides/deployment', '39 of 52 ratings are thumbs down, and 17 questions on this page were not answered.')
>>> client.run_job(worst["prompt"]).pr_link
'https://github.com/example/docs/pull/1'
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from docplatform._native import (
    AsyncClient,
    AsyncRows,
    AsyncVisitors,
    Client,
    Comparison,
    FixList,
    Job,
    Rows,
    Table,
    TrendTable,
    Visitors,
    VisitorTable,
    __version__,
)
from docplatform.errors import (
    AuthenticationError,
    BadRequestError,
    BudgetError,
    ConfigurationError,
    ConflictError,
    ConnectError,
    DataChangedWarning,
    DatasetError,
    DataWarning,
    DocPlatformError,
    JobFailedError,
    NetworkError,
    NotFoundError,
    PaginationError,
    PermissionDeniedError,
    RateLimitError,
    RequestTimeoutError,
    ResponseError,
    ServerError,
    StatusError,
    StoreBusyError,
    SyncError,
    TransportError,
    UnconfirmedWriteError,
    UnprocessableError,
    UnrecordedJobWarning,
    WaitTimeoutError,
    WaitWarning,
)
from docplatform.types import (
    Attempt,
    DatasetReport,
    Fractions,
    JobsReport,
    Plan,
    PlanSlice,
    Response,
    RowsPage,
    Source,
    Stats,
    SyncFailure,
    SyncReport,
    Totals,
    VisitorRow,
    VisitorsPage,
)

if TYPE_CHECKING:
    from docplatform.dataset.export import export_dataset
    from docplatform.dataset.reading import read_views, read_visitors

if "logging" in sys.modules:
    # Else the first client does it: importing logging would cost a third of this package's import.
    from docplatform._hooks import logging as _logging  # noqa: F401

__all__ = [
    "AsyncClient",
    "AsyncRows",
    "AsyncVisitors",
    "Attempt",
    "AuthenticationError",
    "BadRequestError",
    "BudgetError",
    "Client",
    "Comparison",
    "ConfigurationError",
    "ConflictError",
    "ConnectError",
    "DataChangedWarning",
    "DataWarning",
    "DatasetError",
    "DatasetReport",
    "DocPlatformError",
    "FixList",
    "Fractions",
    "Job",
    "JobFailedError",
    "JobsReport",
    "NetworkError",
    "NotFoundError",
    "PaginationError",
    "PermissionDeniedError",
    "Plan",
    "PlanSlice",
    "RateLimitError",
    "RequestTimeoutError",
    "Response",
    "ResponseError",
    "Rows",
    "RowsPage",
    "ServerError",
    "Source",
    "Stats",
    "StatusError",
    "StoreBusyError",
    "SyncError",
    "SyncFailure",
    "SyncReport",
    "Table",
    "Totals",
    "TransportError",
    "TrendTable",
    "UnconfirmedWriteError",
    "UnprocessableError",
    "UnrecordedJobWarning",
    "VisitorRow",
    "VisitorTable",
    "Visitors",
    "VisitorsPage",
    "WaitTimeoutError",
    "WaitWarning",
    "__version__",
    "export_dataset",
    "read_views",
    "read_visitors",
]


def __getattr__(name: str) -> Any:
    # Few need these, and they take longer to import than all the rest.
    if name == "export_dataset":
        from docplatform.dataset.export import export_dataset

        return export_dataset
    if name in {"read_views", "read_visitors"}:
        from docplatform.dataset import reading

        return getattr(reading, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "errors", "types"]
