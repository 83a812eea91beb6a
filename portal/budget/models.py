"""What the last hour's calls were spent on, per access token and call class."""

from django.db import models

from tenants.models import Connection, TenantModel


class Gauge(TenantModel):
    """One row per token and call class: its lock makes spending exact, its fields hold the service's word."""

    connection = models.ForeignKey(Connection, on_delete=models.CASCADE)
    generation = models.PositiveIntegerField()
    call_class = models.CharField(max_length=10)
    # The service's own limit, when its headers named a lower one than the specification; forgotten after a window.
    limit_seen = models.PositiveIntegerField(null=True)
    limit_seen_at = models.DateTimeField(null=True)
    blocked_until = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["connection", "generation", "call_class"], name="budget_one_gauge")
        ]


class Spent(TenantModel):
    """Calls of one gauge, one step of ten seconds and one priority."""

    gauge = models.ForeignKey(Gauge, on_delete=models.CASCADE)
    step = models.BigIntegerField()
    priority = models.SmallIntegerField()
    calls = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["gauge", "step", "priority"], name="budget_one_step")]
