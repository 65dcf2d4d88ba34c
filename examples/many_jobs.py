"""Many tasks at the same time, with asyncio.

Run it with DOCPLATFORM_BASE_URL, DOCPLATFORM_API_KEY and DOCPLATFORM_PROJECT_ID set.
"""

import asyncio

import docplatform

TASKS = ["Fix the broken links", "Explain the rate limits", "Add an example to the webhooks page"]


async def main() -> None:
    async with docplatform.AsyncClient() as client:
        runs = [client.run_job(task, check=False) for task in TASKS]
        # Not a TaskGroup: its first failure cancels the others, maybe while their jobs are being created.
        jobs = await asyncio.gather(*runs, return_exceptions=True)
    for task, job in zip(TASKS, jobs, strict=True):
        if isinstance(job, docplatform.Job):
            print(f"{job.status:>10}  {job.pr_link}  {task}")
        else:
            print(f"{'error':>10}  {job}  {task}")


asyncio.run(main())
