"""The page of a restored tenant: what is unknown, and what waits for a person."""

from collections.abc import Callable, Iterator

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.base.restore import marking
from portal.base.restore.models import Restore
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission

_MARKED: dict[str, Callable[[int], str]] = {
    "requests": lambda n: ngettext(
        "%(n)d request may have been sent before. It is uncertain until a later check or a person decides.",
        "%(n)d requests may have been sent before. They are uncertain until a later check or a person decides.",
        n,
    ),
    "jobs": lambda n: ngettext(
        "%(n)d job was stopped. Its open rows are uncertain.",
        "%(n)d jobs were stopped. Their open rows are uncertain.",
        n,
    ),
    "messages": lambda n: ngettext(
        "%(n)d message was not sent. It may have been sent before.",
        "%(n)d messages were not sent. They may have been sent before.",
        n,
    ),
    "reports": lambda n: ngettext(
        "%(n)d scheduled report was skipped. You can send it from the report's page.",
        "%(n)d scheduled reports were skipped. You can send them from the report's page.",
        n,
    ),
    "reminders": lambda n: ngettext(
        "%(n)d access review reminder was not sent. It may have been sent before.",
        "%(n)d access review reminders were not sent. They may have been sent before.",
        n,
    ),
}
_WAITING: dict[str, Callable[[int], str]] = {
    "holds": lambda n: ngettext(
        "%(n)d door that was held unlocked would be locked again.",
        "%(n)d doors that were held unlocked would be locked again.",
        n,
    ),
    "lockdowns": lambda n: ngettext(
        "%(n)d lockdown or evacuation would go on.",
        "%(n)d lockdowns or evacuations would go on.",
        n,
    ),
    "codes": lambda n: ngettext(
        "%(n)d guest code would be ended. It may still open doors.",
        "%(n)d guest codes would be ended. They may still open doors.",
        n,
    ),
}


def marked_texts(row: Restore) -> Iterator[str]:
    """Yield a sentence for each kind of rows that a person or a later check decides."""
    for name, words in _MARKED.items():
        if n := row.counts.get(name, 0):
            yield words(n) % {"n": n}


def waiting_texts(row: Restore) -> Iterator[str]:
    """Yield a sentence for each kind of rows that continue after the release."""
    for name, words in _WAITING.items():
        if n := len(row.waiting.get(name, ())):
            yield words(n) % {"n": n}


@tenant_view(Permission.TENANT_VIEW)
def page(request: TenantRequest) -> HttpResponse:
    """Show what was marked after the restore, and who released the waiting work."""
    row = Restore.objects.select_related("released_by").order_by("-found_at").first()
    if row is None:
        raise Http404
    context = {
        "restored": row,
        "marked": marked_texts(row),
        "waiting": waiting_texts(row),
        "may_release": request.access.can(Permission.CONNECTION_MANAGE) and request.access.support_session is None,
    }
    return render(request, "restore/page.html", context)


@tenant_view(Permission.CONNECTION_MANAGE, methods=["POST"])
def release(request: TenantRequest) -> HttpResponse:
    """Resume automatic work."""
    row = Restore.objects.filter(released_at=None).first()
    if row is not None:
        marking.release(row, request.user)
        messages.success(request, _("Automatic work has resumed."))
    return redirect("restore:page", request.tenant.slug)
