"""Areas, doors, key boxes, and the service's record of the tenant."""

from datetime import datetime

from django.db import models
from django.db.models import Q, TextChoices

from portal.domain.mirror.natural_sort import natural_sort_column
from tenants.models import TenantModel
from tenants.vault import EncryptedJSON


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
        app_label = "mirror"
        constraints = [models.UniqueConstraint(fields=["tenant", "area_id"], name="mirror_area_once")]

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
        app_label = "mirror"
        constraints = [models.UniqueConstraint(fields=["tenant"], name="mirror_tenantrecord_once")]

    def __str__(self) -> str:
        return self.tenant_name


class DoorState(TextChoices):
    """The state of a door, derived in `portal.domain.mirror.door_states`; the most alarming first.

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
    told = models.JSONField(default=dict, db_default={})
    known_at = models.DateTimeField(null=True)
    look_at = models.DateTimeField(null=True)
    urgent = models.BooleanField(default=False, db_default=False)

    class Meta:
        app_label = "mirror"
        constraints = [models.UniqueConstraint(fields=["tenant", "device_id"], name="mirror_passcontroller_once")]
        indexes = [models.Index(fields=["look_at"], name="mirror_passcontroller_soon", condition=IS_READ_SOON)]

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
        app_label = "mirror"
        constraints = [models.UniqueConstraint(fields=["tenant", "key_device_id"], name="mirror_keybox_once")]

    def __str__(self) -> str:
        return self.key_device_name or self.key_device_id
