"""Guests, and members who may use keys for a while (specification: Guest; operation 11)."""

from django.contrib.postgres.indexes import HashIndex
from django.db import models

from .people import Member
from .places import KeyBox
from .tenants import Tenant


class Guest(models.Model):
    """A temporary user with a QR code. areas: area_ids; keys: [{key_device_id, units_no_list}]."""

    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE)
    guest_id = models.CharField(max_length=64)
    name = models.CharField(max_length=40)
    email = models.CharField(max_length=254, blank=True)
    use_date_start = models.DateTimeField()
    use_date_end = models.DateTimeField()
    return_grace_period = models.IntegerField(default=0)
    qr_data = models.TextField()
    areas = models.JSONField(default=list)
    keys = models.JSONField(default=list)
    remarks = models.CharField(max_length=200, blank=True)
    is_for_reserve = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "guest_id"], name="service_guest_id")]
        indexes = [
            models.Index(fields=["tenant", "id"], name="service_guest_page"),
            models.Index(fields=["tenant", "use_date_end"], name="service_guest_end"),
            HashIndex(fields=["qr_data"], name="service_guest_qr"),
        ]


class TemporaryUse(models.Model):
    """Keys that a member may use until a moment, although they are not normally used."""

    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE)
    member = models.ForeignKey(Member, on_delete=models.CASCADE)
    box = models.ForeignKey(KeyBox, on_delete=models.CASCADE)
    units = models.JSONField(default=list)
    until = models.DateTimeField()
    info = models.CharField(max_length=100, blank=True)
    device_action = models.BooleanField(default=False)

    class Meta:
        indexes = [models.Index(fields=["member", "until"], name="service_temporary_use")]
