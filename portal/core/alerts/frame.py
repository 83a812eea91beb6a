"""Alerts in the frame of every page: a banner for each serious one that goes on and that nobody has taken."""

from collections.abc import Iterator

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.core.alerts.kinds import KINDS
from portal.core.alerts.models import Alert, Severity
from portal.core.alerts.shown import Words
from portal.core.mirror.doors import LOUD
from portal.core.mirror.models import PassController
from portal.core.ui import frame
from portal.core.ui.addresses import within
from portal.core.ui.frame import Banner
from tenants.access import TenantRequest
from tenants.roles import Permission

# More than these would push the page itself out of sight.
MOST = 2
_TONES = {Severity.ALARM: "alarm", Severity.WARNING: "note"}


def banners(request: TenantRequest) -> Iterator[Banner]:
    """Tell of the alerts that wait for somebody, the most serious first, but for doors that have a banner already."""
    if not request.access.can(Permission.ALERTS_VIEW):
        return
    found = _without_doors(list(_waiting().order_by("-weight", "-pk")[:50]))
    words = Words.of(request.access, found[:MOST])
    for each in found[:MOST]:
        yield _banner(request, each, words.sentence(each), str(each.pk))
    if more := found[MOST:]:
        text = ngettext("%(n)d more alert", "%(n)d more alerts", len(more)) % {"n": len(more)}
        yield _banner(request, more[0], text, "")


def _waiting() -> QuerySet[Alert]:
    return Alert.objects.filter(weight__gte=Severity.WARNING, ended_at=None, taken_by=None)


def _without_doors(found: list[Alert]) -> list[Alert]:
    """Leave out alerts about a door's state while the door's own banner tells of it."""
    about = {name for name, kind in KINDS.items() if kind.of_door}
    if not any(each.kind in about for each in found):
        return found
    loud = PassController.objects.filter(state__in=LOUD).values_list("device_id", flat=True)
    subjects = {f"pass_controller:{device_id}" for device_id in loud}
    return [each for each in found if each.kind not in about or each.subject not in subjects]


def _banner(request: TenantRequest, alert: Alert, text: str, name: str) -> Banner:
    slug = request.tenant.slug
    return Banner(
        _TONES[Severity(alert.severity)],
        text,
        since=alert.began_at if name else None,
        action=_("Show alert") if name else _("All alerts"),
        action_url=within("alerts:alert", slug, name) if name else within("alerts:index", slug),
        action_get=True,
    )


def register() -> None:
    frame.banner(banners, when=lambda: _waiting().only("pk"))
