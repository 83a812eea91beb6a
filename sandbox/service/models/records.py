"""The sandbox's own records: calls, physical commands, rate windows, faults and mails."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from .tenants import Tenant


class Call(models.Model):
    """One call of the API with a known token, and the status of its answer."""

    tenant_id = models.CharField(max_length=64)
    token_id = models.BigIntegerField()
    at = models.DateTimeField()
    operation = models.IntegerField()
    status = models.IntegerField()

    class Meta:
        indexes = [models.Index(fields=["tenant_id", "id"], name="service_call_page")]


class Command(models.Model):
    """One accepted physical command, written when it arrives: tests can count these."""

    tenant_id = models.CharField(max_length=64)
    at = models.DateTimeField()
    operation = models.IntegerField()
    device_id = models.CharField(max_length=64)
    control = models.CharField(max_length=20)
    targets = models.JSONField(default=list)
    info = models.CharField(max_length=100, blank=True)
    request_id = models.CharField(max_length=64)

    class Meta:
        indexes = [models.Index(fields=["tenant_id", "id"], name="service_command_page")]


class RateWindow(models.Model):
    """The times of a token's accepted calls of one class, within the window (seconds since the epoch)."""

    token_id = models.BigIntegerField()
    call_class = models.CharField(max_length=20)
    hits = ArrayField(models.FloatField(), default=list)
    allowed = models.BooleanField(default=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["token_id", "call_class"], name="service_rate_window")]


class InjectedFault(models.Model):
    """An injected fault: the next `left` calls of an operation get it (0: of any)."""

    tenant_id = models.CharField(max_length=64, blank=True)
    operation = models.IntegerField(default=0)
    kind = models.CharField(max_length=30)
    values = models.JSONField(default=dict)
    left = models.IntegerField()


class Mail(models.Model):
    """A mail with a QR code to a member or guest. It is never sent: people who run the sandbox read it.

    `remarks` is its message.
    """

    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE)
    at = models.DateTimeField()
    email = models.CharField(max_length=254)
    recipient_id = models.CharField(max_length=64)
    recipient_name = models.CharField(max_length=40)
    qr_data = models.TextField()
    remarks = models.CharField(max_length=200, blank=True)

    class Meta:
        indexes = [models.Index(fields=["tenant", "id"], name="service_mail_page")]
