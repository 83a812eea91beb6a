"""Register the banners of alerts, the kinds of alerts that belong to no area, and the detection.

Every page has a banner for each serious alert until someone assigns it to themselves or closes it. The banner remains
after the alert has ended, because it may be unnoticed.
"""

import time
from collections.abc import Iterator, Mapping
from typing import Any

from django.db.models import BooleanField, ExpressionWrapper, F, OuterRef, Q, QuerySet, Subquery, Sum, TextField, Value
from django.db.models.functions import Coalesce, Concat
from django.utils.translation import gettext, ngettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from accessapi.operations import CallClass
from portal.base.timers import timer_registry
from portal.base.timers.clock import database_now
from portal.base.ui import batching, frame, nav
from portal.base.ui.frame import Banner, Rank
from portal.base.ui.url_lookup import url_in_tenant
from portal.domain import events
from portal.domain.alerts import detection, kinds
from portal.domain.alerts.kinds import KINDS, AlertKind, Observation, RuleSetting, RuleValues, tenants_having
from portal.domain.alerts.log_alerts import LOG_ALERTS
from portal.domain.alerts.models import Alert, Severity
from portal.domain.alerts.rules import ALERT_RULE
from portal.domain.alerts.words import AlertTexts
from portal.domain.budget import ledger
from portal.domain.budget.models import CallCount, Gauge
from portal.domain.budget.priorities import MARGIN_SECONDS, STEP_SECONDS
from portal.domain.events import MirrorKind
from portal.domain.places.door_states import LOUD_STATES
from portal.domain.places.models import PassController
from portal.domain.safety import rules as safety_rules
from tenants.access import TenantRequest
from tenants.connections.service_clients import current_connection
from tenants.models import Connection, ServiceEnvironment, Tenant
from tenants.roles import Permission
from tenants.sentences import register_sentences

register_sentences(
    {
        "safety_rule.alert_rule": _("Alert rule: %(kind)s"),
        "alert.take": _("Alert %(alert)s assigned"),
        "alert.give_back": _("Alert %(alert)s unassigned"),
        "alert.note": _("Note on alert %(alert)s"),
        "alert.close": _("Alert %(alert)s closed"),
        "alert_rule.add": _("Alert rule added: %(kind)s"),
        "alert_rule.change": _("Alert rule changed: %(kind)s"),
        "alert_rule.remove": _("Alert rule removed: %(kind)s"),
        "alert_kind.refused": _("Repeated refusals"),
        "alert_kind.suspicious": _("Suspicious event"),
        "alert_kind.out_of_hours": _("Access outside hours"),
        "alert_kind.connection": pgettext_lazy("alert", "Connection lost"),
        "alert_kind.budget": _("API calls nearly used up"),
    }
)


# More banners would hide the page itself.
MAX_BANNERS = 2
# The name under which the frame queries whether there are any.
_BANNER_SOURCE = f"{__name__}.banners"
_TONES = {Severity.ALARM: ("alarm", Rank.ALERT), Severity.WARNING: ("warning", Rank.HELD)}


def banners(request: TenantRequest) -> Iterator[Banner]:
    """Yield banners of unassigned alerts, the most serious first, without doors that have a banner already."""
    found = [each for each in _load_unassigned(request) if not each.has_banner]
    texts = AlertTexts.of(request.access, found[:MAX_BANNERS])
    for each in found[:MAX_BANNERS]:
        yield _banner(request, each, texts.sentence(each), str(each.pk))
    if more := found[MAX_BANNERS:]:
        text = ngettext("%(n)d more alert", "%(n)d more alerts", len(more)) % {"n": len(more)}
        yield _banner(request, more[0], text, "")


def unassigned_summary(request: TenantRequest) -> Mapping[str, Any] | None:
    """Return the number of unassigned alerts, with key and title of the newest, for the browser; None if none."""
    found = _load_unassigned(request) if batching.load_rows(request, _BANNER_SOURCE) else []
    if not found:
        return None
    newest = max(found, key=lambda each: each.pk)
    return {"count": len(found), "newest": newest.pk, "title": AlertTexts(request.access, {}).title(newest)}


def _load_unassigned(request: TenantRequest) -> list[Any]:
    """Return the unassigned alerts, the most serious first, loaded once per request.

    `has_banner`: the door has its own banner.
    """
    if not request.access.can(Permission.ALERTS_VIEW):
        return []
    if "waiting_alerts" not in vars(request):
        rows = _unassigned().annotate(has_banner=_is_about_alarming_door()).order_by("-weight", "-pk")
        vars(request)["waiting_alerts"] = list(rows[:50])
    found: list[Any] = vars(request)["waiting_alerts"]
    return found


