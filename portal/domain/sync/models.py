"""The state of the mirror: when each kind was last read, what is being read, and what is due."""

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models

from tenants.models import TenantModel
from tenants.vault import EncryptedBytes, EncryptedField


def sealing_field(model: type[models.Model], name: str) -> EncryptedField:
    """Return an encrypted field of a model, for rows that are written in SQL. Raises TypeError for other fields."""
    field = model._meta.get_field(name)
    if not isinstance(field, EncryptedField):
        raise TypeError(f"{model.__name__}.{name} is not encrypted")
    return field


class MirrorState(TenantModel):
    """The state of one kind of one tenant: freshness, total, next reading, and lease.

    - `as_of`: when the reading of the last complete list began.
    - `due_at`: when to read next. A timer starts a task for kinds that are due and not leased; `woken_at` is when.
    - `lease`: the token of the worker that may write. A worker whose token is no longer here must stop.
    - `every`: seconds between two readings if notifications report changes; null for `events.READ_INTERVALS`.
    - `awaited`: a person, a notification or an import waits for the next reading.
    - `late`: spans of the log with records that devices reported late, [since, until] each, to be read next.
    """

    kind = models.CharField(max_length=30)  # a MirrorKind
    as_of = models.DateTimeField(null=True)
    total = models.IntegerField(default=0)
    due_at = models.DateTimeField(null=True)
    woken_at = models.DateTimeField(null=True)
    lease = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)
    error = models.CharField(max_length=60, blank=True, default="")
    error_at = models.DateTimeField(null=True)
    failures = models.IntegerField(default=0)
    every = models.PositiveIntegerField(null=True)
    awaited = models.BooleanField(default=False, db_default=False)
    late = models.JSONField(default=list, db_default=[])
    memory = models.JSONField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "kind"], name="sync_state_once")]
        indexes = [models.Index(fields=["due_at"], name="sync_state_due")]


class SyncRun(TenantModel):
    """One reading of a long list, page by page; another worker can continue it.

    `cursor` is the cursor for the next page ("" for the first). `complete`: the last page is stored.
    """

    class State(models.TextChoices):
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"

    kind = models.CharField(max_length=30)  # a MirrorKind
    state = models.CharField(max_length=10, default=State.RUNNING)
    cursor = models.TextField(blank=True, default="")
    complete = models.BooleanField(default=False)
    pages = models.IntegerField(default=0)
    rows = models.IntegerField(default=0)
    expected = models.IntegerField(null=True)
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    reason = models.CharField(max_length=60, blank=True, default="")
    changed = models.IntegerField(default=0)
    removed = models.IntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "kind"],
                name="sync_syncrun_one_running",
                condition=models.Q(state="running"),
            )
        ]
        indexes = [models.Index(fields=["tenant", "kind", "-started_at"], name="sync_syncrun_latest")]


class StagedPage(TenantModel):
    """A page of a running SyncRun that waits for the swap: as the service sent it, compressed and encrypted.

    If `listed` holds the IDs of all items on the page, `body` holds only the new and changed items.
    """

    run = models.ForeignKey(SyncRun, on_delete=models.CASCADE)
    number = models.IntegerField()
    cursor = models.TextField(blank=True, default="")  # with which this page was requested
    listed = ArrayField(models.TextField(), default=list)
    body = EncryptedBytes()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "number"], name="sync_stagedpage_once"),
            models.UniqueConstraint(fields=["run", "cursor"], name="sync_stagedpage_cursor"),
        ]


class SharedReading(TenantModel):
    """A single read in progress or just finished, so that people who request the same data at once share one call."""

    key = models.TextField(db_collation="C")
    token = models.UUIDField(default=uuid.uuid4)
    until = models.DateTimeField()
    answered_at = models.DateTimeField(null=True)
    answer = EncryptedBytes(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "key"], name="sync_sharedreading_once")]
        indexes = [models.Index(fields=["until"], name="sync_sharedreading_until")]
