"""From the desk's forms to the next screen: a code, a page that follows, or the form again with the reason in it."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from portal.core.intents import nonces, refusals
from portal.core.intents.addresses import seen_at
from portal.core.intents.models import Intent
from portal.core.intents.record import Asker
from portal.core.intents.states import State
from portal.core.mirror.fields.guests import GUEST
from portal.core.mirror.folding import fold
from portal.core.visits.models import Stage, Visit
from portal.guests import actions, explaining, issuing
from portal.guests.clashes import Clash
from portal.guests.forms import IssueForm

# Ends are whole minutes, beginnings are not.
_ROUNDED = timedelta(seconds=60)
_WORDS = ("email", "remarks")
_PLAIN = ("email", "return_grace_period", "area_id_list", "key_devices_list", "is_for_reserve")
UNSENT = (State.FAILED, State.CANCELLED, State.EXPIRED)


def issue(request: HttpRequest, form: IssueForm) -> HttpResponse | None:
    """Issue what a valid form asks for, once. None: the form is shown again, with what stands against it."""
    try:
        nonce = nonces.check(request)
    except nonces.BadNonce as refusal:
        form.add_error(None, str(refusal))
        return None
    by = Asker.of(request)
    orders = form.orders()
    try:
        visits = actions.issue(orders=orders, by=by, nonce=nonce, confirmed=request.POST.getlist("confirmed"))
    except Clash as clash:
        form.clash = clash
        return None
    if not _are(visits, orders):  # the back button: this very form was sent before, with other values
        form.add_error(None, _("This form was used before. What stands below was not sent: send it again to do so."))
        form.used_for = visits
        return None
    if len(visits) == 1 and visits[0].stage == Stage.NOT_ISSUED and visits[0].intent is not None:
        form.refused = visits[0].intent
        if not explaining.is_of_the_desk(visits[0].intent):  # else the page says it by itself
            refusals.show(form, visits[0].intent, GUEST.inputs, explaining.explained(visits[0].intent))
        return None
    return redirect(address(request, visits))


def address(request: HttpRequest, visits: list[Visit]) -> str:
    """Where what was issued is seen: the guest's page, or the page that follows it."""
    slug = request.tenant.slug  # type: ignore[attr-defined]
    if len(visits) > 1:
        return reverse("guests:party", args=[slug, visits[0].party])
    if visits[0].guest_id is not None:
        return reverse("guests:guest", args=[slug, visits[0].guest_id])
    return reverse("guests:visit", args=[slug, visits[0].pk])


def _are(visits: list[Visit], orders: list[issuing.Order]) -> bool:
    """Whether these visits are what the orders ask for."""
    return len(visits) == len(orders) and all(map(_is, visits, orders))


def _is(visit: Visit, order: issuing.Order) -> bool:
    """The same guest, the same way in, and the same hours: as a time, or as a length that began anew meanwhile."""
    wanted = (fold(order.name), order.company, order.host.name)
    if (visit.name_key, visit.company, visit.host_name) != wanted:
        return False
    ends = order.end - visit.use_date_end
    length = (order.end - order.start) - (visit.use_date_end - visit.use_date_start)
    if min(abs(ends), abs(length)) > _ROUNDED:
        return False
    asked = visit.intent.body if visit.intent is not None else None
    if asked is None:  # received without a code, or forgotten
        return True
    again = order.body()
    sent, would = (body["qrcode_issuing_method"] for body in (asked, again))
    same_way = {name: sent.get(name) for name in _WORDS} == {name: would.get(name) for name in _WORDS}
    return same_way and {name: asked.get(name) for name in _PLAIN} == {name: again.get(name) for name in _PLAIN}


def change(
    request: HttpRequest, form: Any, visit: Visit, body: Mapping[str, Any], act: Callable[..., Intent]
) -> HttpResponse | None:
    """Call `act(nonce=…)` once for this form and say where it leads. None: the form again, with the reason."""
    try:
        nonce = nonces.check(request)
    except nonces.BadNonce as refusal:
        form.add_error(None, str(refusal))
        return None
    try:
        intent = act(nonce=nonce)
    except actions.Resurrects:
        form.resurrects = True
        return None
    if intent.body != body:
        form.add_error(None, _("This form was used before. What stands below was not sent: send it again to do so."))
        return None
    if intent.state in UNSENT:
        refusals.show(form, intent, GUEST.inputs, explaining.explained(intent))
        return None
    page = reverse("guests:guest", args=[request.tenant.slug, visit.guest_id])  # type: ignore[attr-defined]
    return redirect(seen_at(page, intent))
