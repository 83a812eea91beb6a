"""Cameras and how much of them was watched (specification: Camera records)."""

from django.db import models

from .places import PassController
from .tenants import Tenant


class Camera(models.Model):
    """A camera. Its pictures are drawn from the scene it looks at, its name and the moment; nothing is stored."""

    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE)
    camera_id = models.CharField(max_length=64)
    name = models.CharField(max_length=200)
    #: One of sandbox.cameras.scenes.
    scene = models.CharField(max_length=20, default="corridor")
    #: The door whose comings and goings it sees.
    door = models.ForeignKey(PassController, on_delete=models.SET_NULL, null=True)
    is_connected = models.BooleanField(default=True)
    #: When somebody last fetched some of its video.
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
