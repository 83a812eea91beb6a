"""Register what other apps run or show: the check for a restored database, and its banner."""

from collections.abc import Iterator

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from portal.base.restore import marking
from portal.base.restore.models import Restore
from portal.base.timers import beat, celery_app
from portal.base.ui import frame
from portal.base.ui.frame import Banner
from portal.base.ui.times import local
from tenants.access import TenantRequest
from tenants.roles import Permission
from tenants.sentences import register_sentences


def banners(request: TenantRequest) -> Iterator[Banner]:
    """Yield a banner with the time of the backup and a link to details."""
    if not request.access.can(Permission.TENANT_VIEW):
        return
    for row in waiting_rows():
        title = _("The portal's data was restored from a backup.")
        if row.taken_at is not None:
            at = f"{local(row.taken_at):%Y-%m-%d %H:%M}"
            title = _("The portal's data was restored from a backup of %(at)s.") % {"at": at}
        yield Banner(
            "alarm",
            title,
            _("Later changes are missing here. Automatic work is paused."),
            since=row.found_at,
            action=_("Show details"),
            action_url=reverse("restore:page", args=[request.tenant.slug]),
            is_link=True,
        )


def waiting_rows() -> QuerySet[Restore]:
    return Restore.objects.filter(released_at=None)


celery_app.STOP_CONDITIONS.append(marking.is_restored_copy)
beat.BEFORE_LEADING.append(marking.mark_if_restored)
frame.register_banners(banners, rows=lambda: waiting_rows().only("pk"))


register_sentences(
    {
        "restore.found": gettext_lazy("Data restored from a backup was found. Automatic work is paused."),
        "restore.released": gettext_lazy("Automatic work resumed after a restore"),
    }
)
