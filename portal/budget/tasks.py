"""The bell of forgetting."""

from portal.budget import forgetting
from portal.celery import promised


@promised(queue="sync", promise="tick", seconds=60)
def tick() -> None:
    forgetting.forget()
