"""Export a month of visitors to a file. However it ends, run it again to continue where it stopped.

Run it with DOCPLATFORM_BASE_URL, DOCPLATFORM_API_KEY and DOCPLATFORM_PROJECT_ID set.
"""

import sys

import docplatform

# The store keeps every page as it comes, so that no request is sent twice, and no row is lost or doubled.
with docplatform.Client(store="docs.db") as client:
    visitors = client.visitors("2026-10")  # or "2026-Q3", "2026-W42", "last 7 days"
    try:
        rows = visitors.to_jsonl("visitors.jsonl")
    except docplatform.DocPlatformError as error:
        sys.exit(f"{error}\nThe pages that were fetched are in docs.db: run this again to continue.")
    print(f"{rows:,} rows, {client.stats.requests} requests")