def _unassigned() -> QuerySet[Alert]:
    return Alert.objects.filter(weight__gte=Severity.WARNING, taken_by=None)


def _is_about_alarming_door() -> "ExpressionWrapper[Any]":
    """Return the condition that an alert is about a door's state and the door has its own banner now."""
    about = [name for name, kind in KINDS.items() if kind.is_about_door]
    loud = PassController.objects.filter(state__in=LOUD_STATES)
    subjects = loud.values(subject=Concat(Value("pass_controller:"), "device_id", output_field=TextField()))
    return ExpressionWrapper(Q(kind__in=about, subject__in=subjects), output_field=BooleanField())


def _banner(request: TenantRequest, alert: Alert, text: str, name: str) -> Banner:
    slug, (tone, rank) = request.tenant.slug, _TONES[Severity(alert.severity)]
    return Banner(
        tone,
        text,
        gettext("Resolved, unassigned") if name and alert.ended_at is not None else "",
        since=alert.began_at if name else None,
        action=gettext("Show alert") if name else gettext("All alerts"),
        action_url=url_in_tenant("alerts:alert", slug, name) if name else url_in_tenant("alerts:index", slug),
        is_link=True,
        rank=rank,
    )


def _find_lost_connection(tenant: Tenant, values: RuleValues) -> Iterator[Observation]:
    connection = current_connection()
    if connection.state == Connection.State.BROKEN:
        yield Observation("connection", connection.state_at)


def _find_low_budget(tenant: Tenant, values: RuleValues) -> Iterator[Observation]:
    connection = current_connection()
    if not connection.is_connected:
        return
    for each in (CallClass.GENERAL, CallClass.DEVICE):
        reading = ledger.read_gauge(connection, each)
        left = max(reading.limit - reading.used, 0)
        if left * 100 < values["percent"] * reading.limit:
            yield Observation(f"budget:{each}", database_now(), {"left": left, "limit": reading.limit})


def _tenants_with_low_budget(values: Mapping[int, RuleValues]) -> Iterator[int]:
    """Yield the tenants that may have few calls left. This counts calls generously, also expired ones."""
    limits = {each.pk: each.catalogue.limits for each in ServiceEnvironment.objects.all()}
    longest = max((each.window_seconds for each in limits.values()), default=0)
    early = (int(time.time()) - longest - 2 * MARGIN_SECONDS - 60) // STEP_SECONDS
    spent = CallCount.reachable_objects.filter(gauge=OuterRef("pk"), step__gte=early).order_by().values("gauge")
    gauges = Gauge.reachable_objects.filter(
        tenant_id__in=values,
        generation=F("connection__token_generation"),
        connection__state=Connection.State.CONNECTED,
    ).annotate(
        calls=Coalesce(Subquery(spent.annotate(n=Sum("counted")).values("n")), 0),
        environment=F("tenant__environment"),
    )
    for gauge in gauges:
        limit_of_environment = limits[gauge.environment]
        limit = gauge.limit_seen or (
            limit_of_environment.general if gauge.call_class == CallClass.GENERAL else limit_of_environment.device
        )
        if (limit - gauge.calls - gauge.others) * 100 < values[gauge.tenant_id]["percent"] * limit:
            yield gauge.tenant_id


SERVICE_ALERTS = (
    AlertKind(
        name="connection",
        message=_("The connection to the service is lost."),
        past_message=_("The connection to the service was lost."),
        severity=Severity.ALARM,
        find_current=_find_lost_connection,
        tenants_to_check=tenants_having(
            lambda _rules: Connection.reachable_objects.filter(state=Connection.State.BROKEN)
        ),
    ),
    AlertKind(
        name="budget",
        message=_("API calls left this hour fell to %(left)s of %(limit)s."),
        severity=Severity.INFO,
        settings=(RuleSetting("percent", _("Less than (percent)"), 10, 1, 90, is_stricter_when_larger=True),),
        find_current=_find_low_budget,
        tenants_to_check=_tenants_with_low_budget,
    ),
)


frame.register_banners(banners, rows=lambda: _unassigned().only("pk"))
frame.register_fact("alerts", unassigned_summary)
nav.register_count("alerts", lambda request: (unassigned_summary(request) or {}).get("count", 0))
safety_rules.register(ALERT_RULE)
for kind in (*LOG_ALERTS, *SERVICE_ALERTS):
    kinds.register(kind)
events.subscribe(MirrorKind.HISTORIES, detection.on_histories)
timer_registry.register(
    "alerts",
    detection.check_due,
    every=5.0,
    queue="sync",
    due_rows=detection.rows_to_check,
    lag_rows=detection.rows_that_lag,
    seconds=60,
)
