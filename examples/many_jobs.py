"""Many tasks at the same time, with asyncio. However it ends, run it again: no job is created twice.

Run it with DOCPLATFORM_BASE_URL, DOCPLATFORM_API_KEY and DOCPLATFORM_PROJECT_ID set.
"""

import asyncio

import docplatform

TASKS = {
    "links-1.4": "Fix the broken links",
    "limits-1.4": "Explain the rate limits",
    "webhooks-1.4": "Add an example to the webhooks page",
}


async def main() -> None:
    async with docplatform.AsyncClient(store="jobs.db") as client:
        # The store keeps the names: the same name and task are the same job.
        runs = [client.run_job(task, once=name, check=False) for name, task in TASKS.items()]
        # Not a TaskGroup: its first failure cancels the others, maybe while their jobs are being created.
        jobs = await asyncio.gather(*runs, return_exceptions=True)
    for task, job in zip(TASKS.values(), jobs, strict=True):
        if isinstance(job, docplatform.Job):
            print(f"{job.status:>10}  {job.pr_link}  {task}")
        else:
            print(f"{'error':>10}  {job}  {task}")


asyncio.run(main())
