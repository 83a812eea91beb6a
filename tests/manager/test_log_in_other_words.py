"""The log of a service with other categories and statuses: the overrides file defines their meaning."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from accessapi.overrides import OverrideError, load_overrides
from portal.base.ui.times import TOKYO
from portal.devices import status_reading
from portal.domain.history.models import History
from portal.domain.places.models import PassController
from portal.domain.presence import passages
from portal.domain.presence.models import LastPassage
from portal.history import exports
from portal.history.days import RecordType, type_expression, type_of
from tenants.scope import tenant_scope
from tests.support.log import happened, loaded, record
from tests.support.members import said

WORDS = """
[records]
categories = ["normal", "operation", "doubtful", "notice", "defect", "danger"]
refused = ["doubtful", "notice"]
suspicious = ["doubtful", "danger"]
[states]
over = ["settled", "ended_*"]
"""
NOW = timezone.now()


@pytest.fixture
def one(make):
    place = make(overrides=WORDS)
    with tenant_scope(place.tenant):
        PassController.objects.create(device_id="D1", device_name="倉庫 入口")
    loaded(place)
    return place


@pytest.fixture
def look(one):
    client = one.client(one.staff("facility manager"))
    return lambda rest="": client.get(f"/t/{one.tenant.slug}/logs/{rest}")


def at_door(**more):
    return record(NOW - timedelta(minutes=1), device_id="D1", device_name="倉庫 入口", **more)


@pytest.mark.parametrize(
    ("category", "status", "tone"),
    [("danger", "occur", "loud"), ("defect", "occur", "loud"), ("operation", "occur", "quiet")],
)
def test_a_serious_category_is_marked_as_such(one, look, category, status, tone):
    happened(one, at_door(category=category, status=status, content="Something"))
    assert re.search(rf'class="chip chip-{tone}">(<code>)?{category}', look().content.decode(), re.IGNORECASE)


@pytest.mark.parametrize("status", ["settled", "ended_by_guard"])
def test_what_is_over_is_said_to_be_over_and_no_alarm(one, look, status):
    (row,) = happened(one, at_door(category="danger", status=status, content="Something"))
    answer = look()
    assert 'class="chip chip-quiet">Over' in answer.content.decode()
    assert "Status Over" in said(look(f"records/{row.history_id}/"))
    with tenant_scope(one.tenant):
        assert "Over" in exports.cells_of(row)
        words = one.tenant.environment.catalogue
        sorted_here = History.objects.annotate(sort=type_expression(words)).values_list("sort", flat=True).get()
        assert type_of(row, words) == sorted_here == RecordType.OTHER


def test_the_filter_offers_what_is_over_by_the_services_word(one, look):
    assert re.findall(r'name="status" value="settled"><span>([^<]*)<', look().content.decode()) == ["Over"]


@pytest.mark.parametrize(("category", "soon"), [("defect", True), ("operation", True), ("doubtful", False)])
def test_a_door_is_read_at_once_after_a_serious_record(one, category, soon):
    with tenant_scope(one.tenant):
        PassController.objects.update(look_at=NOW + timedelta(hours=1), status_as_of=NOW - timedelta(hours=1))
    rows = happened(one, at_door(category=category, content="Something"))
    with tenant_scope(one.tenant):
        status_reading.on_histories(one.tenant, histories=rows)
        assert PassController.objects.get().urgent is soon


class TestWordsForWhatIsUsual:
    """A use, a remote command and a plain status also have the service's own words."""

    @pytest.fixture
    def one(self, make):
        words = '[records]\nused = ["access"]\noperated = ["remote"]\n[states]\nbegun = ["on"]'
        place = make(overrides=words)
        with tenant_scope(place.tenant):
            PassController.objects.create(device_id="D1", device_name="倉庫 入口")
        loaded(place)
        return place

    def test_a_use_is_an_entry_and_no_news(self, one, look):
        (row,) = happened(one, at_door(category="access", status="on", content="Passed", member_id="m1"))
        page = look().content.decode()
        assert "Passed" in page
        assert "chip chip-quiet" not in page
        words = one.tenant.environment.catalogue
        with tenant_scope(one.tenant):
            sorted_here = History.objects.annotate(sort=type_expression(words)).values_list("sort", flat=True).get()
            passages.save_new_passages(one.tenant, histories=[row])
            assert LastPassage.objects.get().device_id == "D1"
        assert type_of(row, words) == sorted_here == RecordType.ENTRY
        assert re.findall(r'name="status" value="on"><span>([^<]*)<', page) == ["Occurred"]

    def test_a_command_from_afar_has_its_door_read(self, one):
        with tenant_scope(one.tenant):
            PassController.objects.update(look_at=NOW + timedelta(hours=1), status_as_of=NOW - timedelta(hours=1))
        rows = happened(one, at_door(category="remote", content="Something"))
        with tenant_scope(one.tenant):
            status_reading.on_histories(one.tenant, histories=rows)
            assert PassController.objects.get().urgent

    def test_no_category_is_a_use_and_a_refusal(self):
        with pytest.raises(OverrideError, match="warning stands in used and in refused"):
            load_overrides('[records]\nused = ["warning"]')


def test_the_usual_words_have_their_usual_meaning():
    usual = load_overrides("").records
    assert (usual.alarm_categories, usual.device_alarm_categories) == (
        {"suspicious", "warning", "error", "emergency"},
        {"error", "emergency"},
    )


def test_words_in_the_label_are_shown_wherever_the_record_is(one, look):
    """Check that the words are shown beside the category, which the label may not repeat."""
    (row,) = happened(one, at_door(category="normal", content="", member_id="m1", member_label="Came by the gate"))
    day = row.at.astimezone(TOKYO).date()
    assert re.search(r"Came by the gate</code>\s*<span class=\"chip chip-quiet\">Normal<", look().content.decode())
    assert (
        "Came by the gate"
        in re.search(r"<h1.*?</h1>", look(f"records/{row.history_id}/").content.decode(), re.DOTALL)[0]
    )
    assert "Came by the gate" in said(look(f"people/m1/{day}/"))
    client = one.client(one.staff("facility manager"))
    for page in ("devices/", "devices/D1/"):
        assert "Came by the gate" in said(client.get(f"/t/{one.tenant.slug}/{page}")), page
