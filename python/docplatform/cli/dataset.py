"""``docplatform dataset``: what a store has of a listing, as a Parquet dataset."""

from __future__ import annotations

import re
from typing import Any

import click

from docplatform import DatasetError, DatasetReport, export_dataset
from docplatform._hooks import frames
from docplatform.cli import exits, output
from docplatform.cli.days import PERIODS, days_and_projects, every_option, projects_options
from docplatform.cli.help import Command
from docplatform.cli.listings import listing_option
from docplatform.cli.session import Session, arguments, logged, with_store

EXAMPLE = """\b
After each sync; files that are there already are kept, and with --strict a missing slice is exit code 1:
  docplatform sync --last 30 docs --listing searches --store docs.db
  docplatform dataset lake --listing searches --store docs.db --last 30 --strict

"""


@click.command("dataset", cls=Command, epilog=EXAMPLE + PERIODS)
@click.argument("folder", type=click.Path(file_okay=False), metavar="FOLDER")
@projects_options
@every_option("day", "are left out if the range cuts them")
@listing_option("What to write.")
@click.option(
    "--strict",
    is_flag=True,
    help="Fail if the store lacks slices, instead of only warning; what it has is written.",
)
@with_store
def dataset(
    session: Session,
    *,
    folder: str,
    every: Any,
    listing: Any,
    strict: bool,
    **given: Any,
) -> None:
    """Write a listing from the --store into FOLDER, as a Parquet dataset: one file for each project and slice.

    FOLDER may be in an object store, as s3://bucket/lake or gs://bucket/lake. It sends no request to the platform and needs no
    API key. pandas, polars, DuckDB, Spark, Dask and Ray read FOLDER/listing=visitors.

    The PERIOD comes first, unless --from and --to or --last name the days; projects come after it. Without a PERIOD, it writes
    every slice of this length that the store has; without a PROJECT or --project, those of all projects, whatever DOCPLATFORM_PROJECT_ID says. A project that the store lacks is
    named, and with --strict it is an error.
    """
    if session.store is None:
        raise click.UsageError("dataset reads a store: name its file with --store, or in DOCPLATFORM_STORE")
    ends, projects = days_and_projects(session, every=every, **given)

    def printed(report: DatasetReport, error: DatasetError | None = None) -> None:
        if session.json:
            # A URI may have a key in it.
            place = re.sub(r"(?<=://)[^/]*@", "", folder)
            about = {"folder": place, "listing": listing, "every": every}
            told = error and exits.facts(error, session.again)
            output.document({**about, **report._asdict(), "error": told})
        else:
            output.fields([("listing", listing), *report._asdict().items()])

    choice: dict[str, Any] = {"settle_days": session.settle_days} if session.settle_days is not None else {}
    try:
        with arguments(), logged(session):
            report = export_dataset(
                folder,
                store=session.store,
                listing=listing,
                projects=projects or None,
                **ends,
                every=every,
                base_url=session.base_url,
                organization=session.organization,
                strict=strict,
                **choice,
            )
    except ImportError:
        way = "object_store" if "://" in folder else "export_dataset"
        raise click.UsageError(frames.needs(way, "dataset")) from None
    except DatasetError as error:
        printed(error.dataset, error)
        raise
    printed(report)
