"""Keep a command until its person has confirmed their identity, then carry it out once.

The command rests in the person's own session, sealed to person, session and tenant. It belongs to one confirmation
page, whose `next` holds its token: confirming for anything else, or too late, carries out nothing. Rights, second
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

ASKED = "asked"
KEPT_SECONDS = 300
_SALT = "tenants.carrying"


@dataclass(frozen=True)
class Carried:
    """A command to carry out: `title` heads the confirmation page, `page` is where it was asked and where its outcome
    is shown, `through` is the dotted name of the function that does it, as through(request, values).
    """

    title: str
    page: str
    through: str
    values: dict[str, str]


def keep(request: HttpRequest, carried: Carried) -> str:
    """Keep a command in the session, in place of any other. Return the address to come back to."""
    back = f"{carried.page}?{urlencode({ASKED: secrets.token_urlsafe(18)})}"
    sealed = signing.dumps([_whose(request), back, carried.through, carried.values], salt=_SALT)
    state = {"title": carried.title, "page": carried.page, "back": back, "at": time.time(), "sealed": sealed}
    request.session[STATE_SESSION_KEY] = {"callback": f"{__name__}.resume", "state": state}
    return back


def forget(request: HttpRequest) -> None:
    """Drop the kept command: the person is asked for something else."""
    request.session.pop(STATE_SESSION_KEY, None)


def waiting(request: HttpRequest) -> dict[str, str] | None:
    """Return title and page of the command that this confirmation page would carry out; None for none."""
    state = (request.session.get(STATE_SESSION_KEY) or {}).get("state")
    if not isinstance(state, dict) or not _is_meant(request, state):
        return None
    return {"title": state["title"], "page": state["page"]}


def resume(request: HttpRequest, state: dict[str, Any]) -> HttpResponseBase:
    """Carry out the kept command after its person has confirmed. allauth calls this once, after dropping
    the command.
    """
    if not _is_meant(request, state):
        return redirect(get_next_redirect_url(request) or "/")
    try:
        whose, back, through, values = signing.loads(state["sealed"], salt=_SALT, max_age=KEPT_SECONDS)
    except signing.BadSignature:
        return redirect(state["back"])
    if whose != _whose(request) or back != state["back"]:
        return redirect("/")
    response: HttpResponseBase = import_string(through)(request, values)
    return response


def _whose(request: HttpRequest) -> list[Any]:
    return [request.user.pk, request.session.session_key]


def _is_meant(request: HttpRequest, state: dict[str, Any]) -> bool:
    """Return whether the confirmation page was opened for this command, and not too long ago."""
    asked = request.POST.get("next") or request.GET.get("next") or ""
    return secrets.compare_digest(asked.encode(), str(state.get("back", "")).encode()) and (
        time.time() - float(state.get("at", 0)) < KEPT_SECONDS
    )
