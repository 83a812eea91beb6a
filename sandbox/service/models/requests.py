"""Asynchronous requests (specification: Request record, States and transitions)."""

import secrets

from django.db import models

from .people import Member
from .tenants import Tenant


def new_request_id() -> str:
    return f"r{secrets.token_hex(10)}"


class Request(models.Model):
    """Common fields of the three kinds: an identifier, a tenant and the moment of arrival."""

    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE)
    request_id = models.CharField(max_length=64, unique=True, default=new_request_id)
    at = models.DateTimeField()

    class Meta:
        abstract = True


class BulkRequest(Request):
    """A bulk member request. `results` holds one item per finished member, in the order of the request."""

    tag = models.CharField(max_length=10)
    members = models.JSONField()
    results = models.JSONField(default=list)
    status = models.CharField(max_length=30, default="pending")
    seconds_per_member = models.FloatField()
    fail_after = models.IntegerField(null=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "id"], name="service_bulk_waiting", condition=models.Q(finished_at=None))
        ]


class FaceRequest(Request):
    """A face image that is being registered; decided at `due_at`, in order of arrival."""

    member = models.ForeignKey(Member, on_delete=models.SET_NULL, null=True)
    digest = models.CharField(max_length=64)
    due_at = models.DateTimeField()
    status = models.CharField(max_length=30, default="progress")

    class Meta:
        indexes = [
            models.Index(
                fields=["tenant", "due_at"],
                name="service_face_waiting",
                condition=models.Q(status="progress"),
            )
        ]


class DeviceRequest(Request):
    """A device operation. The outcome is fixed on arrival and shown from `due_at` on."""

    device_id = models.CharField(max_length=64)
    control = models.CharField(max_length=20)
    targets = models.JSONField(default=list)
    due_at = models.DateTimeField()
    outcome = models.CharField(max_length=30)
    relock_seconds = models.FloatField(default=0)

    class Meta:
        indexes = [models.Index(fields=["tenant", "device_id", "due_at"], name="service_device_commands")]
