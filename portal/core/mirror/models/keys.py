"""The keys of key boxes."""

from datetime import datetime

from django.db import models
from django.db.models import TextChoices
from django.utils.translation import pgettext_lazy

from portal.core.mirror.models.places import KeyBox
from portal.core.mirror.natural_sort import natural_sort_column
from tenants.models import TenantModel


class KeyState(TextChoices):
    """What is known of a key in one word (`portal.core.mirror.key_states` folds it)."""

    OUT = "out", pgettext_lazy("key", "Out")
    UNKNOWN = "", pgettext_lazy("key", "Unknown")
    IN = "in", pgettext_lazy("key", "In the box")

    @property
    def chip(self) -> str:
        """The name of the chip that shows it."""
        return f"key_{self.value}" if self.value else "unknown"


class Key(TenantModel):
    """One key of a key box (specification: "Key box", units and units_status), and who has it.

    `state` follows from the last reading (`read_…`) and the newest record of the log (`record_…`), whichever is newer;
    `differs` where a reading that is newer contradicts the record. `since` is null where nobody told since when; of the
    first reading it is when that was, and the key may have been there long before (`read_saw_change` is false).
    `wrong`: the last reading found another key in its place. The holder is whom the record names, while the key is out
    by it. `raw` is the reading of this key, verbatim.
    """

    key_box = models.ForeignKey(KeyBox, on_delete=models.CASCADE, related_name="keys")
    unit_no = models.TextField(db_collation="C")
    number_order = natural_sort_column("unit_no", "unit_no")
    unit_name = models.TextField(blank=True, default="")
    restriction = models.BooleanField(null=True)
    state = models.CharField(max_length=3, choices=KeyState, blank=True, default=KeyState.UNKNOWN)
    since = models.DateTimeField(null=True)
    differs = models.BooleanField(default=False)
    known_at = models.DateTimeField(null=True)
    holder_id = models.TextField(blank=True, default="", db_collation="C")
    holder_name = models.TextField(blank=True, default="")
    read_state = models.CharField(max_length=3, choices=KeyState, blank=True, default=KeyState.UNKNOWN)
    read_since = models.DateTimeField(null=True)
    read_saw_change = models.BooleanField(default=False, db_default=False)
    read_at = models.DateTimeField(null=True)
    lock = models.CharField(max_length=8, blank=True, default="")
    wrong = models.BooleanField(default=False, db_default=False)
    raw = models.JSONField(default=dict)
    record_state = models.CharField(max_length=3, choices=KeyState, blank=True, default=KeyState.UNKNOWN)
    record_at = models.DateTimeField(null=True)
    record_heard_at = models.DateTimeField(null=True)
    record_id = models.TextField(blank=True, default="", db_collation="C")
    person_id = models.TextField(blank=True, default="", db_collation="C")
    person_name = models.TextField(blank=True, default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "key_box", "unit_no"], name="mirror_key_once")]
        indexes = [
            models.Index(fields=["tenant", "since"], name="mirror_key_out", condition=models.Q(state="out")),
            models.Index(fields=["tenant"], name="mirror_key_wrong", condition=models.Q(wrong=True)),
        ]

    def __str__(self) -> str:
        return f"{self.unit_no} {self.unit_name}".strip()

    def since_seen(self, *, by_log: bool = True) -> tuple[datetime | None, bool]:
        """Return since when it is where it is, and whether it may have come there before. None: nobody saw the change.

        A record tells the moment of a change, two readings that differ that it was before the second. `by_log`: records
        count, too.
        """
        if by_log and self.state == self.record_state and not self.differs:
            return self.since, False
        since = self.since if by_log else self.read_since
        return (since, True) if self.read_saw_change else (None, False)

    @property
    def errors(self) -> list[str]:
        """What the reading says is wrong with it, in the service's words."""
        errors = self.raw.get("errors")
        return [str(error) for error in errors] if isinstance(errors, list) else [str(errors)] if errors else []

    @property
    def word(self) -> str:
        """The service's word for where the key is."""
        return str(self.raw.get("key") or "")
