"""From a posted form to the next screen: done, followed live, or the form again with the service's reasons in it."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from portal.core.intents import nonces, refusals
from portal.core.intents.addresses import seen_at
from portal.core.intents.models import Intent
from portal.core.intents.states import UNDER_WAY, State
from portal.core.mirror.fields.members import MEMBER
from portal.core.mirror.models import Member
from portal.members import bounds
from portal.members.explaining import explained
from portal.members.key_forms import TEMPORARY_INPUTS

_UNSENT = (State.FAILED, State.CANCELLED, State.EXPIRED)


def attempt(
    request: HttpRequest, form: Any, body: Any, act: Callable[..., Intent], *, then: str = ""
) -> HttpResponse | None:
    """Call `act(nonce=…)` once for this form and say where it leads. `body` is what it sends. `then` is the address of
    the page that follows whatever is under way by itself; without it, the intent's own.

    None: the form is to be shown again, with the reason in it and a fresh nonce; what was typed stays.
    """
    try:
        nonce = nonces.check(request)
    except nonces.BadNonce as refusal:
        form.add_error(None, str(refusal))
        return None
    intent = act(nonce=nonce)
    if intent.body != body:  # the back button: this very form was sent before, with other values
        form.add_error(None, _("This form was used before. What stands below was not sent: send it again to do so."))
        return None
    bounds.heed(intent, form)
    if intent.state in _UNSENT:
        return _unsent(request, form, intent)
    if then and intent.state in (*UNDER_WAY, State.SUCCEEDED):
        return redirect(then)
    if intent.state != State.SUCCEEDED:
        return redirect("intents:page", request.tenant.slug, intent.pk)
    return _done(request, intent)


def _unsent(request: HttpRequest, form: Any, intent: Intent) -> HttpResponse | None:
    if intent.operation == "delete_member" and intent.http_status == 404:
        messages.info(request, _("The service did not know this member any more: there was nothing to delete."))
        return redirect("members:index", request.tenant.slug)
    refusals.show(form, intent, {**MEMBER.inputs, **TEMPORARY_INPUTS}, explained(intent, request.access))
    return None


def _done(request: HttpRequest, intent: Intent) -> HttpResponse:
    if intent.operation == "delete_member":
        messages.success(request, _("Done: %(title)s") % {"title": intent.title})
        return redirect("members:index", request.tenant.slug)
    member_id = intent.path.get("member_id") or intent.result.get("member_id", "")
    if not Member.objects.filter(member_id=member_id).exists():  # the mirror could not follow: the intent's page can
        return redirect("intents:page", request.tenant.slug, intent.pk)
    return redirect(seen_at(reverse("members:page", args=[request.tenant.slug, member_id]), intent))
