"""Many tasks at the same time, with asyncio.

Run it with DOCPLATFORM_BASE_URL, DOCPLATFORM_API_KEY and DOCPLATFORM_PROJECT_ID set.
"""

import asyncio

import docplatform

TASKS = ["Fix the broken links", "Explain the rate limits", "Add an example to the webhooks page"]


async def main() -> None:
    async with docplatform.AsyncClient() as client, asyncio.TaskGroup() as group:
        jobs = [group.create_task(client.run_job(task, check=False)) for task in TASKS]
    for task, job in zip(TASKS, jobs, strict=True):
        print(f"{job.result().status:>10}  {job.result().pr_link}  {task}")


asyncio.run(main())
