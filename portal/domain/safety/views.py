"""The page of a change that needs a second person, with its decisions."""

from functools import partial

from django.contrib import messages
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from portal.base.timers.clock import database_now
from portal.base.ui.url_lookup import get_row_or_404
from portal.domain.intents.recording import Requester
from portal.domain.safety import changing
from portal.domain.safety.changing import NotChanged
from portal.domain.safety.models import State, WaitingChange
from portal.domain.safety.rules import RULES, SafetyRule
from tenants.access import TenantRequest, tenant_view
from tenants.interrupted_requests import run_and_return
from tenants.roles import Permission, Proof


@tenant_view(Permission.TENANT_VIEW)
def page(request: TenantRequest, change_id: int) -> HttpResponse:
    """Show what would change, and who requested it."""
    rule, row = _get_change(request, change_id)
    before, after = (rule.describe(row.subject, values) for values in (row.before, row.after))
    is_late = row.state == State.WAITING and (row.due_at is None or row.due_at <= database_now())
    name, *args = rule.page_route(row.subject)
    context = {
        "change": row,
        "state": State.EXPIRED.label if is_late else row.get_state_display(),
        "lines": [(label, before.get(label, ""), text) for label, text in after.items() if before.get(label) != text],
        "is_waiting": row.state == State.WAITING and not is_late and request.access.support_session is None,
        "is_mine": row.requested_by == request.user,
        "is_stale": rule.read(row.subject) != row.before,
        "back": reverse(name, args=[request.tenant.slug, *args]),
    }
    return render(request, "safety/change.html", context)


@tenant_view(Permission.TENANT_VIEW, methods=["POST"], proof=Proof.SHORT)
def confirm(request: TenantRequest, change_id: int) -> HttpResponseBase:
    """Save what another person requested."""
    _rule, row = _get_change(request, change_id)
    try:
        if changing.confirm(change=row, by=Requester.from_request(request)) is State.CONFIRMED:
            messages.success(request, _("Confirmed and saved."))
        else:
            gone = _("Nothing was saved. The setting or the requester’s role has changed. Submit the change again.")
            messages.error(request, gone)
    except NotChanged as why:
        messages.error(request, str(why))
    return redirect("safety:change", request.tenant.slug, row.pk)


@tenant_view(Permission.TENANT_VIEW, methods=["POST"], proof=Proof.SHORT)
def decline(request: TenantRequest, change_id: int) -> HttpResponseBase:
    """End a change without saving it."""
    _rule, row = _get_change(request, change_id)
    page = reverse("safety:change", args=[request.tenant.slug, row.pk])
    declined = partial(changing.decline, change=row, by=Requester.from_request(request))
    return run_and_return(request, page, declined, NotChanged, done=_("The change was not applied."))


def _get_change(request: TenantRequest, change_id: int) -> tuple[SafetyRule, WaitingChange]:
    """Return a change with its rule, for people who may change that setting."""
    row = get_row_or_404(
        WaitingChange.objects.filter(rule__in=RULES).select_related("requested_by", "ended_by"), pk=change_id
    )
    request.access.check(RULES[row.rule].permission)
    return RULES[row.rule], row
