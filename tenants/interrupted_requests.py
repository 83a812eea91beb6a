"""Save a person's typed form or download if their session ended, or if they must confirm their identity.

It is shown again on the page it came from. Nothing is sent until they press the button there. It is stored in the
browser's session for an hour: encrypted, for one person, one entry at a time, without secrets and files. Each form has
a token of the person who opened it (`OPENER_FIELD`), so no other person gets the typed values.
"""

from __future__ import annotations

import base64
import json
import secrets
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from django.contrib import messages
from django.core import signing
from django.http import HttpRequest, HttpResponseRedirect, QueryDict
from django.shortcuts import redirect
from django.urls import Resolver404, resolve

from tenants import vault

OPENER_FIELD, TOKEN_PARAMETER = "opened_by", "unsent"
RETAIN_SECONDS, MAX_BYTES = 3600, 256 * 1024
#: Fields that each drawn form sets itself.
TECHNICAL_FIELDS = frozenset({"csrfmiddlewaretoken", OPENER_FIELD, "nonce", "elapsed", "made"})
_SESSION, _SALT = "tenants.interrupted_requests", "tenants.interrupted_requests"
_PAGE_SECONDS = 7 * 24 * 3600


@dataclass(frozen=True)
class InterruptedRequest:
    """A saved form: its values for `address`. Or, without values, the address of a file to download.

    `gone` are names of files and secrets, which the person enters again.
    """

    address: str
    values: list[tuple[str, str]] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    is_file: bool = False


def page_token(request: HttpRequest) -> str:
    """Return the token of this page and its person for its forms; empty for people who are not signed in."""
    if not request.user.is_authenticated:
        return ""
    found: str | None = vars(request).get("_opened_by")
    if found is None:
        page = [request.user.pk, secrets.token_urlsafe(9)]
        found = vars(request)["_opened_by"] = signing.dumps(page, salt=_SALT)
    return found


def has_known_opener(request: HttpRequest) -> bool:
    """Return whether the posted form has the token of a person, and no other person is signed in."""
    return _opener_of(request, trusted=False) is not None


def save_form(request: HttpRequest, page: str, *, is_trusted: bool = True) -> str:
    """Save the posted values, replacing anything else. Return the address of `page` that shows them again.

    Return an empty text if they are not saved: they are too large, or another person typed them. If not `is_trusted`,
    the form must have a person's token.
    """
    person = _opener_of(request, trusted=is_trusted)
    values = [
        (name, value) for name, listed in request.POST.lists() for value in listed if name not in TECHNICAL_FIELDS
    ]
    gone = sorted({*_secret_fields_at(request.path), *(name for name in request.POST if "password" in name)})
    values = [pair for pair in values if pair[0] not in gone]
    gone = [*(name for name in gone if request.POST.get(name)), *request.FILES]
    if person is None or request.path.startswith("/accounts/"):
        return ""
    return _store(request, person, page, InterruptedRequest(request.path, values, gone))


def return_to_form(request: HttpRequest, page: str, why: str = "") -> HttpResponseRedirect:
    """Redirect to the `page` of a form that was not carried out.

    It shows the reason `why` and the typed values again.
    """
    if why:
        messages.error(request, why)
    return redirect(save_form(request, page) or page)


def run_and_return(
    request: HttpRequest,
    page: str,
    action: Callable[[], object],
    refusal: type[Exception],
    *,
    done: str = "",
    why: Callable[[Exception], str] = str,
    typed: bool = False,
) -> HttpResponseRedirect:
    """Run an action, then return to `page` with the result: `done`, or the text of a `refusal`.

    If it was refused and the person has `typed` something, the page shows the text again.
    """
    try:
        action()
    except refusal as error:
        if typed:
            return return_to_form(request, page, why(error))
        messages.error(request, why(error))
    else:
        if done:
            messages.success(request, done)
    return redirect(page)


