"""Cached parts of pages: never another person's, another tenant's or another language's."""

import re
from itertools import product

import pytest
from django.template import Context, Template
from django.utils import translation

from tenants.models import Staff
from tenants.scope import tenant_scope
from tests.support.places import signed_in, staff_of

_NAV = re.compile(r'<nav class="(?:side|bar)"[^>]*? aria-label="([^"]+)"[^>]*>(.*?)</nav>', re.DOTALL)
_LINK = re.compile(r'<a\s[^>]*?href="([^"]+)"[^>]*>')
_CURRENT = re.compile(r'<a\s[^>]*?href="([^"]+)"[^>]*\saria-current="page"')
_WORDS = {"en": ("Main menu", "Copied"), "ja": ("業務", "コピーしました")}
_ROLES = ("owner", "guard")


@pytest.fixture
def browsers(tenants):
    """Return, by role, the browser of a person who has it in both tenants."""
    made = {}
    for role in _ROLES:
        with tenant_scope(tenants[0]):
            user = staff_of(tenants[0], role)
        with tenant_scope(tenants[1]):
            Staff.objects.create(tenant=tenants[1], user=user, role=role)
        made[role] = signed_in(user)
    return made


def test_nobody_is_shown_the_frame_of_another(browsers):
    """Check in turn, in one process: each visit differs from an earlier one in only one thing."""
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
            assert _CURRENT.findall(links) == [each for each in to if each == path], (path, role)
        assert _CURRENT.findall(side[1]) == [path], (path, role)


def draw(template, **context):
    return template.render(Context(context))


def test_what_is_kept_is_drawn_once_and_what_is_fresh_each_time():
    template = Template("{% cached place %}<b>{{ told }}</b>{% live %}<i>{{ told }}</i>{% endlive %}{% endcached %}")
    assert draw(template, place="a", told="one") == "<b>one</b><i>one</i>"
    assert draw(template, place="a", told="<two>") == "<b>one</b><i>&lt;two&gt;</i>"
    assert draw(template, place="b", told="two") == "<b>two</b><i>two</i>"
    with translation.override("ja"):
        assert draw(template, place="a", told="三") == "<b>三</b><i>三</i>"


def test_without_a_key_nothing_is_kept():
    template = Template("{% cached place %}{{ told }}{% live %}{{ told }}{% endlive %}{% endcached %}")
    assert draw(template, place=None, told="one") == "oneone"
    assert draw(template, place=None, told="two") == "twotwo"


def test_what_is_fresh_stays_so_in_something_kept_within_something_kept():
    inner = "{% cached word %}[{{ word }}{% live %}{{ told }}{% endlive %}]{% endcached %}"
    template = Template("{% cached place %}(" + inner + "{% live %}{{ told }}{% endlive %}){% endcached %}")
    assert draw(template, place="a", word="w", told="1") == "([w1]1)"
    assert draw(template, place="a", word="w", told="2") == "([w2]2)"


@pytest.mark.parametrize("first", ["one", "two"])
def test_a_token_is_never_kept(first):
    template = Template("{% cached place %}<form>{% csrf_token %}</form>{% endcached %}")
    draw(template, place="a", csrf_token=first)
    assert 'value="other"' in draw(template, place="a", csrf_token="other")


def test_the_next_person_sees_nothing_of_the_one_before(person, tenants):
    page = f"/t/{tenants[0].slug}/members/"
    first, second = person("owner"), person("owner")
    told = [client.get(page).content.decode() for client in (first, second, first)]
    emails = [set(re.findall(r'class="muted">([^<@]+@[^<]+)<', html)) for html in told]
    assert emails[0] == emails[2] != emails[1]
    assert all(len(each) == 1 for each in emails)
    tokens = [set(re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', html)) for html in told]
    assert all(len(each) == 1 for each in tokens), "one page, one token"
    assert not tokens[0] & tokens[1]


def test_a_list_says_where_it_is_whoever_looked_before(person, tenants):
    client, page = person("owner"), f"/t/{tenants[0].slug}/members/"
    for address in (page, f"{page}?sort=-code_key&size=25", f"{page}?q=x&group=g%22y", page):
        html = client.get(address).content.decode()
        assert f'name="next" value="{address.replace("&", "&amp;")}"' in html
        assert ("g%22y" in html) is ("g%22y" in address)
