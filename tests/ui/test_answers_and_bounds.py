"""Bad input: fields at their bounds, and bad answers of the service. (Generated requests: tests/promises.)"""

from collections.abc import Callable
from urllib.parse import urlsplit

import pytest

from accessapi import limits
from portal.domain.people.models import Group
from tenants.scope import tenant_scope
from tests.support import faults
from tests.support.doors import real_doors
from tests.support.in_process_browser import Inside
from tests.support.isolation import url
from tests.support.places import Place
from tests.support.proxy import HttpProxy
from tests.support.sandbox import Sandbox

pytestmark = pytest.mark.django_db(transaction=True)
BOUNDS = {
    "member_name": (1, limits.MEMBER_NAME_MAX),
    "member_code": (0, limits.MEMBER_CODE_MAX),
    "card_data": (0, limits.CARD_DATA_MAX),
}


def at_the_bounds(place: Place) -> tuple[int, int, int]:
    """Test each field at, just below and just past each bound.

    Return the forms sent, invalid calls, and wrong answers.
    """
    groups = place.sandbox.api("GET", "/v1/membergroups", token=place.service.token).json()["membergroups"]
    group = groups[0]["membergroup_id"]
    with tenant_scope(place.tenant):
        for each in groups:
            name = each["membergroup_name"]
            Group.objects.create(membergroup_id=each["membergroup_id"], membergroup_name=name, name_key=name)
    sent = wrong = 0
    with Inside(place.owner) as browser:
        for name, (least, most) in BOUNDS.items():
            for letter in ("a", "あ", "𠮷"):
                for length in {max(least - 1, 0), least, most - 1, most, most + 1}:
                    form = browser.form(url(place, "members/new/"), having="nonce")
                    values = form.values | {"member_name": "n", "membergroup_id": group, name: letter * length}
                    answer = browser.post(form.action, values)
                    sent += 1
                    allowed = least <= length <= most
                    wrong += answer.status_code >= 500 or (allowed and letter == "a" and answer.status_code >= 400)
                    wrong += not allowed and answer.status_code == 302
    return sent, sum(call["status"] == 400 for call in place.calls()), wrong


def test_fields_at_their_bounds(place: Place) -> None:
    sent, invalid, wrong = at_the_bounds(place)
    assert sent > 20
    assert (invalid, wrong) == (0, 0)


UPSTREAM = {
    "not JSON": faults.answer(200, b"<html>"),
    "a list": faults.answer(200, b"[1, 2]"),
    "wrong types": faults.answer(200, b'{"members": 7, "member_id": [], "door_status": "x", "areas": {"a": 1}}'),
    "empty": faults.answer(200),
    "not UTF-8": faults.answer(200, b'{"a": "\xff"}'),
    "500": faults.answer(500, b"oops"),
    "404 HTML": faults.answer(404, b"<html>"),
}


def test_whatever_the_service_answers_pages_stand(sandbox: Sandbox, make: Callable[..., Place]) -> None:
    with HttpProxy(urlsplit(sandbox.url).port or 80, sandbox.addresses.usual) as proxy:
        place = make(base_url=proxy.url)
        door = real_doors(place)[0]
        pages = ["", f"devices/{door}/status/", f"devices/{door}/", "members/", "connection/"]
        with Inside(place.owner) as browser:
            for name, fault in UPSTREAM.items():
                asked = proxy.count(".", forwarded=False)
                with proxy.during(".", fault):
                    assert {browser.get(url(place, page)).status_code for page in pages} == {200}, name
                assert proxy.count(".", forwarded=False) > asked, name
