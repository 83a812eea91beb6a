"""Areas, doors, key boxes with their keys, and the service's record of the tenant."""

import re
from datetime import datetime

from django.db import models
from django.db.models import F, Func, Q, TextChoices, Value
from django.db.models.functions import Coalesce, NullIf
from django.utils.translation import pgettext_lazy

from tenants.models import TenantModel
from tenants.vault import EncryptedJSON

# Numbers are compared by their last 10 digits. PostgreSQL without ICU has no collation for numbers.
_DIGITS = 10
_WIDE = str.maketrans("０１２３４５６７８９", "0123456789")


def natural_key(name: str) -> str:
    """Return the sort key of a name, in which all numbers have the same number of digits."""
    return re.sub(r"[0-9]+", lambda number: number[0].zfill(_DIGITS)[-_DIGITS:], name.translate(_WIDE))


def natural_sort_column(name: str, identifier: str) -> models.GeneratedField:
    """Return a column with the `natural_key` of the column `name`, or of `identifier` for rows without a name."""
    name_or_id = Coalesce(NullIf(F(name), Value("")), F(identifier))
    narrow = Func(name_or_id, Value("０１２３４５６７８９"), Value("0123456789"), function="translate")
    filled = _replaced(narrow, r"([0-9]+)", "0" * _DIGITS + r"\1")
    cut = _replaced(filled, rf"[0-9]*([0-9]{{{_DIGITS}}})", r"\1")
    return models.GeneratedField(expression=cut, output_field=models.TextField(db_collation="C"), db_persist=True)


def _replaced(text: Func, pattern: str, by: str) -> Func:
    return Func(text, Value(pattern), Value(by), Value("g"), function="regexp_replace")


class Area(TenantModel):
    """An area (specification: "Area"). `devices_list` is the service's array of {device_id, in_out}, unchanged."""

    area_id = models.TextField(db_collation="C")
    area_name = models.TextField()
    name_order = natural_sort_column("area_name", "area_id")
    is_outside = models.BooleanField(null=True)
    is_management = models.BooleanField(null=True)
    devices_list = models.JSONField(default=list)
    extra = models.JSONField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "area_id"], name="places_area_once")]

    def __str__(self) -> str:
        return self.area_name


class TenantRecord(TenantModel):
    """The service's record of the tenant (specification: "Tenant", operation 1): one row, or none before a reading.

    `holiday` is settings.holiday, unchanged; it defines "Holiday" in schedules. `webhook` is settings.webhook without
    the secret token; `has_webhook_secret` is whether there is one (None: unknown). `webhook` is encrypted, because
    anyone who knows its address can post to it.
    """

    tenant_name = models.TextField(blank=True, default="")
    holiday = models.JSONField(default=dict)
    webhook = EncryptedJSON(null=True)
    has_webhook_secret = models.BooleanField(null=True)
    extra = models.JSONField(default=dict)
    read_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant"], name="places_tenantrecord_once")]

    def __str__(self) -> str:
        return self.tenant_name


class DoorState(TextChoices):
    """The state of a door, derived in `portal.domain.places.door_states`; the most alarming first.

    PASSING: unlocked for a moment, until it should relock automatically. A door that is unlocked longer is UNLOCKED.
    """

    FORCED_OPEN = "forced_open"
    LEFT_OPEN = "left_open"
    HELD_OPEN = "held_open"
    HELD = "held"
    OFFLINE = "offline"
    OPEN = "open"
    UNLOCKED = "unlocked"
    PASSING = "passing"
    LOCKED = "locked"
    UNKNOWN = ""


