"""Export a month of visitors to a file, and go on where it stopped if it is run again.

Run it with DOCPLATFORM_BASE_URL, DOCPLATFORM_API_KEY and DOCPLATFORM_PROJECT_ID set.
"""

import json
import sys
from pathlib import Path

import docplatform

rows = Path("visitors.jsonl")
checkpoint = Path("visitors.checkpoint")

with docplatform.Client() as client:
    if checkpoint.exists():
        visitors = client.visitors(resume=checkpoint.read_text())
    else:
        visitors = client.visitors(date_from="2026-01-01", date_to="2026-02-01")  # the end is exclusive
        rows.unlink(missing_ok=True)
    with rows.open("a") as file:
        try:
            for row in visitors:
                file.write(json.dumps(row) + "\n")
        except docplatform.DocPlatformError as error:
            checkpoint.write_text(visitors.checkpoint)
            sys.exit(f"{error}\nrun this again to go on behind the last row")
    checkpoint.unlink(missing_ok=True)
    print(f"{visitors.totals().total:,} visitors, {client.stats.requests} requests")
