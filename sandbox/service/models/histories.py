"""Log records, and the webhook notifications about them (specification: Log record, Events)."""

from django.db import models

from .tenants import Tenant


class History(models.Model):
    """One log record, shown from `at` on. A command's outcome is written when the command is accepted.

    member and device are the objects in JSON; null without one. A device without a connection keeps its records until
    it is connected again: `held_by` names it.
    """

    # Without an index of one column: those below begin with it.
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    history_id = models.CharField(max_length=64)
    at = models.DateTimeField()
    status = models.CharField(max_length=40)
    category = models.CharField(max_length=40)
    content = models.CharField(max_length=300)
    member = models.JSONField(null=True)
    device = models.JSONField(null=True)
    held_by = models.CharField(max_length=64, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "history_id"], name="service_history_id")]
        indexes = [
            models.Index(fields=["tenant", "at", "id"], name="service_history_page"),
            models.Index(fields=["tenant", "held_by"], name="service_history_held", condition=~models.Q(held_by="")),
        ]


class Delivery(models.Model):
    """A notification to be posted once, from `due_at` on. `status` is the receiver's answer, if any."""

    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE)
    delivery_id = models.CharField(max_length=64, unique=True)
    url = models.TextField()
    body = models.TextField()
    signature = models.CharField(max_length=200, blank=True)
    due_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True)
    status = models.IntegerField(null=True)
    error = models.CharField(max_length=300, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["due_at"], name="service_delivery_due", condition=models.Q(sent_at=None)),
            models.Index(fields=["tenant", "id"], name="service_delivery_page"),
        ]
