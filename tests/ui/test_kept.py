"""What a page draws once for all: never another person's, another tenant's or another language's."""

import re
from itertools import product

import pytest

from tenants.models import Staff
from tenants.scope import tenant_scope
from tests.support.places import signed_in, staff_of

_NAV = re.compile(r'<nav class="(?:side|bar)" aria-label="([^"]+)">(.*?)</nav>', re.DOTALL)
_LINK = re.compile(r'<a [^>]*?href="([^"]+)"[^>]*>')
_CURRENT = re.compile(r'<a [^>]*?href="([^"]+)"[^>]* aria-current="page"')
_WORDS = {"en": ("Areas of work", "Copied"), "ja": ("業務", "コピーしました")}
_ROLES = ("owner", "guard")


@pytest.fixture
def browsers(tenants):
    """By role, the browser of somebody who has it in both tenants."""
    made = {}
    for role in _ROLES:
        with tenant_scope(tenants[0]):
            user = staff_of(tenants[0], role)
        with tenant_scope(tenants[1]):
            Staff.objects.create(tenant=tenants[1], user=user, role=role)
        made[role] = signed_in(user)
    return made


def test_nobody_is_shown_the_frame_of_another(browsers):
    """In turn, in one process: each visit after one that differs from it in nothing but one thing."""
    visits = list(product(("", "devices/"), ("en", "ja"), ("aozora", "minato"), _ROLES))
    for kind, language, slug, role in [*visits, *reversed(visits)]:
        path = f"/t/{slug}/{kind}"
        page = browsers[role].get(path, headers={"accept-language": language}).content.decode()
        areas_of_work, copied = _WORDS[language]
        assert f'data-copied="{copied}"' in page, (path, role, language)
        side, bar = _NAV.findall(page)
        for name, links in (side, bar):
            to = _LINK.findall(links)
            assert name == areas_of_work, (path, role, language)
            assert all(each.startswith(f"/t/{slug}/") for each in to), (path, role, to)
            assert (f"/t/{slug}/members/" in to) == (role == "owner"), (path, role, to)
            assert _CURRENT.findall(links) == [path], (path, role)
