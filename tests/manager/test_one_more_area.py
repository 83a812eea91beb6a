"""A facility manager adds one more area to a member, from the member's page, with a real service."""

from portal.domain.rights import words
from tests.manager.test_rights import NO_KEYS, OFFICE, desk, listed  # noqa: F401 - desk is a fixture
from tests.rights.page import posted


def test_an_area_is_added_from_the_page_of_a_member_and_saved_as_it_is_shown(desk):  # noqa: F811 - a fixture
    desk.give(devices_pass=listed((desk.areas[0], OFFICE)), keys_pass=NO_KEYS)
    desk.client.get(desk.editor)
    page = desk.client.get(f"{desk.url}{desk.member.member_id}/").content.decode()
    assert f"{desk.editor}?area={desk.areas[1].area_id}" in page
    assert f"{desk.editor}?area={desk.areas[0].area_id}" not in page
    form = posted(desk.client.get(desk.editor, {"area": desk.areas[1].area_id}).content.decode())
    assert 'data-state="done"' in desk.save(form).content.decode()
    passes = {entry["area_id"]: entry["pass"] for entry in desk.stored["devices_pass"]["areas_list"]}
    assert set(passes) == {desk.areas[0].area_id, desk.areas[1].area_id}
    assert words.pass_text(passes[desk.areas[1].area_id]) == "At any time"


def test_an_area_in_the_address_that_does_not_exist_changes_nothing(desk):  # noqa: F811 - a fixture
    desk.give(devices_pass=listed((desk.areas[0], OFFICE)), keys_pass=NO_KEYS)
    html = desk.client.get(desk.editor, {"area": "no-such-area"}).content.decode()
    assert "data-unsaved" not in html
    assert "devices.area.no-such-area" not in html
