"""Every form that can be filled in: after the session has ended, the typed text is there again, and nothing was done.

Walks the pages of a furnished tenant, which takes many seconds.
"""

import re
from collections.abc import Callable
from html import unescape
from importlib import import_module
from typing import Any

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import resolve

from tenants.interrupted_requests import TECHNICAL_FIELDS
from tests.support.filled_tenants import furnish, pages_of, read
from tests.support.forms import PageForm, forms_of
from tests.support.places import Place, signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.share]
#: Forms of the page frame: the look, and signing out.
NO_ENTRIES = ("ui:look", "account_")
MARK = "Typed 半分 <b>&"


def forms_of_each_kind(client: Client, pages: list[str]) -> dict[tuple[str, ...], tuple[str, PageForm]]:
    """Return one form of each kind, with its page."""
    found: dict[tuple[str, ...], tuple[str, PageForm]] = {}
    for page in pages:
        for form in forms_of(read(client, page)[1], page):
            view = resolve(form.address.partition("?")[0]).view_name
            if not view.startswith(NO_ENTRIES):
                found.setdefault((view, *sorted({name for name, _ in form.values})), (page, form))
    return found


def sign_in_again(client: Client, place: Place) -> None:
    """Sign in again as the same person in the anonymous session (tests/tenants/test_unsent.py)."""
    store: Any = import_module(settings.SESSION_ENGINE).SessionStore
    anonymous = store(client.cookies[settings.SESSION_COOKIE_NAME].value)
    kept = dict(anonymous.items())
    fresh = signed_in(place.owner)
    session = fresh.session
    session.update(kept)
    session.save()
    client.cookies[settings.SESSION_COOKIE_NAME] = session.session_key


def lost(place: Place, page: str, form: PageForm) -> str:
    """Send the form after its session has ended, sign in again, and name what was not restored."""
    client = place.client()
    Session.objects.filter(session_key=client.session.session_key).delete()
    wanted = form.data(**dict.fromkeys(form.typed, MARK))
    asked = client.post(form.address, wanted, headers={"referer": f"http://testserver{page}"})
    if asked.status_code != 302 or "unsent%3D" not in asked["Location"]:
        return f"{form.address}: {asked.status_code} {asked.headers.get('Location')}"
    token = client.session["tenants.interrupted_requests"]["token"]
    sign_in_again(client, place)
    status, text = read(client, f"{page}{'&' if '?' in page else '?'}unsent={token}")
    found = [each for each in forms_of(text, page) if each.address == form.address]
    expected = {
        name: values for name, values in wanted.items() if name not in TECHNICAL_FIELDS and name not in form.secret
    }
    if any({name: each.data().get(name) for name in expected} == expected for each in found):
        return ""
    differ = [
        {name: (values, each.data().get(name)) for name, values in expected.items() if each.data().get(name) != values}
        for each in found
    ]
    return f"{page} {form.address}: {status} {differ}"


def test_what_was_typed_in_any_form_is_there_again(make: Callable[..., Place]) -> None:
    place = furnish(make)
    client = place.client()
    forms = forms_of_each_kind(client, list(pages_of(client, f"/t/{place.tenant.slug}/")))
    wrong = list(filter(None, (lost(place, page, form) for page, form in forms.values())))
    assert not wrong, "\n".join(wrong)
    assert len(forms) > 25
    print(len(forms), sorted(forms))


def test_a_form_that_has_expired_leads_to_a_page_that_opens(make: Callable[..., Place]) -> None:
    """Send each form with the token of another sign-in, and without the page that it came from."""
    place = furnish(make)
    client, checked = place.client(), Client(enforce_csrf_checks=True)
    forms = forms_of_each_kind(client, list(pages_of(client, f"/t/{place.tenant.slug}/")))
    checked.cookies = client.cookies
    wrong = []
    for _page, form in forms.values():
        answer = checked.post(form.address, form.data(csrfmiddlewaretoken="z" * 64, opened_by=""))
        text = answer.content.decode()
        again = re.search(r'href="([^"]+)">Open it again', text)
        opened = client.get(unescape(again[1]), follow=True).status_code if again else None
        if (answer.status_code, "Nothing was changed" in text, opened) != (403, True, 200):
            wrong.append(f"{form.address}: {answer.status_code}, {again and again[1]}: {opened}")
    assert not wrong, "\n".join(wrong)
    assert len(forms) > 25
