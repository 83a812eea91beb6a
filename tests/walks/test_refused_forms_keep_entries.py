"""A refused form is shown again with everything that was typed, on the page that gives the reason.

Walks the pages of a furnished tenant, which takes many seconds.
"""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.db import transaction
from django.test import Client

from tenants.interrupted_requests import TECHNICAL_FIELDS
from tests.support.filled_tenants import furnish, pages_of
from tests.support.forms import PageForm, forms_of
from tests.support.places import Place
from tests.walks.test_forms_sent_twice import forms_of_each_kind, written

pytestmark = [pytest.mark.django_db, pytest.mark.share]
#: Pages whose forms have text fields.
AREAS = (
    "alerts/", "cameras/", "evidence/", "groups/", "guests/", "members/", "plans/", "reports/", "reviews/",
    "rights/templates/", "roll-call/", "staff/",
)  # fmt: skip
#: Texts that are no number, date or time, and too long for most fields; the last cannot be typed.
ODD = ("Typed 半分 <b>&", "Typed " + "x" * 3_000, "Typed\x00半分")


def lost(client: Client, page: str, form: PageForm, odd: str) -> str:
    """Send the form with this text in each of its fields. Name what is lost where the form was refused."""
    wanted = form.data(**dict.fromkeys(form.typed, odd))
    before = written()
    answer: Any = client.post(form.address, wanted, headers={"referer": f"http://testserver{page}"})
    if written() - before or answer.streaming:
        return ""
    at = form.address
    while answer.status_code == 302:
        at = answer["Location"]
        answer = client.get(at)
    typed = {name: [odd.replace("\x00", "")] for name in form.typed if name not in TECHNICAL_FIELDS}
    text = answer.content.decode(errors="replace")
    told = [each.data() for each in forms_of(text, urlsplit(at).path)]
    if any({name: [_clean(each) for each in data.get(name, [])] for name in typed} == typed for data in told):
        return ""
    return f"{page} {form.address} {sorted(typed)} {odd[:12]!r}: {answer.status_code} {at}"


def _clean(value: str) -> str:
    return value.replace("\x00", "").replace("\ufffd", "")


def test_what_was_typed_in_a_refused_form_is_there_again(make: Callable[..., Place]) -> None:
    place = furnish(make)
    client, home = place.client(), f"/t/{place.tenant.slug}/"
    pages = [page for area in AREAS for page in pages_of(client, f"{home}{area}")]
    wrong, seen = [], set()
    for view, page, form in forms_of_each_kind(client, pages):
        for odd in ODD if form.typed else ():
            point = transaction.savepoint()
            wrong.append(lost(client, page, form, odd))
            transaction.savepoint_rollback(point)
            seen.add(view)
    found = list(filter(None, wrong))
    assert not found, "\n".join(found)
    assert len(seen) > 15, sorted(seen)