def save_download(request: HttpRequest, page: str) -> str:
    """Save the address of a file for the signed-in person. Return the address of `page` that downloads it once."""
    return _store(
        request, _opener_of(request, trusted=True), page, InterruptedRequest(request.get_full_path(), is_file=True)
    )


def find(request: HttpRequest) -> InterruptedRequest | None:
    """Return what this page must show again, if its address has the token of something saved for this person."""
    stored, token = request.session.get(_SESSION), request.GET.get(TOKEN_PARAMETER, "")
    if not stored or not secrets.compare_digest(token.encode(), stored["token"].encode()):
        return None
    if time.time() - stored["at"] > RETAIN_SECONDS or stored["person"] != request.user.pk:
        discard(request)
        return None
    try:
        opened = vault.open_sealed(base64.b64decode(stored["sealed"]), bound_to=_binding(stored["person"]))
        saved = json.loads(zlib.decompress(opened))
    except vault.VaultError:  # encrypted under a key that was removed since
        discard(request)
        return None
    found = InterruptedRequest(**saved | {"values": [(name, value) for name, value in saved["values"]]})
    if found.is_file:
        discard(request)
    return found


def typed_values(request: HttpRequest) -> QueryDict:
    """Return the values that were typed into a form of this same address, for views that draw posted values."""
    data = QueryDict(mutable=True)
    found = find(request) if TOKEN_PARAMETER in request.GET else None
    for name, value in found.values if found and found.address == request.path else ():
        data.appendlist(name, value)
    return data


def discard(request: HttpRequest) -> None:
    """Delete what is saved."""
    request.session.pop(_SESSION, None)


def discard_of_others(request: HttpRequest) -> None:
    """Delete what another person than the signed-in one has saved."""
    if (stored := request.session.get(_SESSION)) and stored["person"] != request.user.pk:
        discard(request)


def discard_when_sent(request: HttpRequest) -> None:
    """Delete the values saved for the address of this POST: if shown again, they could be sent twice."""
    if (stored := request.session.get(_SESSION)) and stored["address"] == request.path:
        discard(request)


def without_token(address: str) -> str:
    """Return the portal's address without the token of something saved."""
    parts = urlsplit(address)
    query = urlencode([pair for pair in parse_qsl(parts.query, keep_blank_values=True) if pair[0] != TOKEN_PARAMETER])
    return f"{parts.path}?{query}" if query else parts.path


def _store(request: HttpRequest, person: int, page: str, unsent: InterruptedRequest) -> str:
    plain = json.dumps(vars(unsent)).encode()
    if len(plain) > MAX_BYTES:
        return ""
    sealed = base64.b64encode(vault.seal(zlib.compress(plain), bound_to=_binding(person))).decode()
    token = secrets.token_urlsafe(12)
    stored = {"token": token, "person": person, "at": time.time(), "address": unsent.address, "sealed": sealed}
    request.session[_SESSION] = stored
    page = without_token(page)
    return f"{page}{'&' if '?' in page else '?'}{TOKEN_PARAMETER}={token}"


def _opener_of(request: HttpRequest, *, trusted: bool) -> Any:
    """Return the person who opened the form, by its token, else the signed-in person.

    None if another person is signed in.
    """
    signed_in = request.user.pk if request.user.is_authenticated else None
    try:
        opened: Any = signing.loads(request.POST.get(OPENER_FIELD, ""), salt=_SALT, max_age=_PAGE_SECONDS)[0]
    except signing.BadSignature:
        return signed_in if trusted else None
    return opened if signed_in in (None, opened) else None


def _secret_fields_at(path: str) -> frozenset[str]:
    """Return the names of secret fields of the view at this address (`tenant_view`)."""
    try:
        return frozenset(getattr(resolve(path).func, "secrets", ()))
    except Resolver404:
        return frozenset()


def _binding(person: int) -> str:
    return f"{person}|unsent|form"
