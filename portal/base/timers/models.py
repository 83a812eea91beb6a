"""The leading clock, and the progress of each round. These rows belong to no tenant."""

from django.db import models
from django.db.models.functions import Now


class Lease(models.Model):
    """The single row that the leading clock renews each second.

    `host` is for people: "web-1, process 4711". `identity` is the identity of the database in which it was written
    (`database_identity.py`).
    """

    holder = models.UUIDField(null=True)
    host = models.TextField(blank=True, default="")
    since = models.DateTimeField(db_default=Now())
    identity = models.TextField(blank=True, default="")
    ticked_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.host


class TimerRun(models.Model):
    """A timer that does its work in rounds: when the next run is due, and where the round continues.

    `place` is the last processed position, usually a tenant. `done_at` is when a round was last complete.
    """

    name = models.CharField(primary_key=True, max_length=60)
    due_at = models.DateTimeField(db_default=Now())
    place = models.BigIntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now())
    done_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.name
