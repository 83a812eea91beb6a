"""Handle posted forms that submit intents: submit once, then redirect, or show the errors in the form.

An intent's pages are under /t/<tenant>/intents/, or inside an area of work whose staff see no other pages. Such an area
mounts them for the intents with its permission (`urls.intent_urls`) and registers that here (`mount_pages`).
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from portal.domain.intents import nonces, refusals
from portal.domain.intents.models import NOT_APPLIED, UNDER_WAY, Intent, State
from portal.domain.intents.recording import Requester
from portal.domain.intents.refusals import Explanation, InputNames
from tenants import interrupted_requests
from tenants.access import TenantRequest
from tenants.pending_commands import PendingCommand
from tenants.roles import Permission

_mounts: dict[str, str] = {}


def mount_pages(of: Permission, prefix: str) -> None:
    """Register that the pages of intents with the permission `of` have names that start with `prefix`.

    The names are page, outcome, decide and stop.
    """
    _mounts[of.value] = prefix


def address_of(page: str, intent: Intent) -> str:
    """Return the URL `page` with the anchor of this intent's outcome line, so that the browser focuses it."""
    return f"{page}#outcome-intent-{intent.pk}"


def address_of_target(intent: Intent, route: str, name: str) -> str:
    """Return the URL of the page `route` about the intent's target, with the anchor of its outcome line.

    Return "" while the service has not returned the target's ID.
    """
    target_id = intent.path.get(name) or intent.result.get(name)
    return address_of(reverse(route, args=[intent.tenant.slug, target_id]), intent) if target_id else ""


def page_address(intent: Intent, page: str = "page") -> str:
    """Return the URL of one of the intent's pages. Needs the tenant's slug."""
    return reverse(f"{_mounts.get(intent.permission, 'intents:')}{page}", args=[intent.tenant.slug, intent.pk])


T = TypeVar("T")
#: Values for `AfterSubmit.shows`: a page that shows intents in progress and done, or intents in any state.
UNDER_WAY_OR_DONE, ALL_STATES = (*UNDER_WAY, State.SUCCEEDED), tuple(State)
USED_BEFORE = _("This form was already sent once. The values below have not been sent. Send it again to apply them.")


class ErrorTarget(Protocol):
    """A form or an object like one: it receives the reason why nothing was requested."""

    def add_error(self, field: str | None, error: Any) -> None: ...


class ErrorsAsMessages:
    """A form that has only a button: its errors are shown as messages on the next page."""

    def __init__(self, request: HttpRequest) -> None:
        self._request = request

    def add_error(self, field: str | None, error: Any) -> None:
        messages.error(self._request, str(error))


def submit_once(request: TenantRequest, form: ErrorTarget, action: Callable[..., T]) -> T | None:
    """Return the result of `action(by=…, nonce=…)` for a posted form: the same result if it is posted again.

    Return None when nothing was requested; the form then shows why.
    """
    try:
        return action(by=Requester.from_request(request), nonce=nonces.check_nonce(request))
    except nonces.NotSubmitted as reason:
        reason.add_to(form)
        return None


def submit_command(
    request: TenantRequest, action: Callable[..., Intent], page: str, *, keeps_values: bool = False
) -> HttpResponse:
    """Submit the intent of a button and redirect to its outcome line on `page`.

    When nothing was requested, the page shows why, and with `keeps_values` also the typed values.
    """
    intent = submit_once(request, ErrorsAsMessages(request), action)
    if intent is not None:
        return redirect(address_of(page, intent))
    return interrupted_requests.return_to_form(request, page) if keeps_values else redirect(page)


def command_to_confirm(request: TenantRequest, title: str, page: str) -> PendingCommand | None:
    """Return the posted command, to be repeated after a proof of identity; None if the form's nonce is not valid."""
    try:
        nonces.check_nonce(request)
    except nonces.BadNonce:
        return None
    return PendingCommand(title, page)


@dataclass(frozen=True)
class AfterSubmit:
    """What follows when a form's intent was submitted.

    The redirect goes to `to` when the intent's state is in `shows`, otherwise to the intent's own page. The reason why
    nothing was changed is shown beside one of the `inputs`; the area can `explain` it.
    """

    to: str | Callable[[Intent], str]
    inputs: InputNames = field(default_factory=dict)
    explain: Callable[[Intent], Explanation | None] = lambda intent: None
    shows: Collection[State] = (State.SUCCEEDED,)


def redirect_or_show_errors(form: Any, intent: Intent, after: AfterSubmit, *, body: Any) -> HttpResponse | None:
    """Return the redirect after an intent that sends `body`, or None to show the form again.

    The form is shown again, with its input kept, in two cases: it was sent before with other values (the back button),
    or nothing was changed. Then `form.refused` is the intent.
    """
    if intent.body != body:
        form.add_error(None, USED_BEFORE)
        return None
    if intent.state in NOT_APPLIED:
        refusals.show_in_form(form, intent, after.inputs, after.explain(intent))
        form.refused = intent
        return None
    if intent.state not in after.shows:
        return redirect(page_address(intent))
    page = after.to if isinstance(after.to, str) else after.to(intent)
    return redirect(page or page_address(intent))


def submit_and_redirect(
    request: TenantRequest, form: ErrorTarget, action: Callable[..., Intent], after: AfterSubmit, *, body: Any
) -> HttpResponse | None:
    """Submit one intent that sends `body` (`submit_once`) and redirect. None: show the form again."""
    intent = submit_once(request, form, action)
    return None if intent is None else redirect_or_show_errors(form, intent, after, body=body)
