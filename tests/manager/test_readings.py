"""Reading a file is recorded in every way: whole, in parts, again, or by its address alone."""

import re
import uuid

import pytest
from django.urls import reverse
from django.utils import timezone

from portal.domain.cameras.models import Camera, Picture
from portal.domain.places.models import PassController
from portal.evidence.models import Export, Item
from portal.reports.models import Report
from portal.reviews.models import Review, State
from tenants.models import AuditEntry
from tenants.scope import tenant_scope
from tests.support import codes
from tests.support.evidence import filmed, stored, url, work
from tests.support.sources import sources

JPEG = b"\xff\xd8\xff" + bytes(40)
#: Headers that request a file without its beginning, or say that the browser already has it.
WAYS = {
    "whole": {},
    "all but the first byte": {"Range": "bytes=1-"},
    "from the middle": {"Range": "bytes=10-19"},
    "the end": {"Range": "bytes=-5"},
    "several parts": {"Range": "bytes=1-2,4-5"},
    "the rest of what is there": {"Range": "bytes=1-", "If-Range": '"known"'},
    "unless it is there": {"If-None-Match": "*"},
    "if it was changed": {"If-Modified-Since": "Thu, 31 Dec 2099 23:59:59 GMT"},
}
#: Every module with an address that answers with a file or a picture, and how that is recorded.
GIVES = {
    "portal/evidence/item_views.py": "here",
    "portal/evidence/views.py": "here",
    "portal/cameras/views.py": "here",
    "portal/intercom/views.py": "here",
    "portal/codes/views.py": "here",
    "portal/reports/views.py": "here",
    "portal/reviews/views.py": "here",
    "portal/members/lists.py": "here, and tests/manager/test_exports.py walks the others of one writer",
    "portal/groups/views.py": "by that writer",
    "portal/areas/views.py": "by that writer",
    "portal/changes/views.py": "by that writer",
    "portal/today/views.py": "by that writer",
    "portal/domain/jobs/views.py": "by that writer; templates hold nobody's data",
    "portal/history/views.py": "tests/history/test_exports.py",
    "portal/members/views.py": "a profile picture stands beside the name, which is not written down either",
    "portal/plans/views.py": "a floor plan shows nobody",
    "portal/rollcall/views.py": "a program",
}
_GIVING = re.compile(
    r"StreamingHttpResponse\(|HttpResponse\(.*content_type|store\.download_response\(|file_response\(|send_streamed_file\("
    r"|[ =]send_file\(|send_picture\(|send_viewed_picture\("
)
#: Modules that create these answers, and those that no browser requests.
_WITHIN = (
    "portal/base/files/", "portal/base/ui/", "portal/site/", "portal/base/storage/", "portal/domain/cameras/tiles.py",
)  # fmt: skip


@pytest.fixture
def readings(place, manager):
    """Return the addresses whose reading is recorded, each with its audit action."""
    clip = filmed(place, manager)
    manager.post(url(place, "export", 1))
    work(place)
    guest = codes.visit(place)
    now = timezone.now()
    with tenant_scope(place.tenant):
        Camera.objects.update(is_intercom=True)
        camera, export = Camera.objects.get(), Export.objects.get()
        shots = [Picture.objects.create(camera=camera, at=at, content=JPEG, mark="m") for at in (None, now)]
        told = {"by": place.owner, "language": "en"}
        report = Report.objects.create(
            kind="week", since=now, until=now, made_at=now, head={}, pdf=stored("application/pdf"), **told
        )
        review = Review.objects.create(
            nonce=uuid.uuid4(), title="Autumn", areas=[], due_on=now.date(), state=State.FINISHED,
            file=stored("application/zip"), **told,
        )  # fmt: skip
    pictures = [[place.tenant.slug, camera.camera_id, shot.pk, shot.mark] for shot in shots]
    slug = place.tenant.slug
    return {
        "evidence.viewed": url(place, "file", 1, clip.pk),
        "evidence.downloaded": url(place, "download", 1, export.pk),
        "camera.latest": reverse("cameras:picture", args=pictures[0]),
        "camera.picture": reverse("cameras:picture", args=pictures[1]),
        "guest.code_downloaded": reverse("guests:code_file", args=[slug, guest.guest_id, "png"]),
        "guest.badge_downloaded": reverse("guests:badge_pdf", args=[slug, guest.guest_id, "badge"]),
        "report.downloaded": reverse("reports:download", args=[slug, report.pk, "pdf"]),
        "review.downloaded": reverse("reviews:file", args=[slug, review.pk]),
        "members.export": reverse("members:index", args=[slug]) + "?export=csv",
    }


def actions_of(place, user):
    with tenant_scope(place.tenant):
        return list(AuditEntry.objects.filter(by=user).order_by("pk").values_list("action", flat=True))


def bytes_of(answer):
    return b"".join(answer.streaming_content) if answer.streaming else answer.content


