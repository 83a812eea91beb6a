"""Unusable posted data is refused: with 422 for a form that is shown again, and never with 500."""

import re
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import product
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.urls import Resolver404, resolve

from tests.support.crawl import addresses_of_tenants
from tests.support.effort import SOAK
from tests.support.extremes import BODIES
from tests.support.filled_tenants import furnish, pages_of, read
from tests.support.places import Place

pytestmark = [pytest.mark.django_db, pytest.mark.share]
#: How a page shows an error in a form.
_ERROR = re.compile(r'class="(errors|problems|field-error|note note-bad)"')
WRONG = ("", "\x07", "9" * 400, "9999-12-31T23:59:59-14:00", "x" * 3_000)
ACCOUNT = (
    "/accounts/password/change/", "/accounts/reauthenticate/", "/accounts/2fa/totp/activate/",
    "/accounts/2fa/recovery-codes/generate/", "/accounts/2fa/webauthn/add/",
)  # fmt: skip
KINDS = ("application/json", "multipart/form-data; boundary=x", "text/plain")
ENTRANCE = ("/accounts/login/", "/accounts/password/reset/")


class _Forms(HTMLParser):
    """The forms of a page with method POST: (address, hidden fields, names of fields to fill in, names of files)."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str], set[str], set[str]]] = []
        self._open: tuple[str, dict[str, str], set[str], set[str]] | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._open = (
                (given.get("action", ""), {}, set(), set()) if given.get("method", "").lower() == "post" else None
            )
            if self._open is not None:
                self.found.append(self._open)
        elif self._open is not None and given.get("name"):
            _, hidden, filled, files = self._open
            kind = given.get("type", "text") if tag == "input" else tag
            if kind == "hidden":
                hidden[given["name"]] = given.get("value", "")
            elif kind == "file":
                files.add(given["name"])
            elif kind not in ("submit", "button", "checkbox"):
                filled.add(given["name"])

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._open = None


def refused(client: Client, pages: list[str]) -> tuple[list[str], int]:
    """Fill in each form of the pages wrongly.

    Return the forms with errors but without status 422, and the number with 422.
    """
    wrong, right, sent = [], 0, set()
    for page in pages:
        for action, hidden, filled, files in _Forms(read(client, page)[1]).found:
            address = action if action.startswith("/") else page.partition("?")[0] if not action else ""
            kind = (resolve(address).view_name, *sorted(filled)) if address else ()
            if not kind or not filled | files or kind in sent:
                continue
            sent.add(kind)
            for value in WRONG:
                broken = {name: SimpleUploadedFile("a.jpg", b"\xff\xd8\xffbroken" + value.encode()) for name in files}
                answer = _sent(client, address, {**hidden, **dict.fromkeys(filled, value), **broken})
                right += answer.status_code == 422
                if answer.status_code >= 500 or (answer.status_code == 200 and _ERROR.search(_text(answer))):
                    wrong.append(f"{address} {sorted(filled | files)} {value[:20]!r}: {answer.status_code}")
    return wrong, right


def _sent(client: Client, address: str, data: Any, **more: Any) -> Any:
    """Post the form, and roll back its changes."""
    before = transaction.savepoint()
    answer = client.post(address, data, **more)
    transaction.savepoint_rollback(before)
    return answer


def _text(answer: Any) -> str:
    return "" if answer.streaming else answer.content.decode(errors="replace")


def test_a_form_that_is_shown_again_with_what_is_wrong_is_422(make: Callable[..., Place]) -> None:
    place = furnish(make)
    client = place.client()
    client.raise_request_exception = False
    pages = list(pages_of(client, f"/t/{place.tenant.slug}/"))
    wrong, right = refused(client, [*pages, *ACCOUNT])
    assert not wrong, "\n".join(wrong)
    assert right > 50


def test_so_is_one_of_a_person_who_is_not_signed_in(client: Client) -> None:
    wrong, right = refused(client, list(ENTRANCE))
    assert not wrong, "\n".join(wrong)
    assert right >= len(ENTRANCE)


def test_no_body_breaks_an_address_that_takes_a_post(make: Callable[..., Place]) -> None:
    """Check each address with JSON, even if it does not read any, and also with a form's content type."""
    place = furnish(make)
    client = place.client()
    client.raise_request_exception = False
    known = [path.partition("?")[0] for path in pages_of(client, f"/t/{place.tenant.slug}/")]
    named = [(each, {name: "1" for _, name in each.parameters}) for each in addresses_of_tenants()]
    paths = dict.fromkeys([*known, *(each.path(place.tenant.slug, values) for each, values in named)])
    sent = list(product(BODIES, KINDS))
    broken = []
    for number, path in enumerate(filter(_takes_a_post, paths)):
        share = 4 if SOAK else 41  # all of them would take twenty minutes
        for body, kind in sent[number % share :: share]:
            answer = _sent(client, path, body, content_type=kind)
            if answer.status_code >= 500:
                broken.append(f"{path} {kind} {body[:20]!r}: {answer.status_code}")
    assert not broken, "\n".join(broken)


def _takes_a_post(path: str) -> bool:
    try:
        return "POST" in getattr(resolve(path).func, "methods", ())
    except Resolver404:
        return False
