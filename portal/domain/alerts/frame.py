"""Alerts on every page: a banner for each serious one until someone assigns it to themselves or closes it.

The banner remains after the alert has ended, because it may be unnoticed.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet, TextField, Value
from django.db.models.functions import Concat
from django.utils.translation import gettext, ngettext

from portal.base.ui import batching
from portal.base.ui.frame import Banner
from portal.base.ui.url_lookup import url_in_tenant
from portal.domain.alerts.kinds import KINDS
from portal.domain.alerts.models import Alert, Severity
from portal.domain.alerts.texts import AlertTexts
from portal.domain.mirror.door_states import LOUD_STATES
from portal.domain.mirror.models import PassController
from tenants.access import TenantRequest
from tenants.roles import Permission

# More banners would hide the page itself.
MAX_BANNERS = 2
# The name under which the frame queries whether there are any.
_BANNER_SOURCE = f"{__name__}.banners"
_TONES = {Severity.ALARM: "alarm", Severity.WARNING: "note"}


def banners(request: TenantRequest) -> Iterator[Banner]:
    """Yield banners of unassigned alerts, the most serious first, without doors that have a banner already."""
    found = [each for each in _load_unassigned(request) if not each.has_banner]
    words = AlertTexts.of(request.access, found[:MAX_BANNERS])
    for each in found[:MAX_BANNERS]:
        yield _banner(request, each, words.sentence(each), str(each.pk))
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
    slug = request.tenant.slug
    return Banner(
        _TONES[Severity(alert.severity)],
        text,
        gettext("Over, not taken") if name and alert.ended_at is not None else "",
        since=alert.began_at if name else None,
        action=gettext("Show alert") if name else gettext("All alerts"),
        action_url=url_in_tenant("alerts:alert", slug, name) if name else url_in_tenant("alerts:index", slug),
        is_link=True,
    )
