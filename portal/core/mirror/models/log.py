"""The log: its records, and what they are found by. Both tables are partitioned by month
(`mirror/log_partitions.py`).
"""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from tenants.models import TenantModel


class History(TenantModel):
    """A log record (specification: "Log (history) record", operation 23), kept once for each history_id.

    Texts are the service's own; sets of values are not shown, so any may come. `member_id` is whoever the record is
    about: a member or a guest, as `member_type` says. What the service puts into `member.data` (a card's number, a
    code) is never kept. `extra` holds, verbatim, what the specification does not name, but for what sounds secret.
    `said_key` is what is searched, folded. `notified`: a notification told of it and the log was not read since; the
    log's own record takes its place. `told_at`: the moment that a notification told, where the log says another; with
    it every record has one moment that never changes.
    """

    # Every index of this table begins with the tenant: one more would only slow the readings down.
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
    said_key = models.TextField(blank=True, default="", db_default="", db_collation="C")
    notified = models.BooleanField(default=False, db_default=False)
    told_at = models.DateTimeField(null=True)

    class Meta:
        # In the database the primary key is (id, at), as partitions need it.
        constraints = [
            models.UniqueConstraint(fields=["tenant", "history_id", "at"], name="mirror_history_once_a_moment")
        ]
        indexes = [
            models.Index(fields=["tenant", "-at", "-id"], name="mirror_history_newest"),
            models.Index(
                fields=["tenant", "member_id", "-at"], name="mirror_history_of_member", condition=~Q(member_id="")
            ),
            models.Index(
                fields=["tenant", "device_id", "-at"], name="mirror_history_of_device", condition=~Q(device_id="")
            ),
            models.Index(fields=["tenant"], name="mirror_history_notified", condition=Q(notified=True)),
            models.Index(
                fields=["tenant", "told_at"], name="mirror_history_dated_again", condition=Q(told_at__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M:%S} {self.content}"

    @property
    def text(self) -> str:
        """Return what happened, in the service's words: some services write it into the member's label."""
        return self.content or self.member_label

    @property
    def texts(self) -> list[str]:
        """Return both places of such words: of a key they may stand in the label beside another text."""
        return [self.content, self.member_label]


class HistorySearch(models.Model):
    """What a record is found by: when it was, and keyed hashes of what it says. Nothing
    readable.

        Not a TenantModel and without row security, like MemberSearch and for its reason. Only `mirror/log_search.py`
        touches it; the record itself, under row security, is what people see.
    """

    id = models.BigIntegerField(primary_key=True)  # that of the record; in the database there is no key besides
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.CASCADE, db_constraint=False, db_index=False)
    at = models.DateTimeField()
    pieces = ArrayField(models.IntegerField())

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "-at", "-id"], name="mirror_historysearch_newest"),
            GinIndex(fields=["pieces"], gin_pending_list_limit=1024, name="mirror_historysearch_pieces"),
        ]

    def __str__(self) -> str:
        return f"{self.id} {self.at:%Y-%m-%d %H:%M:%S}"


class HistoryDay(TenantModel):
    """A day older than what is read by itself, that somebody asked for (`mirror/coverage.py`).

    Waiting until it has `read_at` or `reason`, a word of `mirror/failure_reasons.py` for why the service refused it.
    """

    day = models.DateField()
    asked_at = models.DateTimeField(db_default=Now())
    read_at = models.DateTimeField(null=True)
    reason = models.CharField(max_length=60, blank=True, default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "day"], name="mirror_historyday_once")]

    def __str__(self) -> str:
        return f"{self.day}"
