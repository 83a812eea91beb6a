"""Areas, devices, cameras, and keys that are out."""

from django.db import models

from .tenants import Tenant


class Area(models.Model):
    """A room or zone, entered through pass controllers."""

    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE)
    area_id = models.CharField(max_length=64)
    name = models.CharField(max_length=200)
    is_outside = models.BooleanField(default=False)
    is_management = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "area_id"], name="service_area_id")]


class PassController(models.Model):
    """A door's controller. Its lock follows from its past commands (engine.doors)."""

    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE)
    device_id = models.CharField(max_length=64)
    name = models.CharField(max_length=200)
    area = models.ForeignKey(Area, on_delete=models.CASCADE)
    in_out = models.CharField(max_length=10)
    has_power = models.BooleanField(default=True)
    is_connected = models.BooleanField(default=True)
    #: When the door was opened and when it closes; null while it is closed, or if that is unknown.
    opened_at = models.DateTimeField(null=True)
    closes_at = models.DateTimeField(null=True)
    is_forced = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "device_id"], name="service_pass_controller_id")]

    @property
    def is_reachable(self) -> bool:
        """Return whether a command reaches the door."""
        return self.has_power and self.is_connected


class KeyBox(models.Model):
    """A box of numbered keys. units: [{unit_no, unit_name, restriction}]."""

    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE)
    key_device_id = models.CharField(max_length=64)
    name = models.CharField(max_length=200)
    product_type = models.CharField(max_length=60)
    units = models.JSONField(default=list)
    has_power = models.BooleanField(default=True)
    is_connected = models.BooleanField(default=True)
    #: Settings of the member site: whether guests may use keys, and members keys that are not normally used.
    guest_keys_enabled = models.BooleanField(default=True)
    temporary_use_enabled = models.BooleanField(default=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "key_device_id"], name="service_key_box_id")]

    @property
    def is_reachable(self) -> bool:
        """Return whether a command reaches the box."""
        return self.has_power and self.is_connected

    @property
    def unit_numbers(self) -> set[str]:
        """Return the numbers of its keys."""
        return {unit["unit_no"] for unit in self.units}


class KeyUse(models.Model):
    """A key that was taken: its holder (the member of a history), its automatic return, and when it came back.

    While it is out, another key may be in its place.
    """

    box = models.ForeignKey(KeyBox, on_delete=models.CASCADE)
    unit_no = models.CharField(max_length=2)
    holder = models.JSONField(null=True)
    taken_at = models.DateTimeField()
    due_at = models.DateTimeField(null=True)
    returned_at = models.DateTimeField(null=True)
    is_replaced = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["box", "unit_no"], name="service_key_out", condition=models.Q(returned_at=None)
            )
        ]
        indexes = [models.Index(fields=["due_at"], name="service_key_due", condition=models.Q(returned_at=None))]


class Camera(models.Model):
    """A camera. Its pictures are drawn from its scene, its name and the time; nothing is stored."""

    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE)
    camera_id = models.CharField(max_length=64)
    name = models.CharField(max_length=200)
    #: One of sandbox.cameras.scenes.
    scene = models.CharField(max_length=20, default="corridor")
    #: The door in its view.
    door = models.ForeignKey(PassController, on_delete=models.SET_NULL, null=True)
    is_connected = models.BooleanField(default=True)
    #: When its video was last fetched.
    watched_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "camera_id"], name="service_camera_id")]


class CameraUse(models.Model):
    """Seconds watched and downloaded by a tenant since `since`, the beginning of a period."""

    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE)
    since = models.DateTimeField()
    streamed = models.FloatField(default=0)
    downloaded = models.FloatField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "since"], name="service_camera_use")]
