"""The calls of the last hour per access token and call class, and the service's reports about them."""

from django.db import models

from tenants.models import Connection, TenantModel


class Gauge(TenantModel):
    """One row per token and call class: its lock makes counting exact, its fields hold the service's reports.

    `taken` numbers the calls, so that a late answer is recognised as older than a newer one.
    """

    connection = models.ForeignKey(Connection, on_delete=models.CASCADE)
    generation = models.PositiveIntegerField()
    call_class = models.CharField(max_length=10)
    taken = models.BigIntegerField(default=0)
    # The service's limit from its newest headers. A new token's gauge begins with it.
    limit_seen = models.PositiveIntegerField(null=True)
    # The newest answer with headers: the number of its call, and how many calls the service had counted then.
    answered = models.BigIntegerField(default=0)
    answered_used = models.PositiveIntegerField(default=0)
    # Calls that the service counted and the portal did not make, and until when they count.
    others = models.PositiveIntegerField(default=0)
    others_until = models.DateTimeField(null=True)
    # The reset time from the service, until its count restarts.
    reset_at = models.DateTimeField(null=True)
    # If limited: the value of `taken` when the service reported no calls left. It applies until a later call is
    # answered.
    limited_at = models.BigIntegerField(null=True)
    blocked_until = models.DateTimeField(null=True)
    guessed = models.BooleanField(default=False)  # the service did not name the end
    tried_at = models.DateTimeField(null=True)  # the last probe call
    # How often the service answered 429.
    refused = models.PositiveIntegerField(default=0, db_default=0)
    # The service promised calls and then refused them: higher numbers are ignored until this time.
    doubted_until = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["connection", "generation", "call_class"], name="budget_one_gauge")
        ]


class CallCount(TenantModel):
    """The calls of one gauge, one step of ten seconds and one priority."""

    gauge = models.ForeignKey(Gauge, on_delete=models.CASCADE)
    step = models.BigIntegerField()
    priority = models.SmallIntegerField()
    calls = models.PositiveIntegerField()
    counted = models.PositiveIntegerField()  # those that the service still counts, as far as it reported

    class Meta:
        constraints = [models.UniqueConstraint(fields=["gauge", "step", "priority"], name="budget_one_step")]
