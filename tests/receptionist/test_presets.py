"""A manager creates the desk's presets; a receptionist uses them, and may not change them."""

from datetime import timedelta

import pytest
from django.utils import timezone

from portal.domain.places.models import Area
from portal.domain.visits.models import Preset
from tests.support.desk import GuestDesk, said


@pytest.fixture
def desk(place):
    return GuestDesk(place, "facility manager")


def keep(desk, rest="presets/new/", **values):
    page = desk.get(rest)
    form = page[page.index('<form class="form"') :]
    token_free = {"name": "来客", "ends": "minutes", "minutes": "60", "grace_minutes": "0"}
    assert 'name="ends"' in form
    return desk.client.post(desk.url + rest, token_free | values, follow=True)


def rows(desk):
    with desk.scope():
        return list(Preset.objects.order_by("position", "pk"))


def test_presets_are_kept_ordered_and_one_of_them_is_the_default(desk):
    assert "No presets yet" in said(desk.client.get(desk.url + "presets/"))
    assert "Create the first preset" in said(desk.client.get(desk.url + "new/"))
    with desk.scope():
        area = Area.objects.order_by("pk")[0]
    keep(desk, name="Visitor", name_ja="来客", area_ids=[area.area_id], remarks_ja="南口へ")
    keep(desk, name="Night", ends="until", until="06:00", minutes="")
    first, night = rows(desk)
    assert (first.is_default, night.is_default) == (True, False)
    assert (night.minutes, str(night.until)) == (None, "06:00:00")
    page = said(desk.client.get(desk.url + "presets/"))
    assert area.area_name in page
    desk.client.post(f"{desk.url}presets/{night.pk}/default/")
    desk.client.post(f"{desk.url}presets/{night.pk}/move/", {"to": "up"})
    assert [(preset.name, preset.is_default) for preset in rows(desk)] == [("Night", True), ("Visitor", False)]
    desk.client.post(f"{desk.url}presets/{night.pk}/delete/")
    (left,) = rows(desk)
    assert left.is_default
    assert 'value="Visitor"' in desk.get(f"presets/{left.pk}/")


def test_a_preset_until_a_time_of_day_ends_on_the_next_day_if_that_has_passed(desk):
    assert "An end before the start is on the next day." in desk.get("presets/new/")
    now = timezone.localtime().replace(second=0, microsecond=0)
    desk.preset("Night", minutes=None, until=f"{now:%H:%M}", is_default=True)
    tomorrow = f"{now + timedelta(days=1):%Y-%m-%d %H:%M}"
    page = desk.get("new/")
    assert f'value="{tomorrow}"' in page
    assert f"→ {tomorrow}" in page


def test_areas_that_vanished_are_shown_and_flagged(desk):
    preset = desk.preset(area_ids=["gone-area"], keys=[{"key_device_id": "gone-box", "units_no_list": ["01"]}])
    assert "(deleted)" in said(desk.client.get(desk.url + "presets/"))
    page = said(desk.client.get(f"{desk.url}presets/{preset.pk}/"))
    assert "gone-area (deleted)" in page
    assert "Some areas or keys of this preset no longer exist. They are marked below. Clear them and save." in page
    keep(desk, f"presets/{preset.pk}/", name="Visitor")
    assert rows(desk)[0].area_ids == []


def test_bad_input_is_told_and_nothing_is_kept(desk):
    for values, words in [
        ({"name": ""}, "Enter a name"),
        ({"name": "x" * 61}, "At most 60"),
        ({"minutes": ""}, "Enter the minutes."),
        ({"minutes": "0"}, "greater than or equal to 1"),
        ({"ends": "until", "until": ""}, "Enter the time."),
        ({"grace_minutes": "10081"}, "Enter at most 7 days."),
        ({"remarks_en": "x" * 201}, "At most 200"),
        ({"area_ids": ["nobody"]}, "no longer exists"),
    ]:
        assert words in said(keep(desk, **values)), values
    assert rows(desk) == []


def test_a_receptionist_uses_them_and_nothing_else(desk, make):
    preset = desk.preset("Visitor")
    reception = desk.place.client(desk.place.staff("receptionist"))
    assert "Visitor" in said(reception.get(desk.url + "new/"))
    for rest in ("presets/", "presets/new/", f"presets/{preset.pk}/", f"presets/{preset.pk}/delete/"):
        assert reception.get(desk.url + rest).status_code == 403
    for rest in ("move/", "default/", "delete/"):
        assert reception.post(f"{desk.url}presets/{preset.pk}/{rest}").status_code == 403
    other = GuestDesk(make(members=1), "facility manager")
    for rest in ("", "delete/"):
        assert other.client.get(f"{other.url}presets/{preset.pk}/{rest}").status_code == 404
    for rest in ("move/", "default/", "delete/"):
        assert other.client.post(f"{other.url}presets/{preset.pk}/{rest}").status_code == 404
    assert rows(desk)[0].name == "Visitor"
