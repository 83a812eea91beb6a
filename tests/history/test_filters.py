"""Any value in an address or a form of the log, and other tenants' IDs: a page, a message about the error, or 404."""

import itertools

import pytest
from django.utils import timezone

from portal.domain.history.filters import FILTERS
from portal.domain.history.models import HistoryDay
from portal.domain.people.models import Member
from portal.domain.places.models import PassController
from portal.history.models import SavedSearch
from tenants.scope import tenant_scope
from tests.history.test_exports import asked
from tests.support.extremes import NASTY
from tests.support.log import area, happened, loaded, record
from tests.support.members import said

pytestmark = pytest.mark.django_db
NAMES = [each.name for each in FILTERS]
FILTERED = [*NAMES, "q", "sort", "after", "before", "size"]
PAGES = ("", "exports/new/", "happened/", "people/")
LONG = ("9" * 5_000, "あ" * 5_000, "a," * 3_000, "0" * 200, "2026-11-23T" + "0" * 500, "-" * 3_000)
VALUES = [value.encode("utf-8", "replace").decode()[:5_000] for value in (*NASTY, *LONG)]
FINE = {200, 302, 400, 404, 422}


@pytest.fixture
def one(make):
    place = make(members=1)
    loaded(place)
    happened(place, record(timezone.now(), history_id="own", content="入室", member_id="m-1", device_id="D1"))
    return place


def url(place, rest=""):
    return f"/t/{place.tenant.slug}/logs/{rest}"


@pytest.mark.parametrize("every_page", [False, pytest.param(True, marks=pytest.mark.soak)], ids=["in turn", "all"])
@pytest.mark.parametrize("name", FILTERED)
def test_no_value_of_a_filter_breaks_the_list_or_its_export(one, manager, name, every_page):
    """Check each value of each filter, on every page that filters or, in turn, on one of them."""
    turn = FILTERED.index(name)
    in_turn = zip(itertools.islice(itertools.cycle(PAGES), turn, None), VALUES, strict=False)
    answers = {
        (page, value[:40]): manager.get(url(one, page), {name: [value, value[::-1]]}).status_code
        for page, value in (itertools.product(PAGES, VALUES) if every_page else in_turn)
    }
    assert not {asked: status for asked, status in answers.items() if status not in FINE}
    assert manager.get(url(one), {name: ["x"] * 900}).status_code == 200


@pytest.mark.parametrize("address", ["records/{}/", "people/{}/2026-11-23/", "doors/{}/2026-11-23/", "people/m-1/{}/"])
def test_no_text_in_an_address_breaks_a_record_or_a_day(one, manager, address):
    for value in (
        "~00",
        "a~00b",
        "~",
        "~2E~2E",
        "~FF~FE",
        "9" * 4_000,
        "%E3%81%82" * 1_000,
        "%00",
        "0000-00-00",
        "9999-12-31",
    ):
        assert manager.get(url(one, address.format(value))).status_code in (400, 404), value[:40]


@pytest.mark.parametrize("number", ["0", "9" * 18, "9" * 30])
@pytest.mark.parametrize("address", ["exports/{}/", "exports/{}/file/", "searches/{}/", "searches/{}/delete/"])
def test_a_number_that_nothing_has_is_not_found(one, manager, address, number):
    assert manager.get(url(one, address.format(number))).status_code == 404


def test_forms_take_whatever_is_sent_and_keep_nothing_that_means_nothing(one, manager):
    with tenant_scope(one.tenant):
        days = HistoryDay.objects.count()
    for value in VALUES:
        sent = {
            "searches/save/": {"name": value, "query": value},
            "exports/new/": {"kind": value},
            "../mirror/days/": {"day": [value, value], "next": value},
        }
        for page, fields in sent.items():
            assert manager.post(url(one, page).replace("logs/../", ""), fields).status_code in FINE, (page, value[:40])
    query = "&".join(f"{name}={value}" for name in NAMES for value in ("a%00b", "x" * 400))
    assert manager.post(url(one, "searches/save/"), {"name": "n", "query": query}).status_code == 302
    with tenant_scope(one.tenant):
        assert HistoryDay.objects.count() == days
        assert not SavedSearch.objects.filter(query__contains="%00").exists()


@pytest.fixture
def other(make):
    """Return another tenant with one row of everything that an address of the log can name."""
    place = make(members=1)
    loaded(place)
    with tenant_scope(place.tenant):
        Member.objects.create(member_id="their-member", member_name="Their Person", name_key="their person")
        PassController.objects.create(device_id="their-door", device_name="Their Door")
    area(place, "theirs", **{"their-door": "in"})
    about = {"member_id": "their-member", "member_name": "Their Person", "device_id": "their-door"}
    happened(
        place, record(timezone.now(), history_id="theirs", content="Their entry", device_name="Their Door", **about)
    )
    return place


def test_ids_of_another_tenant_are_as_unknown_as_those_that_nobody_has(one, manager, other):
    theirs = other.client(other.staff("facility manager"))
    export = asked(other, theirs)
    theirs.post(url(other, "searches/save/"), {"name": "Their search", "query": "person=their-member"})
    with tenant_scope(other.tenant):
        search = SavedSearch.objects.get()
    today = timezone.localdate().isoformat()
    pages = ["records/theirs/", f"people/their-member/{today}/", f"doors/their-door/{today}/"]
    numbered = [f"exports/{export.pk}/", f"exports/{export.pk}/file/", f"exports/{export.pk}/progress/",
                f"searches/{search.pk}/", f"searches/{search.pk}/delete/"]  # fmt: skip
    assert {page: theirs.get(url(other, page)).status_code for page in pages} == dict.fromkeys(pages, 200)
    assert {page: manager.get(url(one, page)).status_code for page in pages + numbered} == dict.fromkeys(
        pages + numbered, 404
    )
    posted = [f"searches/{search.pk}/delete/", f"exports/{export.pk}/stop/", f"exports/{export.pk}/continue/"]
    assert {manager.post(url(one, page), {"name": "Mine"}).status_code for page in posted} == {404}
    with tenant_scope(other.tenant):
        assert SavedSearch.objects.get().name == "Their search"


@pytest.mark.parametrize("asked_for", ["person=their-member", "device=their-door", "area=a-theirs"])
def test_filters_by_what_another_tenant_has_find_nothing_and_name_nobody(one, manager, other, asked_for):
    for page in ("", "exports/new/", "happened/"):
        answer = manager.get(url(one, f"{page}?{asked_for}"))
        assert answer.status_code == 200
        words = said(answer)
        assert "Their" not in words
        assert "入室" not in words
