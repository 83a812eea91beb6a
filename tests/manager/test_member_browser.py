"""A facility manager's browser on a member's page: the code that refreshes, and the face before it is sent."""

import pytest
from playwright.sync_api import expect

from portal.base.timers.clock import database_now
from portal.domain.intents import tracking
from portal.domain.intents.models import Intent, State
from tests.support.accessibility import barriers
from tests.support.images import jpeg, png, read_qr
from tests.support.members import MembersDesk
from tests.support.waiting import until


@pytest.fixture
def desk(make) -> MembersDesk:
    return MembersDesk(make(members=2))


def test_the_one_time_code_follows_itself_while_somebody_looks_and_hides_when_nobody_does(desk, page):
    member = desk.members()[0]
    desk.send(f"{member.member_id}/edit/", qr="one_time", qr_data="GATE-7", qr_timestep="30")
    page.clock.install()
    page.goto(f"{desk.url}{member.member_id}/")
    expect(page.get_by_text("Just loaded from the service.")).to_be_visible()
    page.get_by_role("button", name="Show the current code").click()
    expect(page.locator(".one-time svg.qr")).to_be_visible()
    assert read_qr(page.content()).startswith("SL-OTQR?v=1&data=GATE-7")
    assert barriers(page) == []
    page.clock.fast_forward(31_000)
    until(lambda: len(desk.place.calls(12)) == 2, 30, saying="the page asked for the next code")
    expect(page.locator(".one-time-shown:not(.is-over) [data-left-words]")).to_contain_text("0:")
    assert read_qr(page.content()).startswith("SL-OTQR?v=1&data=GATE-7")
    page.clock.fast_forward(4 * 60_000)
    expect(page.get_by_text("Hidden because the page was not in use.")).to_be_visible()
    assert read_qr(page.content()) == ""
    asked = len(desk.place.calls(12))
    page.clock.fast_forward(60_000)
    expect(page.get_by_text("Hidden because the page was not in use.")).to_be_visible()
    assert len(desk.place.calls(12)) == asked
    page.get_by_role("button", name="Show the current code").or_(page.get_by_role("button", name="Continue")).click()
    expect(page.locator(".one-time svg.qr")).to_be_visible()
    page.get_by_role("button", name="Hide").click()
    assert read_qr(page.content()) == ""


def followed(desk: MembersDesk) -> None:
    """Let time pass at the service, and let a worker follow its requests."""
    desk.place.sandbox.move_clock(desk.place.service.tenant_id, seconds=5)
    with desk.scope():
        for intent in Intent.objects.filter(state=State.ACCEPTED):
            Intent.objects.filter(pk=intent.pk).update(due_at=database_now())
            tracking.poll(intent)


def test_a_face_is_looked_at_mended_taken_with_the_camera_and_sent(desk, page):
    first, second = desk.members()
    page.goto(f"{desk.url}{first.member_id}/face/")
    words = page.locator("[data-words]")
    assert barriers(page) == []
    chosen = page.locator("input[name=image]")
    chosen.set_input_files({"name": "face.jpg", "mimeType": "image/jpeg", "buffer": jpeg(200, 260)})
    expect(words).to_contain_text("only 200 × 260 pixels")
    chosen.set_input_files({"name": "face.jpg", "mimeType": "image/jpeg", "buffer": jpeg(1200, 900, orientation=6)})
    expect(words).to_contain_text("900 × 1200 pixels: fine.")  # upright, as the camera meant it
    chosen.set_input_files({"name": "face.jpg", "mimeType": "image/jpeg", "buffer": png(2000, 1500)})
    expect(words).to_contain_text("This is not a JPEG file. You can convert it here.")
    expect(words).to_contain_text(
        "The picture is wider than it is high. An upright 3:4 picture is best. You can crop it here."
    )
    page.get_by_role("button", name="Crop to 3:4 and resize").click()
    expect(words).to_contain_text("1125 × 1500 pixels: fine.")
    page.get_by_role("button", name="Register face").click()
    expect(page.get_by_text("The service is checking the picture. You can close this page.")).to_be_visible()
    assert len(desk.place.calls(8)) == 1
    followed(desk)
    expect(page.get_by_text("The face opens doors from")).to_be_visible()
    expect(page.locator("#face-lead")).to_contain_text("usable from")
    expect(page.get_by_role("button", name="Replace the face")).to_be_visible()
    assert barriers(page) == []

    page.goto(f"{desk.url}{second.member_id}/face/")
    page.get_by_role("button", name="Use camera").click()
    expect(page.locator("[data-video]")).to_be_visible()
    page.get_by_role("button", name="Take picture").click()
    expect(page.locator("[data-words]")).to_contain_text("1200 × 1600 pixels")
    page.get_by_role("button", name="Register face").click()
    expect(page.get_by_text("The service is checking the picture. You can close this page.")).to_be_visible()
    assert len(desk.place.calls(8)) == 2
