"""An intent on a page of its own, as a fragment that follows it, and the two decisions a person can take."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from portal.intents import actions, queries, reconciling
from portal.intents.access import get_intent
from portal.intents.record import Asker
from portal.intents.states import State
from portal.intents.words import story
from tenants.access import tenant_view
from tenants.roles import Permission


@tenant_view(Permission.AUDIT_VIEW)
def index(request: HttpRequest) -> HttpResponse:
    stories = [story(intent) for intent in queries.latest()[:50]]
    return render(request, "intents/index.html", {"stories": stories})


@tenant_view(Permission.TENANT_VIEW)
def page(request: HttpRequest, intent_id: int) -> HttpResponse:
    intent = get_intent(request, intent_id)
    may_decide = intent.state == State.UNCERTAIN and request.access.can(Permission(intent.permission))
    return render(request, "intents/page.html", {"intent": intent, "story": story(intent), "may_decide": may_decide})


@tenant_view(Permission.TENANT_VIEW)
def outcome(request: HttpRequest, intent_id: int) -> HttpResponse:
    told = story(get_intent(request, intent_id))
    response = render(request, "components/outcome.html", {"outcome": told})
    if told.is_final:  # whatever on the page depends on it reads again
        response["HX-Trigger"] = "outcome-known"
    return response


@tenant_view(Permission.TENANT_VIEW, methods=["POST"])
def decide(request: HttpRequest, intent_id: int) -> HttpResponse:
    intent = get_intent(request, intent_id)
    request.access.check(Permission(intent.permission))
    applied = request.POST.get("applied")
    if applied not in ("yes", "no"):
        messages.error(request, _("Please say whether it was applied. Nothing was recorded."))
    elif reconciling.resolve(intent, applied=applied == "yes", by=Asker.of(request)):
        messages.success(request, _("Recorded."))
    else:
        messages.error(request, _("It is no longer uncertain. Nothing was recorded."))
    return redirect("intents:page", request.tenant.slug, intent.pk)


@tenant_view(Permission.TENANT_VIEW, methods=["POST"])
def stop(request: HttpRequest, intent_id: int) -> HttpResponse:
    intent = get_intent(request, intent_id)
    request.access.check(Permission(intent.permission))
    if actions.stop(intent):
        messages.success(request, _("Stopped. It was not sent."))
    else:
        messages.error(request, _("It had already left. Nothing was stopped."))
    return redirect("intents:page", request.tenant.slug, intent.pk)
