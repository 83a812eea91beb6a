"""Models of floor plans and of the devices on them."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from tenants.models import TenantModel
from tenants.vault import EncryptedBytes

NAME_MAX = 60


class FloorPlan(TenantModel):
    """A floor plan. `content` is a JPEG made from the upload, `mark` changes with it, and sides are in pixels."""

    name = models.CharField(max_length=NAME_MAX)
    content = EncryptedBytes()
    mark = models.CharField(max_length=32)
    width = models.PositiveIntegerField()
    height = models.PositiveIntegerField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    uploaded_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "name"], name="plans_one_plan_a_name")]

    def __str__(self) -> str:
        return self.name


class Placed(models.TextChoices):
    """The kinds of devices on a plan."""

    DOOR = "door", _("Door")
    KEY_BOX = "key_box", _("Key box")
    CAMERA = "camera", _("Camera")


class Placement(TenantModel):
    """The position of a device on a plan: `x` and `y` in thousandths of the picture's width and height.

    `identifier` is the service's: device_id, key_device_id or camera_id.
    """

    plan = models.ForeignKey(FloorPlan, on_delete=models.CASCADE, related_name="placements")
    kind = models.CharField(max_length=8, choices=Placed)
    identifier = models.CharField(max_length=200, db_collation="C")
    x = models.PositiveSmallIntegerField()
    y = models.PositiveSmallIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["plan", "kind", "identifier"], name="plans_placement_once_a_plan")
        ]

    @property
    def key(self) -> str:
        """Return the key of the device in forms."""
        return f"{self.kind}:{self.identifier}"

    def __str__(self) -> str:
        return f"{self.kind} {self.identifier} at {self.x}, {self.y}"
