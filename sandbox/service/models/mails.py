"""Mails that the service would have sent: here nobody is written to, but everybody who runs the sandbox may read."""

from django.db import models

from .tenants import Tenant


class Mail(models.Model):
    """A QR code on its way to a member or guest. `remarks` is the message added to it."""

    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE)
    at = models.DateTimeField()
    email = models.CharField(max_length=254)
    recipient_id = models.CharField(max_length=64)
    recipient_name = models.CharField(max_length=40)
    qr_data = models.TextField()
    remarks = models.CharField(max_length=200, blank=True)

    class Meta:
        indexes = [models.Index(fields=["tenant", "id"], name="service_mail_page")]
