"""The bell of forgetting."""

from portal.core.budget import forgetting
from portal.site.celery import promised


@promised(queue="sync", promise="tick", seconds=60)
def tick() -> None:
    forgetting.forget()
