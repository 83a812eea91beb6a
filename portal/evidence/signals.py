"""Register the app's parts that other apps run or show: timers, an alert, links to incidents."""

from collections.abc import Collection, Iterator
from datetime import timedelta

from django.db.models import QuerySet
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy, pgettext_lazy

from portal.base.timers.clock import ClockTime, database_now
from portal.base.ui import nav, panels
from portal.base.ui.nav import NavEntry
from portal.domain.alerts import kinds as alert_kinds
from portal.domain.alerts.kinds import AlertKind, Observation, RuleSetting, RuleValues, tenants_having
from portal.domain.alerts.models import Severity
from portal.domain.safety import rules
from portal.evidence import actions, exporting, fetching
from portal.evidence.models import Item
from tenants.access import TenantRequest
from tenants.models import Tenant
from tenants.roles import Permission
from tenants.sentences import register_sentences, register_subject, register_targets


def _expiring_incidents(tenant: Tenant, values: RuleValues) -> Iterator[Observation]:
    now = database_now()
    for key, number in fetching.expiring_incidents(timedelta(days=values["left"])):
        yield Observation(f"incident:{key}", now, {"number": number, "days": values["left"]})


def _unsaved_items(rules: Collection[RuleValues]) -> QuerySet[Item]:
    """Return unsaved items that the service deletes within the longest time of these rules."""
    before = ClockTime() + timedelta(days=max(each["left"] for each in rules))
    rows = Item.reachable_objects.filter(media__in=Item.LACKING)
    return rows.filter(expires_at__gt=ClockTime(), expires_at__lt=before)


EXPIRING_EVIDENCE = AlertKind(
    name="evidence",
    message=_(
        "Incident %(number)s has video or pictures that are not saved yet. The service deletes them within"
        " %(days)s days."
    ),
    severity=Severity.WARNING,
    settings=(RuleSetting("left", _("Days before"), 14, 1, 60, is_stricter_when_larger=True),),
    find_current=_expiring_incidents,
    tenants_to_check=tenants_having(_unsaved_items),
)


def draw_record_link(request: TenantRequest) -> SafeString:
    """Draw the link that adds a record to an incident."""
    record = getattr(request, "shown_record", None)
    if record is None:
        return SafeString("")
    return _draw_link(request, reverse("evidence:add_record", args=[request.tenant.slug, record.history_id]))


def draw_check_link(request: TenantRequest) -> SafeString:
    """Draw the link that adds an access check to an incident."""
    page_url = reverse("evidence:add_rights", args=[request.tenant.slug])
    return _draw_link(request, f"{page_url}?{request.GET.urlencode()}")


def _draw_link(request: TenantRequest, href: str) -> SafeString:
    if not request.access.can(Permission.EVIDENCE_MAKE):
        return SafeString("")
    return render_to_string("evidence/add.html", {"href": href}, request)


nav.register(NavEntry("evidence", _("Evidence"), "folder", "evidence:index", Permission.EVIDENCE_VIEW))
fetching.MEDIA.register()
exporting.EXPORTS.register()
actions.EXPIRED_INCIDENTS.register()
rules.register(actions.RETENTION_RULE)
alert_kinds.register(EXPIRING_EVIDENCE)
panels.register("record", draw_record_link)
panels.register("access_check", draw_check_link)


register_subject("evidence", _("Evidence"), "incident evidence")
register_sentences(
    {
        "safety_rule.evidence_retention": pgettext_lazy("safety rule", "Retention of evidence"),
        "alert_kind.evidence": _("Evidence about to be deleted"),
        "incident.opened": _("Incident %(number)s created"),
        "incident.edited": _("Incident %(number)s edited"),
        "incident.closed": _("Incident %(number)s closed"),
        "incident.reopened": _("Incident %(number)s reopened"),
        "incident.held": _("Incident %(number)s put on legal hold"),
        "incident.hold_ended": _("Legal hold of incident %(number)s ended"),
        "incident.deleted": _("Incident %(number)s deleted with its evidence"),
        "evidence.added": ngettext_lazy(
            "Incident %(number)s: %(count)s item added", "Incident %(number)s: %(count)s items added", "count"
        ),
        "evidence.removed": _("Incident %(number)s: 1 item removed"),
        "evidence.fetch": ngettext_lazy(
            "Incident %(number)s: %(count)s video or picture requested",
            "Incident %(number)s: %(count)s videos and pictures requested",
            "count",
        ),
        "evidence.stored": _("Incident %(number)s: video or picture saved"),
        "evidence.viewed": _("Incident %(number)s: video or picture viewed"),
        "evidence.export": _("Incident %(number)s: export requested"),
        "evidence.downloaded": _("Incident %(number)s: export downloaded"),
        "evidence.retention": ngettext_lazy(
            "Closed incidents are kept for %(days)s day", "Closed incidents are kept for %(days)s days", "days"
        ),
    }
)
register_targets({"incident": _("Incident"), "evidence": _("Evidence"), "history": _("Log record")})
