"""From a posted form to the next page: what it asks for is asked once, and what stands against it comes back in it.

An intent's pages stand under /t/<tenant>/intents/, or within an area of work whose people see nothing else: that area
mounts them for the intents that ask for its permission (`urls.under`) and says so here (`mount_pages`).
"""

from collections.abc import Callable, Collection
from typing import Any, Protocol, TypeVar

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from portal.core.intents import nonces, refusals
from portal.core.intents.models import Intent
from portal.core.intents.recording import Requester
from portal.core.intents.refusals import Explanation, InputNames
from portal.core.intents.states import NOT_APPLIED, UNDER_WAY, State
from tenants.access import TenantRequest
from tenants.roles import Permission

_mounts: dict[str, str] = {}


def mount_pages(of: Permission, prefix: str) -> None:
    """The pages of intents that ask for `of` are called `prefix` + page, outcome, decide, stop."""
    _mounts[of.value] = prefix


def address_of(page: str, intent: Intent) -> str:
    """Return the address of `page` at the outcome line of `intent`: the browser scrolls there and puts focus on it."""
    return f"{page}#outcome-intent-{intent.pk}"


def address_of_target(intent: Intent, route: str, name: str) -> str:
    """Return where the page `route` of what the intent is about shows its outcome; nothing while the service has not
    told the ID.
    """
    told_id = intent.path.get(name) or intent.result.get(name)
    return address_of(reverse(route, args=[intent.tenant.slug, told_id]), intent) if told_id else ""


def page_address(intent: Intent, page: str = "page") -> str:
    """The address of one of the intent's pages. Needs the tenant's slug."""
    return reverse(f"{_mounts.get(intent.permission, 'intents:')}{page}", args=[intent.tenant.slug, intent.pk])


T = TypeVar("T")
#: What a page can show of an intent, beside what was done: also what is under way, or whatever becomes of it.
UNDER_WAY_OR_DONE, ALL_STATES = (*UNDER_WAY, State.SUCCEEDED), tuple(State)
USED_BEFORE = _("This form was already sent once. The values below have not been sent. Send it again to apply them.")


class ErrorTarget(Protocol):
    """What says why something was not asked: a Django form, or whatever stands for one."""

    def add_error(self, field: str | None, error: Any) -> None: ...


class ErrorsAsMessages:
    """A form that is a button and nothing else: what stands against it is said on the next page."""

    def __init__(self, request: HttpRequest) -> None:
        self._request = request

    def add_error(self, field: str | None, error: Any) -> None:
        messages.error(self._request, str(error))


def submit_once(request: TenantRequest, form: ErrorTarget, act: Callable[..., T]) -> T | None:
    """Return what `act(by=…, nonce=…)` makes of a posted form: the same, however often that is sent.

    None: nothing was asked, and the form says why.
    """
    try:
        return act(by=Requester.from_request(request), nonce=nonces.check_nonce(request))
    except nonces.NotSubmitted as reason:
        reason.add_to(form)
        return None


def redirect_or_show_errors(
    form: Any,
    intent: Intent,
    *,
    body: Any,
    to: str | Callable[[Intent], str],
    inputs: InputNames,
    explain: Callable[[Intent], Explanation | None] = lambda intent: None,
    shows: Collection[State] = (State.SUCCEEDED,),
) -> HttpResponse | None:
    """Return the way on from an intent that sends `body`: to the address `to` in the states that the page there shows,
    else to the intent's own page.

    None: the form is shown again, and what was typed stays. It was sent before with other values (the back button), or
    surely nothing was changed: why stands beside one of the `inputs`, as the area `explain`s it where it can, and
    `form.refused` is the intent.
    """
    if intent.body != body:
        form.add_error(None, USED_BEFORE)
        return None
    if intent.state in NOT_APPLIED:
        refusals.show_in_form(form, intent, inputs, explain(intent))
        form.refused = intent
        return None
    page = "" if intent.state not in shows else to if isinstance(to, str) else to(intent)
    return redirect(page or page_address(intent))


def submit_and_redirect(
    request: TenantRequest, form: ErrorTarget, act: Callable[..., Intent], **on: Any
) -> HttpResponse | None:
    """Ask for one thing (`submit_once`) and return where it leads (`redirect_or_show_errors`, with its arguments);
    None: the form again."""
    intent = submit_once(request, form, act)
    return None if intent is None else redirect_or_show_errors(form, intent, **on)
