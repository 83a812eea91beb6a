"""The menu: its groups, what a role and a contract show in it, and the first page of a role."""

import re

import pytest
from django.utils import translation

from portal.base.ui import nav
from stack.paths import ROOT
from tenants.models import Connection
from tenants.roles import find_role
from tenants.scope import tenant_scope


def groups_of(html):
    """Return the groups of the sidebar: whether each is open."""
    found = re.findall(r'<details data-group="(\w+)"( open)?>', html)
    return {name: bool(is_open) for name, is_open in found}


def bar_of(html):
    """Return the labels of the phone's bar."""
    bar = html.split('<nav class="bar"', 1)[1].split("<details", 1)[0]
    return re.findall(r"<span>([^<]+)</span>", bar)


def test_a_group_has_at_most_seven_entries_and_each_entry_a_group():
    assert max(len(section.kinds) for section in nav.SECTIONS) <= 7
    assert {entry.kind for entry in nav.ENTRIES} == {kind for section in nav.SECTIONS for kind in section.kinds}


@pytest.mark.parametrize("language", ["en", "ja"])
def test_every_label_of_the_menu_is_in_the_glossary(language):
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| [^|]+ \|$", (ROOT / "docs/glossary.md").read_text(), re.M)
    words = {row[language == "ja"] for row in rows}
    with translation.override(language):
        labels = {str(each.label) for each in (*nav.SECTIONS, *nav.ENTRIES)}
    assert labels - words == set()


def test_a_folded_group_stays_folded_for_the_person(person):
    owner = person("owner")
    assert set(groups_of(owner.get("/t/aozora/").content.decode()).values()) == {True}
    assert owner.post("/look/menu/", {"group": "people", "folded": "1"}).status_code == 204
    owner.post("/look/menu/", {"group": "access", "folded": "1"})
    assert [name for name, is_open in groups_of(owner.get("/t/aozora/").content.decode()).items() if not is_open] == [
        "people",
        "access",
    ]
    owner.post("/look/menu/", {"group": "people", "folded": ""})
    assert groups_of(owner.get("/t/aozora/").content.decode())["people"]


def test_the_group_of_the_page_is_open(person):
    owner = person("owner")
    owner.post("/look/menu/", {"group": "people", "folded": "1"})
    assert groups_of(owner.get("/t/aozora/members/").content.decode())["people"]


def test_an_entry_without_its_contract_is_not_in_the_menu(person, tenants):
    with tenant_scope(tenants[0]):
        Connection.objects.update(contracts_refused=["key_box"])
    page = person("guard").get("/t/aozora/").content.decode()
    assert 'href="/t/aozora/keys/"' not in page
    assert 'href="/t/aozora/devices/"' in page


def test_the_connection_page_names_the_entries_that_a_missing_contract_hides(person, tenants):
    owner = person("owner")
    with tenant_scope(tenants[0]):
        Connection.objects.update(state="connected", contracts_refused=[])
    assert "Hidden from the menu" not in owner.get("/t/aozora/connection/").content.decode()
    with tenant_scope(tenants[0]):
        Connection.objects.update(contracts_refused=["door"])
    page = owner.get("/t/aozora/connection/").content.decode()
    assert "Hidden from the menu: Doors, Intercom, Lockdowns" in page
    assert "Ask the vendor to add it, then an owner reconnects." in page


@pytest.mark.parametrize(
    ("role", "labels"),
    [
        ("guard", ["Doors", "Alerts", "Activity log", "Lockdowns"]),
        ("receptionist", ["Guests", "On site", "Intercom", "Roll calls"]),
        ("facility manager", ["Overview", "Members", "Doors", "Alerts"]),
    ],
)
def test_a_phone_has_the_four_pages_of_the_role(person, role, labels):
    page = person(role).get("/t/aozora/", follow=True).content.decode()
    assert bar_of(page) == [*labels, "More"]


def test_every_role_has_a_first_page():
    assert nav.home_of("aozora", find_role("guard").permissions) == "/t/aozora/"
    assert nav.home_of("aozora", find_role("reviewer").permissions) == "/t/aozora/reviews/mine/"


def test_the_address_of_a_tenant_leads_to_the_first_page_of_the_role(person):
    answer = person("receptionist").get("/t/aozora/")
    assert (answer.status_code, answer["Location"]) == (302, "/t/aozora/guests/")


def test_a_table_counts_its_filters_in_force(person):
    plain = person("owner").get("/t/aozora/alerts/").content.decode()
    narrowed = person("owner").get("/t/aozora/alerts/?state=open").content.decode()

    def label(html):
        return re.sub(r"<[^>]+>|\s+", " ", html.split('for="alerts-fold">', 1)[1].split("</label>", 1)[0]).split()

    assert label(plain) == ["Filters"]
    assert label(narrowed) == ["Filters", "1"]
