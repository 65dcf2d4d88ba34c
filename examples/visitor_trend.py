"""The visitors of the last 90 days, kept: run it every day, and it fetches the new days and those that may change.

Run it with DOCPLATFORM_BASE_URL, DOCPLATFORM_API_KEY and DOCPLATFORM_PROJECT_ID set. Stop it whenever you like.
"""

import logging
from datetime import UTC, datetime, timedelta

import docplatform

# If the budget is spent, the wait for the next hour is logged.
logging.basicConfig(format="%(message)s", level=logging.WARNING)
logging.getLogger("docplatform").setLevel(logging.INFO)

today = datetime.now(UTC).date()
begin = today - timedelta(days=90)

with docplatform.Client(requests_per_hour=100, reserve=10, store="docs.db") as client:
    plan = client.plan_visitors(date_from=begin, date_to=today, every="day", by_path=False)
    print(plan)
    trend = client.visitor_trend(date_from=begin, date_to=today)  # the end is exclusive: up to yesterday
    trend.to_csv("trend.csv")
    print(
        f"{len(trend)} days for {trend.requests} requests; those from {trend.open_from} on may still change"
    )
