"""Register the area's parts that other apps run or show."""

from django.utils.translation import gettext_lazy as _

from portal.base.ui import nav
from portal.base.ui.nav import NavEntry
from portal.domain.notifications.models import WebAddress
from tenants.audit_log import targets
from tenants.roles import Permission
from tenants.sentences import register_subject, register_targets

nav.register(
    NavEntry("alerts", _("Alerts"), "alert-triangle", "alerts:index", Permission.ALERTS_VIEW),
    NavEntry("alert_rules", _("Alert rules"), "adjustments", "alerts:rules", Permission.ALERTS_VIEW),
    NavEntry("notifications", _("My notifications"), "bell", "alerts:notify", Permission.ALERTS_VIEW),
)
register_subject("alerts", _("Alerts"), "alert alert_rule alert_address")
register_targets({"alert": _("Alert"), "alert_rule": _("Alert rule"), "alert_address": _("Web address for alerts")})
targets.register_names("alert_address", WebAddress, "pk", "name")
