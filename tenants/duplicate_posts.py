"""Handle a form once: if the same form of the same page is sent again, it gets the first response.

A double click, a held key or a second tab sends a form twice. Each form has the ID of the page it was drawn for
(`tenants.interrupted_requests.OPENER_FIELD`). A page that is drawn again has a new ID, so a person can repeat an action
on purpose. Requests to the service also have their own nonce (`portal.domain.intents.nonces`).
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

from django.contrib import messages
from django.core.cache import cache
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from tenants import interrupted_requests
from tenants.reauthentication import form_page

_PREFIX, _IN_PROGRESS = "once:", ""
_IN_PROGRESS_SECONDS, _RETAIN_SECONDS = 60, 12 * 3600
_WAIT_SECONDS, _PAUSE = 10.0, 0.1
#: Not compared. `elapsed` is how long the page was open.
_IGNORED_FIELDS = {"elapsed", "csrfmiddlewaretoken"}


def respond_once(request: HttpRequest, respond: Callable[[], HttpResponseBase]) -> HttpResponseBase:
    """Return the result of `respond`, or the first redirect if this form was sent before.

    Requests of page parts (htmx) and scripts are not compared: their page stays open, and a second press is a second
    action.
    """
    key = _key_of(request)
    if not key:
        return respond()
    response = None
    if not cache.add(key, _IN_PROGRESS, _IN_PROGRESS_SECONDS) and (response := _wait_for_first_response(request, key)):
        return response
    try:
        response = respond()
    finally:
        _save_target(key, response)
    return response


def _key_of(request: HttpRequest) -> str:
    """Return the key of this form and its values; an empty text if the request is not a page's form."""
    opened = request.POST.get(interrupted_requests.OPENER_FIELD) if request.method == "POST" else None
    is_part = getattr(request, "htmx", False) or request.headers.get("X-Requested-With")
    if not opened or is_part or request.headers.get("Sec-Fetch-Mode", "navigate") != "navigate" or request.FILES:
        return ""
    values = [(name, listed) for name, listed in sorted(request.POST.lists()) if name not in _IGNORED_FIELDS]
    content = json.dumps([request.user.pk, request.get_full_path(), values]).encode()
    return _PREFIX + hashlib.sha256(content).hexdigest()


def _wait_for_first_response(request: HttpRequest, key: str) -> HttpResponseBase | None:
    """Wait for the first response and return its redirect; None if it had no result."""
    end = time.monotonic() + _WAIT_SECONDS
    while time.monotonic() < end:
        found = cache.get(key)
        if found is None:
            return None
        if found != _IN_PROGRESS:
            return redirect(found)
        time.sleep(_PAUSE)
    messages.info(request, _("This is already being done. Reload the page to see the result."))
    return redirect(form_page(request, within="/", home="/"))


def _save_target(key: str, response: HttpResponseBase | None) -> None:
    """Save the target of a redirect.

    A form that is shown again, or that waits for a proof of identity, changed nothing.
    """
    target = response.headers.get("Location", "") if response is not None else ""
    if (
        target
        and not target.startswith("/accounts/")
        and interrupted_requests.TOKEN_PARAMETER not in parse_qs(urlsplit(target).query)
    ):
        cache.set(key, target, _RETAIN_SECONDS)
    else:
        cache.delete(key)
