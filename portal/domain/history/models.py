"""The records of the log and their search rows. Both tables are partitioned by month (`partitions.py`)."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from tenants.models import TenantModel


class History(TenantModel):
    """A log record (specification: "Log (history) record", operation 23), stored once for each history_id.

    - Texts are the service's own; the specification lists no complete sets of values, so any may occur.
    - `member_id`: the member or guest that the record is about, as `member_type` says. The service's `member.data`
      (a card's number, a code) is never stored.
    - `extra`: data that the specification does not name, unchanged, without secrets.
    - `text_key`: the folded text for searching.
    - `notified`: the record came from a notification and the log was not read since. The log's own record replaces it.
    - `notified_at`: the moment in the notification, if the log has another, so that a record's moment never changes.
    """

    # Every index of this table begins with the tenant; another index would only slow down the readings.
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, db_index=False)

    history_id = models.TextField(db_collation="C")
    at = models.DateTimeField()
    status = models.TextField(blank=True, default="")
    category = models.TextField(blank=True, default="")
    content = models.TextField(blank=True, default="")
    member_id = models.TextField(blank=True, default="", db_collation="C")
    member_name = models.TextField(blank=True, default="")
    member_type = models.TextField(blank=True, default="")
    member_label = models.TextField(blank=True, default="")
    member_attribute = models.TextField(blank=True, default="")
    device_id = models.TextField(blank=True, default="", db_collation="C")
    device_name = models.TextField(blank=True, default="")
    device_module = models.TextField(blank=True, default="")
    units = models.JSONField(default=list)
    extra = models.JSONField(default=dict)
    text_key = models.TextField(blank=True, default="", db_default="", db_collation="C")
    notified = models.BooleanField(default=False, db_default=False)
    notified_at = models.DateTimeField(null=True)

    class Meta:
        # In the database the primary key is (id, at), as partitions need it.
        constraints = [
            models.UniqueConstraint(fields=["tenant", "history_id", "at"], name="history_history_once_a_moment")
        ]
        indexes = [
            models.Index(fields=["tenant", "-at", "-id"], name="history_history_newest"),
            models.Index(
                fields=["tenant", "member_id", "-at"], name="history_history_of_member", condition=~Q(member_id="")
            ),
            models.Index(
                fields=["tenant", "device_id", "-at"], name="history_history_of_device", condition=~Q(device_id="")
            ),
            models.Index(fields=["tenant"], name="history_history_notified", condition=Q(notified=True)),
            models.Index(
                fields=["tenant", "notified_at"],
                name="history_history_dated_again",
                condition=Q(notified_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M:%S} {self.content}"

    @property
    def text(self) -> str:
        """Return what happened, in the service's words. Some services write it into the member's label."""
        return self.content or self.member_label

    @property
    def texts(self) -> list[str]:
        """Return both texts that may describe the event; for keys, it may be in the label although there is content."""
        return [self.content, self.member_label]


class HistorySearch(models.Model):
    """The search row of a record: its moment and keyed hashes of its text, nothing readable.

    Not a TenantModel and without row security, for the same reason as MemberSearch. Only `search.py` uses
    it; people see the record itself, which is under row security.
    """

    id = models.BigIntegerField(primary_key=True)  # the record's ID; the database has no primary key here
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.CASCADE, db_constraint=False, db_index=False)
    at = models.DateTimeField()
    pieces = ArrayField(models.IntegerField())

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "-at", "-id"], name="history_historysearch_newest"),
            GinIndex(fields=["pieces"], gin_pending_list_limit=1024, name="history_historysearch_pieces"),
        ]

    def __str__(self) -> str:
        return f"{self.id} {self.at:%Y-%m-%d %H:%M:%S}"


class HistoryDay(TenantModel):
    """An older day of the log that a person requested (`coverage.py`).

    It waits until it has `read_at` or `reason`, the word in `sync/failure_reasons.py` for the service's refusal.
    """

    day = models.DateField()
    requested_at = models.DateTimeField(db_default=Now())
    read_at = models.DateTimeField(null=True)
    reason = models.CharField(max_length=60, blank=True, default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "day"], name="history_historyday_once")]

    def __str__(self) -> str:
        return f"{self.day}"