class DeviceStatus(models.Model):
    """The last known status of a device, unchanged, because the specification lists no sets of values.

    `status` is the whole response of operation 26 or 28 ({} before the first reading), requested at `status_as_of`.
    The properties return "" for what the response does not contain.
    """

    status = models.JSONField(default=dict)
    status_as_of = models.DateTimeField(null=True)
    extra = models.JSONField(default=dict)

    class Meta:
        abstract = True

    def _text_from_status(self, name: str, within: str = "") -> str:
        holder = self.status.get(within) if within else self.status
        value = holder.get(name) if isinstance(holder, dict) else None
        return "" if value is None else str(value)

    @property
    def door(self) -> str:
        return self._text_from_status("door", "door_status")

    @property
    def lock(self) -> str:
        return self._text_from_status("lock", "door_status")

    @property
    def errors(self) -> list[str]:
        holder = self.status.get("door_status")
        errors = holder.get("errors") if isinstance(holder, dict) else None
        if errors in (None, "", []):
            return []
        return [str(error) for error in errors] if isinstance(errors, list) else [str(errors)]

    @property
    def power_status(self) -> str:
        return self._text_from_status("power_status")

    @property
    def cloud_com_status(self) -> str:
        return self._text_from_status("cloud_com_status")

    @property
    def sync_status(self) -> str:
        return self._text_from_status("sync_status")


#: Doors whose next reading does not wait for its regular turn.
IS_READ_SOON = Q(urgent=True) | Q(state=DoorState.PASSING)


class PassController(DeviceStatus, TenantModel):
    """A door's controller (specification: "Pass controller").

    - `extra`: all other fields of the list, because the specification does not name them.
    - `state`, `state_since`: the derived state, and the earliest moment at which it is known.
    - `is_since_seen`: the change was observed at `state_since`. If False, the state may have begun much earlier.
    - `attention`: a person should check the door.
    - `known_at`: when the row was last updated.
    - Events from the log and from our own commands that the last reading does not include are stored as JSON.
    - `look_at`: when to read the door next (None: at once). `urgent`: the reading does not wait for its turn.
    """

    device_id = models.TextField(db_collation="C")
    device_name = models.TextField(blank=True, default="")
    name_order = natural_sort_column("device_name", "device_id")
    state = models.CharField(
        max_length=12, choices=DoorState, blank=True, default=DoorState.UNKNOWN, db_default=DoorState.UNKNOWN
    )
    state_since = models.DateTimeField(null=True)
    is_since_seen = models.BooleanField(default=False, db_default=False)
    attention = models.BooleanField(default=False, db_default=False)
    events = models.JSONField(default=dict, db_default={})
    known_at = models.DateTimeField(null=True)
    look_at = models.DateTimeField(null=True)
    urgent = models.BooleanField(default=False, db_default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "device_id"], name="places_passcontroller_once")]
        indexes = [models.Index(fields=["look_at"], name="places_passcontroller_soon", condition=IS_READ_SOON)]

    def __str__(self) -> str:
        return self.device_name or self.device_id

    @property
    def since(self) -> datetime | None:
        """Return when the state began; None if that was not observed."""
        return self.state_since if self.is_since_seen else None


class KeyBox(DeviceStatus, TenantModel):
    """A key box (specification: "Key box"). `units` is the array from the list; the one from the status is in `status`.

    Its keys have separate rows (`Key`). `look_at`: when to read the box next.
    """

    key_device_id = models.TextField(db_collation="C")
    key_device_name = models.TextField(blank=True, default="")
    name_order = natural_sort_column("key_device_name", "key_device_id")
    product_type = models.TextField(blank=True, default="")
    number_of_management = models.IntegerField(null=True)
    units = models.JSONField(default=list)
    look_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "key_device_id"], name="places_keybox_once")]

    def __str__(self) -> str:
        return self.key_device_name or self.key_device_id


class KeyState(TextChoices):
    """The state of a key, derived in `portal.domain.places.key_states`."""

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
    record_received_at = models.DateTimeField(null=True)
    record_id = models.TextField(blank=True, default="", db_collation="C")
    person_id = models.TextField(blank=True, default="", db_collation="C")
    person_name = models.TextField(blank=True, default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "key_box", "unit_no"], name="places_key_once")]
        indexes = [
            models.Index(fields=["tenant", "since"], name="places_key_out", condition=models.Q(state="out")),
            models.Index(fields=["tenant"], name="places_key_wrong", condition=models.Q(wrong=True)),
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
