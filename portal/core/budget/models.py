"""What the last hour's calls were spent on, per access token and call class, and what the service said about them."""

from django.db import models

from tenants.models import Connection, TenantModel


class Gauge(TenantModel):
    """One row per token and call class: its lock makes spending exact, its fields hold the service's word.

    Calls are numbered by `taken`, so that an answer that comes late is known to be older than what was heard since.
    """

    connection = models.ForeignKey(Connection, on_delete=models.CASCADE)
    generation = models.PositiveIntegerField()
    call_class = models.CharField(max_length=10)
    taken = models.BigIntegerField(default=0)
    # The service's own limit as its headers named it last; a new token's gauge begins with it.
    limit_seen = models.PositiveIntegerField(null=True)
    # The newest answer with headers: the number of its call, and how many calls the service had counted then.
    heard = models.BigIntegerField(default=0)
    heard_used = models.PositiveIntegerField(default=0)
    # Calls that the service counted and we did not make, and until when it counts them.
    others = models.PositiveIntegerField(default=0)
    others_until = models.DateTimeField(null=True)
    # A reset that the service named, until its count was seen to begin anew.
    reset_at = models.DateTimeField(null=True)
    # Limited: the calls taken when the service said that none is left; it lasts until an answer to a later one.
    limited_at = models.BigIntegerField(null=True)
    blocked_until = models.DateTimeField(null=True)
    guessed = models.BooleanField(default=False)  # the service did not say until when
    tried_at = models.DateTimeField(null=True)  # the last call that was let through to see whether it has ended
    # How often the service answered 429.
    refused = models.PositiveIntegerField(default=0, db_default=0)
    # Headers that promised calls which were then refused are not believed upwards for a window.
    doubted_until = models.DateTimeField(null=True)

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
    counted = models.PositiveIntegerField()  # those of them that the service still counts, as far as it told

    class Meta:
        constraints = [models.UniqueConstraint(fields=["gauge", "step", "priority"], name="budget_one_step")]
