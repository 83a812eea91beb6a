"""An intent on a page of its own, as a fragment that follows it, and the two decisions a person can take."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from portal.core.intents import actions, following, queries
from portal.core.intents.asking import address
from portal.core.intents.models import Intent
from portal.core.intents.queries import get_intent
from portal.core.intents.record import Asker
from portal.core.intents.states import State
from portal.core.intents.words import story
from tenants.access import View, tenant_view
from tenants.roles import Permission


@tenant_view(Permission.AUDIT_VIEW)
def index(request: HttpRequest) -> HttpResponse:
    stories = [story(intent) for intent in queries.latest()[:50]]
    return render(request, "intents/index.html", {"stories": stories})


def pages(permission: Permission, of: Permission | None) -> tuple[View, View, View, View]:
    """The views page, outcome, decide and stop, for those with `permission`; of intents that ask for `of` alone.

    Deciding and stopping send nothing: neither asks for fresh proof, whatever the intent needed.
    """

    @tenant_view(permission)
    def page(request: HttpRequest, intent_id: int) -> HttpResponse:
        return _page(request, get_intent(request, intent_id, of))

    @tenant_view(permission)
    def outcome(request: HttpRequest, intent_id: int) -> HttpResponse:
        return _outcome(request, get_intent(request, intent_id, of))

    @tenant_view(permission, methods=["POST"], reauth=False)
    def decide(request: HttpRequest, intent_id: int) -> HttpResponse:
        return _decide(request, get_intent(request, intent_id, of))

    @tenant_view(permission, methods=["POST"], reauth=False)
    def stop(request: HttpRequest, intent_id: int) -> HttpResponse:
        return _stop(request, get_intent(request, intent_id, of))

    return page, outcome, decide, stop


def _page(request: HttpRequest, intent: Intent) -> HttpResponse:
    is_reading = following.is_reading(intent)
    may_decide = intent.state == State.UNCERTAIN and request.access.can(Permission(intent.permission))
    told = {"decide_url": address(intent, "decide"), "stop_url": address(intent, "stop")}
    context = {"intent": intent, "story": story(intent), "may_decide": may_decide and not is_reading, **told}
    context["is_reading"] = is_reading
    return render(request, "intents/page.html", context)


def _outcome(request: HttpRequest, intent: Intent) -> HttpResponse:
    told = story(intent)
    response = render(request, "components/outcome.html", {"outcome": told})
    if told.is_final:  # whatever on the page depends on it reads again
        response["HX-Trigger"] = "outcome-known"
    return response


def _decide(request: HttpRequest, intent: Intent) -> HttpResponse:
    request.access.check(Permission(intent.permission))
    applied = request.POST.get("applied")
    if applied not in ("yes", "no"):
        messages.error(request, _("Choose whether it was applied. Nothing was recorded."))
    elif following.is_reading(intent):
        messages.error(request, _("Still checking with the service. Decide if the check cannot tell."))
    elif following.resolve(intent, applied=applied == "yes", by=Asker.of(request)):
        messages.success(request, _("Recorded."))
    else:
        messages.error(request, _("The result is already known. Nothing was recorded."))
    return redirect(address(intent))


def _stop(request: HttpRequest, intent: Intent) -> HttpResponse:
    request.access.check(Permission(intent.permission))
    if actions.stop(intent):
        messages.success(request, _("Stopped. Nothing was sent."))
    else:
        messages.error(request, _("It was already sent and could not be stopped."))
    return redirect(address(intent))
