"""Several tasks for the agent at a time. Run it again: no job is created twice.

docplatform stub --run -- python many_jobs.py
"""

import docplatform

TASKS = {
    "quickstart-1.4": "Update the quickstart for release 1.4",
    "changelog-1.4": "Write the changelog of release 1.4",
    "links-1.4": "Fix the broken links in the guides",
}

with docplatform.Client(store="docs.db", jobs_per_hour=100) as client:
    report = client.run_jobs(TASKS, once=True)
for name, job in report.done.items():
    print(f"{name}: {job.pr_link}")
for name, problem in {**report.failed, **report.unknown}.items():
    print(f"{name}: {problem}")
