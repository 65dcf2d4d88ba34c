"""Hand the docs agent a task, wait for the pull request, and ask for one change to it.

Run it with DOCPLATFORM_BASE_URL, DOCPLATFORM_API_KEY and DOCPLATFORM_PROJECT_ID set.
"""

import sys

import docplatform

with docplatform.Client() as client:
    try:
        job = client.run_job(
            "Fix the broken links on the quickstart page",
            timeout=1800,
            on_poll=lambda job: print(f"{job.id}: {job.status}", file=sys.stderr),
        )
    except docplatform.UnconfirmedWriteError as error:
        # The answer was lost: the job may exist. Only you can look, and only then send it again.
        sys.exit(f"look on the platform before you run this again: {error}")
    except docplatform.WaitTimeoutError as error:
        # The job keeps running: wait for it again, from another process too.
        sys.exit(f"still {error.job.status if error.job else 'unseen'} after half an hour: {error}")
    job = client.follow_up(job, "Mention the new port, too")
    print(job.pr_link)
