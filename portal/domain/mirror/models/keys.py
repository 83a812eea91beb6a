"""The keys of key boxes."""

from datetime import datetime

from django.db import models
from django.db.models import TextChoices
from django.utils.translation import pgettext_lazy

from portal.domain.mirror.models.places import KeyBox
from portal.domain.mirror.natural_sort import natural_sort_column
from tenants.models import TenantModel


class KeyState(TextChoices):
    """The state of a key, derived in `portal.domain.mirror.key_states`."""

    OUT = "out", pgettext_lazy("key", "Out")
    UNKNOWN = "", pgettext_lazy("key", "Unknown")
    IN = "in", pgettext_lazy("key", "In the box")

    @property
    def chip(self) -> str:
        """Return the name of the chip that shows the state."""
        return f"key_{self.value}" if self.value else "unknown"


class Key(TenantModel):
    """One key of a key box (specification: "Key box", units and units_status), and its holder.

    - `state`: from the last reading (`read_…`) or the newest log record (`record_…`), the newer of the two.
    - `differs`: a newer reading contradicts the record.
    - `since`: start of the state, null if unknown. For a first reading it is the time of that reading, although the key
      may have been there much longer (`read_saw_change` is false).
    - `wrong`: the last reading found another key in this key's place.
    - `holder_id`, `holder_name`: the person in the record, while the key is out according to it.
    - `raw`: the reading of this key, unchanged.
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
        app_label = "mirror"
        constraints = [models.UniqueConstraint(fields=["tenant", "key_box", "unit_no"], name="mirror_key_once")]
        indexes = [
            models.Index(fields=["tenant", "since"], name="mirror_key_out", condition=models.Q(state="out")),
            models.Index(fields=["tenant"], name="mirror_key_wrong", condition=models.Q(wrong=True)),
        ]

    def __str__(self) -> str:
        return f"{self.unit_no} {self.unit_name}".strip()

    def since_seen(self, *, by_log: bool = True) -> tuple[datetime | None, bool]:
        """Return the start of the state, and whether the change may have been earlier. None: no change was observed.

        A record has the exact moment of a change; two different readings only show that it was before the second.
        `by_log`: records count, too.
        """
        if by_log and self.state == self.record_state and not self.differs:
            return self.since, False
        since = self.since if by_log else self.read_since
        return (since, True) if self.read_saw_change else (None, False)

    @property
    def errors(self) -> list[str]:
        """Return the errors in the reading of the key, in the service's words."""
        errors = self.raw.get("errors")
        return [str(error) for error in errors] if isinstance(errors, list) else [str(errors)] if errors else []

    @property
    def word(self) -> str:
        """Return the service's word for the position of the key."""
        return str(self.raw.get("key") or "")
