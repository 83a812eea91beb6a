"""The alert about a webhook without notifications."""

from collections.abc import Iterator

from django.utils.translation import gettext_lazy as _

from portal.base.timers.clock import database_now
from portal.domain.alerts.kinds import AlertKind, Observation, RuleValues, tenants_having
from portal.domain.alerts.models import Severity
from portal.webhooks.models import Webhook
from tenants.models import Tenant


def _find_silent_webhook(tenant: Tenant, values: RuleValues) -> Iterator[Observation]:
    for row in Webhook.objects.filter(working=Webhook.Working.SILENT):
        yield Observation("webhook", row.working_at or database_now())


SILENCE_ALERT = AlertKind(
    name="silence",
    message=_("No notifications come from the service, though some were to be expected."),
    severity=Severity.NOTE,
    find_current=_find_silent_webhook,
    tenants_to_check=tenants_having(lambda _rules: Webhook.reachable_objects.filter(working=Webhook.Working.SILENT)),
)
