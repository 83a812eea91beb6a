"""Save a command until its person has confirmed their identity, then carry it out once.

The command is stored in the person's session, encrypted for person, session and tenant. It belongs to one confirmation
page, whose `next` holds its token. After another confirmation, or too late, nothing is carried out. Permissions, second
factor and proof are checked again, as for any request.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from allauth.account.internal.flows.reauthentication import STATE_SESSION_KEY
from allauth.account.utils import get_next_redirect_url
from django.core import signing
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.utils.module_loading import import_string

TOKEN_PARAMETER = "asked"  # noqa: S105 - a parameter's name
RETAIN_SECONDS = 300
_SALT = "tenants.pending_commands"


@dataclass(frozen=True)
class PendingCommand:
    """A command to carry out.

    `title` heads the confirmation page. `page` is where it was requested and where its outcome is shown. `handler` is
    the dotted name of the function that carries it out, called as handler(request, values).
    """

    title: str
    page: str
    handler: str
    values: dict[str, str]


def save(request: HttpRequest, command: PendingCommand) -> str:
    """Save a command in the session, replacing any other. Return the address to return to."""
    back = f"{command.page}?{urlencode({TOKEN_PARAMETER: secrets.token_urlsafe(18)})}"
    sealed = signing.dumps([_owner_of(request), back, command.handler, command.values], salt=_SALT)
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
        whose, back, through, values = signing.loads(state["sealed"], salt=_SALT, max_age=RETAIN_SECONDS)
    except signing.BadSignature:
        return redirect(state["back"])
    if whose != _owner_of(request) or back != state["back"]:
        return redirect("/")
    response: HttpResponseBase = import_string(through)(request, values)
    return response


def _owner_of(request: HttpRequest) -> list[Any]:
    return [request.user.pk, request.session.session_key]


def _belongs_to_page(request: HttpRequest, state: dict[str, Any]) -> bool:
    """Return whether the confirmation page was opened for this command, and not too long ago."""
    asked = request.POST.get("next") or request.GET.get("next") or ""
    return secrets.compare_digest(asked.encode(), str(state.get("back", "")).encode()) and (
        time.time() - float(state.get("at", 0)) < RETAIN_SECONDS
    )
