"""The frame around every page: who sees which area, where switching leads, and what the browser may run."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from portal.base.ui import nav
from portal.base.ui.chips import icon
from portal.base.ui.identity import COLOURS, initials, text_colour_on


def test_the_style_page_is_for_platform_staff_alone(support, person):
    assert support.get("/_components/").status_code == 200
    assert person("owner").get("/_components/").status_code == 404


def test_no_page_holds_inline_script_or_style(support):
    for path in ("/_components/", "/_components/confirm/", "/_components/forbidden/", "/_components/plain/"):
        html = support.get(path).content.decode()
        assert not re.search(r"\sstyle=|<style|\son[a-z]+=|javascript:", html), path
        assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", html))


def test_areas_of_work_are_those_of_the_role(person):
    page = person("receptionist").get("/t/aozora/guests/").content.decode()
    assert "/t/aozora/members/" not in page
    page = person("guard").get("/t/aozora/").content.decode()
    assert 'href="/t/aozora/devices/"' in page
    assert "/t/aozora/members/" not in page
    page = person("owner").get("/t/aozora/").content.decode()
    for area in ("members", "groups", "imports", "devices", "connection", "staff", "audit", "roles"):
        assert f'href="/t/aozora/{area}/"' in page


def test_every_area_of_work_has_a_page_and_an_icon():
    for entry in nav.ENTRIES:
        assert reverse(entry.url_name, args=["tenant"]), entry
        assert icon(entry.icon).startswith("<svg")


def test_a_page_beyond_the_role_says_why(person):
    answer = person("receptionist").get("/t/aozora/members/")
    assert answer.status_code == 403
    assert "View members" in answer.content.decode()


def test_a_foreign_tenant_and_a_missing_one_look_alike(person):
    browser = person("owner")
    browser.get("/t/aozora/")  # reads the greeting
    foreign, missing = browser.get("/t/minato/"), browser.get("/t/nowhere/")
    assert foreign.status_code == missing.status_code == 404

    def words(answer):
        return re.sub(
            r'name="(?:csrfmiddlewaretoken|opened_by)" value="[^"]+"|X-CSRFToken[^}]+|minato|nowhere',
            "",
            answer.content.decode(),
        )

    assert words(foreign) == words(missing)


def test_switching_lists_own_tenants_and_keeps_the_kind_of_page(person):
    page = person("auditor").get("/switch/?kind=members&here=aozora").content.decode()
    assert 'href="/t/aozora/members/"' in page
    assert "minato" not in page


def test_switching_to_a_page_beyond_the_role_leads_to_one_within(person):
    page = person("guard").get("/switch/?kind=members&here=aozora").content.decode()
    assert 'href="/t/aozora/"' in page


def test_the_palette_finds_pages_of_the_role_alone(person):
    page = person("owner").get("/t/aozora/find/?q=mem").content.decode()
    assert 'href="/t/aozora/members/"' in page
    page = person("guard").get("/t/aozora/find/?q=mem").content.decode()
    assert "No results for “" in page
    assert person("owner").get("/t/minato/find/?q=mem").status_code == 404


def test_the_palette_survives_whatever_is_typed(person):
    browser = person("owner")
    for text in ("", " ", "%", "<b>", "田", "x" * 5000, "'\"\\"):
        assert browser.get("/t/aozora/find/", {"q": text}).status_code == 200


def test_theme_and_language_are_kept_and_lead_back(person):
    browser = person("owner")
    answer = browser.post("/look/", {"theme": "dark", "next": "/t/aozora/"})
    assert answer["Location"] == "/t/aozora/"
    assert 'data-theme="dark"' in browser.get("/t/aozora/").content.decode()
    browser.post("/look/", {"language": "ja", "next": "/t/aozora/"})
    assert '<html lang="ja"' in browser.get("/t/aozora/").content.decode()
    assert browser.post("/look/", {"theme": "pink"}).status_code == 302
    assert 'data-theme="dark"' in browser.get("/t/aozora/").content.decode()


def test_look_leads_back_to_a_page_also_from_the_answer_to_a_form(person):
    browser = person("owner")
    answer = browser.post("/look/", {"theme": "dark", "next": "/t/aozora/connection/licence-key/?x=1"})
    assert answer["Location"] == "/t/aozora/connection/"
    assert browser.post("/look/", {"theme": "dark", "next": "/t/aozora/members/?q=a"})["Location"].endswith("/?q=a")


def test_the_address_of_a_form_leads_to_its_page_and_changes_nothing(person):
    answer = person("owner").get("/t/aozora/connection/licence-key/")
    assert answer.status_code == 405
    assert answer["Allow"] == "POST"
    page = answer.content.decode()
    assert "Nothing was changed by opening it." in page
    assert re.search(r'<a class="btn" href="/t/aozora/connection/">', page)


@pytest.mark.django_db
@pytest.mark.parametrize("elsewhere", ["https://evil.test/", "//evil.test", "/\\evil.test", "javascript:alert(1)", ""])
def test_look_never_leads_to_another_site(elsewhere):
    answer = Client().post("/look/", {"theme": "dark", "next": elsewhere})
    assert answer["Location"] == "/"
    assert answer.cookies["theme"].value == "dark"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Aozora Building", "AB"),
        ("青空ビル", "青空"),
        ("株式会社 港湾倉庫", "港湾"),
        ("K", "K"),
        ("", "?"),
        ("kita", "KI"),
    ],
)
def test_initials_tell_tenants_apart(name, expected):
    assert initials(name) == expected


def test_every_colour_of_a_tenant_carries_white_letters():
    assert {text_colour_on(colour) for colour in COLOURS.values()} == {"#ffffff"}
