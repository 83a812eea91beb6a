"""Save a command until its person has confirmed their identity, then carry it out once.

The posted form is stored in the person's session, signed for person and session. It belongs to one confirmation page,
whose `next` holds its token. After another confirmation, or too late, nothing is carried out. Otherwise its view is
called again, so permissions, second factor and proof are checked as for any request.
"""

from __future__ import annotations

import copy
import secrets
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from allauth.account.internal.flows.reauthentication import STATE_SESSION_KEY
from allauth.account.utils import get_next_redirect_url
from django.contrib import messages
from django.core import signing
from django.http import HttpRequest, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import ResolverMatch, resolve
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext as _

TOKEN_PARAMETER = "asked"  # noqa: S105 - a parameter's name
RETAIN_SECONDS = 300
_SALT, _CONFIRMING = "tenants.pending_commands", "_confirming_request"


@dataclass(frozen=True)
class PendingCommand:
    """A posted form to carry out after the confirmation.

    `title` heads the confirmation page. `page` is where it was requested, and where its outcome is shown.
    """

    title: str
    page: str


def save(request: HttpRequest, command: PendingCommand) -> str:
    """Save the posted form in the session, replacing any other. Return the address to return to."""
    back = f"{command.page}?{urlencode({TOKEN_PARAMETER: secrets.token_urlsafe(18)})}"
    form = {name: values for name, values in request.POST.lists() if name != "csrfmiddlewaretoken"}
    sealed = signing.dumps([_owner_of(request), back, request.path, form], salt=_SALT)
    state = {"title": command.title, "page": command.page, "back": back, "at": time.time(), "sealed": sealed}
    request.session[STATE_SESSION_KEY] = {"callback": f"{__name__}.resume", "state": state}
    return back


def discard(request: HttpRequest) -> None:
    """Delete the saved command: the person confirms something else."""
    request.session.pop(STATE_SESSION_KEY, None)


def find(request: HttpRequest) -> dict[str, str] | None:
    """Return title and page of the command that this confirmation page would carry out; None without one."""
    state = (request.session.get(STATE_SESSION_KEY) or {}).get("state")
    if not isinstance(state, dict) or not _belongs_to_page(request, state):
        return None
    return {"title": state["title"], "page": state["page"]}


def resume(request: HttpRequest, state: dict[str, Any]) -> HttpResponseBase:
    """Carry out the saved command after its person has confirmed.

    allauth calls this once, after removing the command.
    """
    if not _belongs_to_page(request, state):
        return redirect(get_next_redirect_url(request) or "/")
    try:
        owner, back, path, form = signing.loads(state["sealed"], salt=_SALT, max_age=RETAIN_SECONDS)
    except signing.BadSignature:
        return redirect(state["back"])
    if owner != _owner_of(request) or back != state["back"]:
        return redirect("/")
    match = resolve(path)
    response: HttpResponseBase = match.func(_repeat_post(request, match, path, form), *match.args, **match.kwargs)
    return response


def confirming_request(request: HttpRequest) -> HttpRequest | None:
    """Return the request that confirmed this command; None for a form that was sent directly."""
    found: HttpRequest | None = vars(request).get(_CONFIRMING)
    return found


def warn_if_nothing_sent(request: HttpRequest) -> None:
    """Show a message on a page to which a confirmation returned without carrying out its command."""
    if TOKEN_PARAMETER in request.GET and not getattr(request, "htmx", False):
        messages.info(request, _("Nothing was sent by this confirmation. Check the latest commands, then try again."))


def _repeat_post(request: HttpRequest, match: ResolverMatch, path: str, form: dict[str, list[str]]) -> HttpRequest:
    """Return the POST of the saved form, by the person and in the session of the confirming request."""
    repeated = copy.copy(request)
    vars(repeated).update(
        {
            "path": path,
            "path_info": path,
            "resolver_match": match,
            "META": {**request.META, "PATH_INFO": path, "QUERY_STRING": ""},
            "GET": QueryDict(),
            "_files": MultiValueDict(),
            "_post": QueryDict(urlencode(form, doseq=True)),
            _CONFIRMING: request,
        }
    )
    return repeated


def _owner_of(request: HttpRequest) -> list[Any]:
    return [request.user.pk, request.session.session_key]


def _belongs_to_page(request: HttpRequest, state: dict[str, Any]) -> bool:
    """Return whether the confirmation page was opened for this command, and not too long ago."""
    address = request.POST.get("next") or request.GET.get("next") or ""
    return secrets.compare_digest(address.encode(), str(state.get("back", "")).encode()) and (
        time.time() - float(state.get("at", 0)) < RETAIN_SECONDS
    )
