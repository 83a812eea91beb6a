"""The rights editor in a real browser: bars are dragged and moved by keys, the sentence follows, and it is saved."""

import pytest
from playwright.sync_api import Page, expect

from accessapi.permissions import by_schedule, weekly
from portal.domain.places.models import Area
from portal.domain.rights import words
from tests.support.accessibility import barriers
from tests.support.members import MembersDesk

OFFICE = by_schedule(weekly("08:00:00", "19:00:00", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday"))


@pytest.fixture
def desk(place) -> MembersDesk:
    return MembersDesk(place)


@pytest.fixture
def editor(open_page, desk):
    """Return `editor(width)`: the editor of one member with office hours in the first area.

    Page errors fail the test.
    """
    member = desk.members()[0]
    with desk.scope():
        areas = list(Area.objects.order_by("area_name"))
    rights = {"default_mode": "option", "areas_list": [{"area_id": areas[0].area_id, "pass": OFFICE}]}
    path, token = f"/v1/members/{member.member_id}", desk.place.service.token
    desk.place.sandbox.api(
        "PUT", path, token=token, json={"devices_pass": rights, "keys_pass": {"default_mode": "deny_all"}}
    )

    def make(width=1440, **options) -> Page:
        path = f"{desk.url}{member.member_id}/rights/"
        return open_page(desk.client, path, width=width, height=1000, **options)

    make.areas, make.member = areas, member
    return make


def drag(page: Page, begin: tuple[str, float], end: tuple[str, float]) -> None:
    """Drag from an hour on a day to another in the first schedule."""

    def at(day: str, hour: float) -> tuple[float, float]:
        box = page.locator(f'[data-schedule] [data-day="{day}"] .wk-lane').first.bounding_box()
        assert box
        return box["x"] + box["width"] * hour / 24, box["y"] + box["height"] / 2

    page.mouse.move(*at(*begin))
    page.mouse.down()
    page.mouse.move(*at(begin[0], (begin[1] + end[1]) / 2))
    page.mouse.move(*at(*end))
    page.mouse.up()


def test_bars_are_dragged_and_moved_by_keys_the_sentence_follows_and_the_service_has_it(editor, desk):
    page = editor()
    says = page.locator("[data-says]").first
    expect(says).to_have_text("Weekdays 08:00 to 19:00")
    drag(page, ("Saturday", 10), ("Sunday", 15))
    expect(says).to_have_text("Weekdays 08:00 to 19:00, and weekends 10:00 to 15:00")
    expect(page.locator("[data-announce]")).to_have_text("Saturday, Sunday, 10:00 to 15:00")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    expect(says).to_have_text("Weekdays 08:00 to 19:00, and weekends 10:15 to 15:30")
    page.keyboard.press("Shift+Delete")  # Saturday alone
    expect(says).to_have_text("Weekdays 08:00 to 19:00, and Sunday 10:15 to 15:30")
    drag(page, ("Wednesday", 19), ("Wednesday", 20.5))  # the end of a bar changes all of its days
    expect(says).to_have_text("Weekdays 08:00 to 20:30, and Sunday 10:15 to 15:30")
    page.get_by_role("button", name="Undo").first.click()
    expect(says).to_have_text("Weekdays 08:00 to 19:00, and Sunday 10:15 to 15:30")
    expect(page.locator("[data-changes]")).to_contain_text("Sunday 10:15 to 15:30")

    times = page.locator('[data-slot="weekly"]').last.locator(".slot-time")
    times.first.fill("22")
    times.last.fill("6")
    expect(page.locator("[data-schedule] .wk-night")).to_have_count(2)
    expect(says).to_have_text("Monday 00:00 to 06:00; weekdays 08:00 to 19:00, and Sunday 22:00 to 24:00")

    page.locator("[data-choose]").nth(1).select_option("new")
    page.locator('[data-schedule="s2"]').get_by_role("button", name="+ Monday").click()
    expect(page.locator('[data-schedule="s2"] [data-says]')).to_have_text("Monday 09:00 to 17:00")
    page.get_by_role("button", name="Save rights").click()
    expect(page.locator('[data-state="done"]').first).to_be_visible()
    entries = desk.at_service(editor.member.member_id)["devices_pass"]["areas_list"]
    said = {entry["area_id"]: words.pass_text(entry["pass"]) for entry in entries}
    assert said[editor.areas[0].area_id] == (
        "Monday 00:00 to 06:00; weekdays 08:00 to 19:00, and Sunday 22:00 to 24:00"
    )
    assert "Monday 09:00 to 17:00" in said.values()


def test_the_editor_fits_a_phone_and_axe_finds_nothing(editor):
    page = editor(390, bypass_csp=True)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert barriers(page, every=True) == []
