"""Views of an intent: its page, the fragment that follows it, and the actions decide and stop."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from portal.domain.intents import actions, queries, tracking
from portal.domain.intents.form_handling import page_address
from portal.domain.intents.models import Intent, State
from portal.domain.intents.recording import Requester
from portal.domain.intents.words import outcome_of
from tenants.access import TenantRequest, View, tenant_view
from tenants.connections import words
from tenants.roles import Permission, Proof


@tenant_view(Permission.AUDIT_VIEW)
def index(request: TenantRequest) -> HttpResponse:
    """Show the newest requests; with `show=open`, those in progress or uncertain."""
    rows = queries.open_intents() if request.GET.get("show") == "open" else queries.latest_intents()
    lines = [outcome_of(intent) for intent in rows[:50]]
    return render(request, "intents/index.html", {"lines": lines})


def intent_views(permission: Permission, of: Permission | None) -> tuple[View, View, View, View]:
    """Return the views page, outcome, decide and stop for staff with `permission`; `of` limits the intents.

    Decide and stop send nothing, so neither asks for a fresh proof of identity.
    """

    def of_one(answer: Callable[[TenantRequest, Intent], HttpResponse], **declared: Any) -> View:
        @tenant_view(permission, **declared)
        def view(request: TenantRequest, intent_id: int) -> HttpResponse:
            return answer(request, queries.get_intent(request, intent_id, of))

        return view

    act: dict[str, Any] = {"methods": ["POST"], "proof": Proof.NONE}
    return of_one(_page), of_one(_outcome), of_one(_decide, **act), of_one(_stop, **act)


def _page(request: TenantRequest, intent: Intent) -> HttpResponse:
    is_reading = tracking.is_reconciling(intent)
    may_decide = intent.state == State.UNCERTAIN and request.access.can(intent.permission)
    context = {
        "intent": intent,
        "line": outcome_of(intent),
        "operation": words.title_of(intent.operation),
        "is_reading": is_reading,
        "may_decide": may_decide and not is_reading,
        "decide_url": page_address(intent, "decide"),
        "stop_url": page_address(intent, "stop"),
    }
    return render(request, "intents/page.html", context)


def _outcome(request: TenantRequest, intent: Intent) -> HttpResponse:
    line = outcome_of(intent)
    response = render(request, "components/outcome.html", {"outcome": line})
    if line.is_final:  # parts of the page that depend on the outcome reload
        response["HX-Trigger"] = "outcome-known"
    return response


def _decide(request: TenantRequest, intent: Intent) -> HttpResponse:
    request.access.check(intent.permission)
    applied = request.POST.get("applied")
    if applied not in ("yes", "no"):
        messages.error(request, _("Nothing was recorded. Choose whether it was applied."))
    elif tracking.is_reconciling(intent):
        messages.error(
            request,
            _("Nothing was recorded. The check with the service is still running. Try again when it has ended."),
        )
    elif tracking.resolve(intent, applied=applied == "yes", by=Requester.from_request(request)):
        messages.success(request, _("Recorded."))
    else:
        messages.error(request, _("Nothing was recorded: the result is already known. Reload the page to see it."))
    return redirect(page_address(intent))


def _stop(request: TenantRequest, intent: Intent) -> HttpResponse:
    request.access.check(intent.permission)
    if actions.stop(intent):
        messages.success(request, _("Stopped. Nothing was sent."))
    else:
        messages.error(request, _("Not stopped: it was already sent. Wait for its result."))
    return redirect(page_address(intent))