@pytest.mark.parametrize("method", ["get", "head"])
def test_no_way_of_asking_leaves_no_trace(place, readings, method):
    for way, heads in WAYS.items():
        person = place.staff("owner")
        browser = place.client(person)
        for action, address in readings.items():
            answer = getattr(browser, method)(address, headers=heads)
            assert answer.status_code in (200, 206), (way, action)
            assert bytes_of(answer) or method == "head", (way, action)
            assert "no-store" in answer["Cache-Control"], (way, action)
            assert not {"ETag", "Last-Modified"} & set(answer.headers), (way, action)
        assert sorted(actions_of(place, person)) == sorted(readings), way


def test_each_part_of_a_file_is_the_part_that_was_asked_for(place, manager, readings):
    address = readings["evidence.viewed"]
    whole = bytes_of(manager.get(address))
    size = len(whole)
    parts = {
        "bytes=1-": (206, whole[1:]),
        "bytes=10-19": (206, whole[10:20]),
        "bytes=-5": (206, whole[-5:]),
        f"bytes=-{size + 9}": (206, whole),
        f"bytes=3-{size + 9}": (206, whole[3:]),
        "bytes=1-2,4-5": (200, whole),
        "bytes=-": (200, whole),
        "bytes=-0": (416, b""),
        "bytes=9-3": (416, b""),
        f"bytes={size}-": (416, b""),
    }
    for asked, (status, content) in parts.items():
        answer = manager.get(address, headers={"Range": asked})
        assert (answer.status_code, bytes_of(answer)) == (status, content), asked
        if status == 206:
            begins = size - len(content) if asked != "bytes=10-19" else 10
            assert answer["Content-Range"] == f"bytes {begins}-{begins + len(content) - 1}/{size}"
    assert bytes_of(manager.get(address, headers={"Range": "bytes=1-", "If-Range": '"known"'})) == whole


def test_a_video_that_is_played_in_many_parts_is_written_down_once(place, manager, readings):
    person = place.staff("auditor")
    browser = place.client(person)
    for begin in range(0, 50, 10):
        browser.get(readings["evidence.viewed"], headers={"Range": f"bytes={begin}-{begin + 9}"})
    assert actions_of(place, person) == ["evidence.viewed"]


def test_two_items_and_two_people_are_written_down_apart(place, readings):
    with tenant_scope(place.tenant):
        clip = Item.objects.get(kind="clip")
        other = Item.objects.create(
            incident=clip.incident, kind="snapshot", reference="other", at=clip.at, media="stored",
            added_by=clip.added_by, facts={"camera_id": "c", "name": "Hall"}, file=stored("image/jpeg"),
        )  # fmt: skip
    people = [place.staff("auditor"), place.staff("auditor")]
    for person in people:
        for item in (clip, other):
            place.client(person).get(url(place, "file", 1, item.pk), headers={"Range": "bytes=1-"})
    for person in people:
        assert actions_of(place, person) == ["evidence.viewed"] * 2


PARTS = ("cameras:index", "cameras:camera", "cameras:at_door", "intercom:index", "intercom:camera")


@pytest.mark.parametrize("name", PARTS)
def test_a_page_that_asks_by_itself_shows_no_picture_unseen(place, manager, readings, name):
    with tenant_scope(place.tenant):
        camera = Camera.objects.get()
        [door] = camera.doors
        PassController.objects.create(device_id=door, device_name="East door")
        Camera.objects.create(camera_id="second", name="Hall", is_intercom=True)
    person = place.staff("guard")
    more = {"at_door": [door], "camera": [camera.camera_id]}.get(name.partition(":")[2], [])
    page = place.client(person).get(reverse(name, args=[place.tenant.slug, *more]), headers={"X-Version": "another"})
    assert f"/{camera.camera_id}/picture/" in page.content.decode()
    wanted = "camera.wall" if name == "cameras:index" else "camera.latest"
    assert wanted in actions_of(place, person)


def test_a_picture_on_the_wall_is_written_down_with_the_wall(place, readings):
    person = place.staff("guard")
    browser = place.client(person)
    browser.get(reverse("cameras:index", args=[place.tenant.slug]))
    browser.get(readings["camera.latest"])
    assert actions_of(place, person) == ["camera.wall"]


def test_a_picture_of_the_intercom_leaves_a_trace_by_its_address_alone(place, readings):
    person = place.staff("receptionist")
    answer = place.client(person).get(readings["camera.latest"].replace("/cameras/", "/intercom/"))
    assert answer.content == JPEG
    assert actions_of(place, person) == ["camera.latest"]


def test_every_module_that_gives_files_says_how_that_is_written_down():
    found = {module.name for module in sources("portal") if _GIVING.search(module.text)}
    assert {each for each in found if not each.startswith(_WITHIN)} == GIVES.keys()
