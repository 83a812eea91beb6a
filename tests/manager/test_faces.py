"""A facility manager and faces: checked before they are sent, followed to their outcome, replaced in two steps."""

import io
import resource
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from portal.base.files import pictures
from portal.base.timers.clock import database_now
from portal.domain.intents import handlers, sending, tracking, transitions
from portal.domain.intents.models import Attachment, Intent, Reason, State
from portal.domain.intents.transitions import Transition
from portal.domain.people.models import Member
from portal.members import signals
from portal.members.models import Portrait
from tests.support.images import huge_jpeg, huge_png, jpeg, png
from tests.support.members import MembersDesk, later, said

FACE = "image/jpeg"


@pytest.fixture
def desk(make):
    return MembersDesk(make(members=3))


def upload(desk, rest, content, name="face.jpg", field="image", **more):
    fields = {key: value for key, value in desk.fields(rest).items() if key in ("nonce", "elapsed")} | more
    return desk.client.post(desk.url + rest, fields | {field: SimpleUploadedFile(name, content, FACE)}, follow=True)


def face_of(desk, number=0):
    member = desk.members()[number]
    return member, f"{member.member_id}/face/"


def registered(desk, number=0, **picture):
    member, rest = face_of(desk, number)
    upload(desk, rest, jpeg(**picture))
    later(desk)
    return member, rest


def test_a_face_is_followed_to_its_outcome_and_usable_thirty_seconds_later(desk):
    member, rest = face_of(desk)
    answer = upload(desk, rest, jpeg(orientation=6))
    assert answer.redirect_chain[-1][0] == desk.url + rest
    assert "The service is checking the picture. You can close this page." in said(answer)
    assert 'name="image"' not in answer.content.decode()  # one at a time
    with desk.scope():
        assert not Attachment.objects.exists()
    later(desk)
    page = desk.get(rest)
    assert "The face opens doors from" in page
    assert 'data-left="' in page
    assert desk.at_service(member.member_id)["face_data"]
    assert "usable from" in desk.get(f"{member.member_id}/")
    assert "<ins>1200 × 900, " in desk.get(f"{member.member_id}/")  # uploaded by staff; only its size is stored
    with desk.scope():
        assert Member.objects.get(pk=member.pk).has_face


def test_what_a_camera_writes_into_its_files_is_left_out_and_the_picture_is_turned():
    said = {"comment": "said in a secret place", "xmp": b"<x>written in a secret place</x>"}
    upright = pictures.prepare_face(SimpleUploadedFile("a.jpg", jpeg(orientation=1, **said)))
    turned = pictures.prepare_face(SimpleUploadedFile("a.jpg", jpeg(1200, 900, orientation=6, **said)))
    assert (upright.width, upright.height) == (turned.width, turned.height) == (900, 1200)
    small = pictures.prepare_profile_picture(SimpleUploadedFile("a.jpg", jpeg(300, 400, orientation=1, **said)))
    text = PngInfo()
    text.add_text("comment", "drawn in a secret place")
    drawn = pictures.prepare_profile_picture(SimpleUploadedFile("a.png", png(300, 400, pnginfo=text)))
    for picture in (upright, turned, small, drawn):
        assert b"secret place" not in picture.content
        assert b"Exif" not in picture.content
    corner = Image.open(io.BytesIO(turned.content)).getpixel((890, 10))
    assert min(corner) > 230  # the white corner of the file moved to the right, as the camera meant it


BAD = [
    (huge_jpeg, "144 megapixels"),
    (jpeg()[:-4000], "damaged or incomplete"),
    (jpeg()[:400], "damaged or incomplete"),
    (png(), "This is a PNG file. Use"),
    (b"\0\0\0\x18ftypheic" + bytes(200), "This is a HEIC file"),
    (bytes(2 * 1024 * 1024 + 1), "2.01 MB; the limit is 2 MB"),
    (b"", "empty"),
    (b"GIF89a" + bytes(100), "This is a GIF file"),
    (b"\xff\xd8\xff\xe0" + bytes(100) + b"\xff\xd9", "damaged or incomplete"),
    (b"hello", "This picture cannot be read. Use"),
    (jpeg(200, 250), "only 200 × 250 pixels"),
]


def test_a_picture_that_cannot_be_a_face_is_refused_with_the_reason_and_nothing_is_sent(desk):
    _, rest = face_of(desk)
    files = [(content() if callable(content) else content, words) for content, words in BAD]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for content, words in files:
        answer = upload(desk, rest, content)
        assert words in said(answer)
        assert "id_image_errors" in answer.content.decode()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024
    assert desk.place.calls(8) == []


def test_nothing_chosen_and_a_picture_of_a_phones_camera(desk):
    _, rest = face_of(desk)
    fields = desk.fields(rest)
    assert "Choose a picture." in said(desk.client.post(desk.url + rest, fields))
    assert "The service is checking the picture. You can close this page." in said(
        upload(desk, rest, jpeg(), field="taken")
    )


def test_each_failure_is_said_in_words_and_an_unknown_one_as_it_came(desk):
    registered(desk, 0)
    _, rest = face_of(desk, 1)
    upload(desk, rest, jpeg())  # the same picture as another member's
    later(desk)
    page = desk.get(rest)
    assert "This picture is already used by another registration." in page
    assert "No face was registered." in page
    upload(desk, rest, jpeg(colour=60))
    body = '{"request_id": "r", "request_type": "face", "status": "failed_blinking"}'
    desk.place.sandbox.fault("not_json", "request_result", desk.place.service.tenant_id, body=body,
                             content_type="application/json")  # fmt: skip
    later(desk)
    page = desk.get(rest)
    assert "failed_blinking" in page
    assert "The service refused the picture for an unknown reason." in page
    assert 'name="image"' in page


def test_a_missing_contract_is_said(make):
    desk = MembersDesk(make(members=1, contracts=("door",)))
    _, rest = face_of(desk)
    answer = upload(desk, rest, jpeg())
    assert desk.place.tenant.environment.catalogue.errors.contract.face[0] in said(answer)
    assert "face-recognition option contract" in desk.get(rest)


def test_a_face_is_replaced_in_two_steps_and_between_them_none_works(desk):
    member, rest = registered(desk)
    old = desk.at_service(member.member_id)["face_data"]
    assert "this member's face opens no door" in desk.get(rest)
    answer = upload(desk, rest, jpeg(colour=200))
    assert "This member's face opens no door until one is registered again." in said(answer)
    assert [call["operation"] for call in desk.place.calls() if call["operation"] in (8, 9)] == [8, 9, 8]
    assert "face_data" not in desk.at_service(member.member_id)
    later(desk)
    assert desk.at_service(member.member_id)["face_data"] != old


def test_a_lost_answer_between_the_steps_holds_the_second_one_until_it_is_known(desk):
    member, rest = registered(desk)
    tenant_id = desk.place.service.tenant_id
    desk.place.sandbox.fault("drop_after", "delete_face_image", tenant_id)
    answer = upload(desk, rest, jpeg(colour=200))
    assert "Waiting for the previous step." in said(answer)
    with desk.scope():
        second, first = Intent.objects.order_by("pk").exclude(state=State.SUCCEEDED)
        assert (second.operation, second.due_at, first.state) == ("register_face_image", None, State.QUEUED)
        assert Attachment.objects.get().intent == second
        Intent.objects.filter(pk=first.pk).update(due_at=database_now())
        sending.send(first)  # the worker's second try: the face is deleted already
        first.refresh_from_db()
        if first.state == State.UNCERTAIN:  # a service that reports no face is read to check this
            tracking.reconcile(first)
        second.refresh_from_db()
        assert second.due_at is not None
        sending.send(second)
    later(desk)
    with desk.scope():
        assert Member.objects.get(pk=member.pk).has_face
        assert not Attachment.objects.exists()


def test_a_first_step_that_is_refused_ends_the_second_unsent(desk):
    member, rest = registered(desk)
    desk.place.sandbox.fault(
        "status", "delete_face_image", desk.place.service.tenant_id, status=403, error_code="40301"
    )
    answer = upload(desk, rest, jpeg(colour=200))
    assert "The current face was not deleted, so the new one was not sent." in said(answer)
    assert len(desk.place.calls(8)) == 1
    with desk.scope():
        assert Member.objects.get(pk=member.pk).has_face
        assert not Attachment.objects.exists()


def test_a_face_is_deleted_after_being_asked(desk):
    member, rest = registered(desk)
    page = desk.get(rest + "delete/")
    assert "The service deletes the image. You cannot undo this, but you can register a new picture." in page
    answer = desk.send(rest + "delete/", confirmed="1")
    assert "until one is registered again" in said(answer)
    assert "face_data" not in desk.at_service(member.member_id)
    with desk.scope():
        assert not Member.objects.get(pk=member.pk).has_face


def take_away(desk, member):
    """Delete the face past the portal, at a service that deletes a face once."""
    desk.place.sandbox.settings(desk.place.service.tenant_id, absent_faces_deleted=False)
    path = f"/v1/members/{member.member_id}/face_image"
    assert desk.place.sandbox.api("DELETE", path, token=desk.place.service.token).is_success


def test_a_face_that_is_gone_at_the_service_is_replaced_all_the_same(desk):
    member, rest = registered(desk)
    take_away(desk, member)
    upload(desk, rest, jpeg(colour=200))
    later(desk)
    assert desk.at_service(member.member_id)["face_data"]
    assert "The face opens doors from" in desk.get(rest)


def test_and_its_deletion_is_done(desk):
    member, rest = registered(desk)
    fields = desk.fields(rest + "delete/")
    take_away(desk, member)
    answer = desk.send(rest + "delete/", fields, confirmed="1")
    assert "until one is registered again" in said(answer)
    with desk.scope():
        assert not Member.objects.get(pk=member.pk).has_face


def test_a_face_that_the_portal_did_not_know_of_is_replaced_at_the_second_try(desk):
    member, rest = face_of(desk)
    sandbox, token = desk.place.sandbox, desk.place.service.token
    sandbox.settings(desk.place.service.tenant_id, face_seconds=0)
    sandbox.image("register_face_image", jpeg(colour=90), token=token, member_id=member.member_id)
    answer = upload(desk, rest, jpeg(colour=200))
    assert "No face was registered: this member already has one. Delete it first to replace it." in said(answer)
    old = desk.at_service(member.member_id)["face_data"]
    upload(desk, rest, jpeg(colour=200))
    later(desk)
    assert desk.at_service(member.member_id)["face_data"] != old


def test_a_face_that_the_service_does_not_find_and_still_has_is_not_called_deleted(desk):
    member, rest = registered(desk)
    desk.place.sandbox.fault(
        "status", "delete_face_image", desk.place.service.tenant_id, status=404, error_code="40401", count=9
    )
    answer = upload(desk, rest, jpeg(colour=200))
    assert "The current face was not deleted, so the new one was not sent." in said(answer)
    assert len(desk.place.calls(8)) == 1
    with desk.scope():
        assert Member.objects.get(pk=member.pk).has_face


def test_a_registration_whose_answer_was_lost_is_never_sent_again_and_resolved_by_reading(desk):
    member, rest = face_of(desk)
    desk.place.sandbox.fault("drop_after", "register_face_image", desk.place.service.tenant_id)
    answer = upload(desk, rest, jpeg())
    assert 'data-state="uncertain"' in answer.content.decode()
    with desk.scope():
        intent = Intent.objects.get(operation="register_face_image")
        assert not Attachment.objects.exists()
        assert handlers.handler_of(intent.operation).reconcile(intent).applied is None
        desk.place.sandbox.move_clock(desk.place.service.tenant_id, seconds=5)
        found = handlers.handler_of(intent.operation).reconcile(intent)
        assert found.applied is True
        transitions.apply_transition(
            {"pk": intent.pk}, Transition(State.SUCCEEDED, Reason.LOST, result={"evidence": found.evidence})
        )
        assert Member.objects.get(pk=member.pk).has_face
    assert len(desk.place.calls(8)) == 1


def test_absence_counts_when_two_readings_minutes_apart_agree(desk):
    _, rest = face_of(desk)
    desk.place.sandbox.fault("drop_before", "register_face_image", desk.place.service.tenant_id)
    upload(desk, rest, jpeg())
    with desk.scope():
        intent = Intent.objects.get(operation="register_face_image")
        first = handlers.handler_of(intent.operation).reconcile(intent)
        earlier = first.retry_at - signals.FACE_DELAY * 2 - timedelta(seconds=5)
        intent.result = {"evidence": {"first seen missing": earlier.isoformat()}}
        assert (first.applied, handlers.handler_of(intent.operation).reconcile(intent).applied) == (None, False)


def test_a_profile_picture_is_made_small_and_shown_from_our_own_address(desk):
    member = desk.members()[0]
    answer = upload(desk, f"{member.member_id}/picture/edit/", png(2000, 1500), name="me.png")
    assert 'data-state="done"' in answer.content.decode()
    fragment = desk.client.get(
        f"{desk.url}{member.member_id}/reading/", headers={"HX-Request": "true"}
    ).content.decode()
    address = desk.at_service(member.member_id)["profile_image_url"]
    assert f'src="{desk.url}{member.member_id}/picture/"' in fragment
    assert address not in fragment
    assert address not in desk.get(f"{member.member_id}/")
    calls = len(desk.place.calls())
    for _ in range(2):
        shown = desk.client.get(f"{desk.url}{member.member_id}/picture/")
        assert (shown.status_code, shown["Content-Type"]) == (200, "image/jpeg")
        assert max(Image.open(io.BytesIO(shown.content)).size) == 320
        assert "no-store" in shown["Cache-Control"]
    assert len(desk.place.calls()) == calls
    with desk.scope():
        assert address not in repr(Intent.objects.values_list("result", flat=True))
    desk.send(f"{member.member_id}/delete/", confirmed="1")
    with desk.scope():
        assert not Portrait.objects.exists()


def test_a_profile_picture_that_attacks_is_refused_before_it_is_decoded(desk):
    member = desk.members()[0]
    rest = f"{member.member_id}/picture/edit/"
    assert "400 megapixels" in said(upload(desk, rest, huge_png(), name="a.png"))
    assert "144 megapixels" in said(upload(desk, rest, huge_jpeg()))
    assert "damaged or incomplete" in said(upload(desk, rest, png()[:200], name="a.png"))
    assert "the limit is 8 MB" in said(upload(desk, rest, bytes(8 * 1024 * 1024 + 1)))
    assert desk.place.calls(7) == []


OURS = (
    "http://127.0.0.1:1/x",
    "https://127.0.0.1/x",
    "file:///etc/passwd",
    "https://[::1]/x",
    "http://u:p@host/x",
    "x",
)


def test_an_address_inside_our_own_network_is_never_fetched(desk):
    member = desk.members()[0]
    for address in OURS:
        with desk.scope():
            Portrait.objects.all().delete()
            Portrait.objects.create(member_id=member.member_id, address=address, mark="m")
        assert desk.client.get(f"{desk.url}{member.member_id}/picture/").status_code == 404


def test_an_auditor_sees_and_changes_nothing_support_may(desk):
    member, rest = face_of(desk)
    auditor = MembersDesk(desk.place, "auditor")
    page = auditor.get(f"{member.member_id}/")
    assert "/face/" not in page
    assert "/picture/edit/" not in page
    for each in (rest, rest + "delete/", f"{member.member_id}/picture/edit/"):
        assert auditor.client.get(auditor.url + each).status_code == 403
        assert auditor.client.post(auditor.url + each).status_code == 403
    desk_clerk = desk.place.client(desk.place.staff("receptionist"))
    for each in (rest, f"{member.member_id}/picture/", f"{member.member_id}/keys/", "leavers/"):
        assert desk_clerk.get(desk.url + each).status_code == 403
    assert desk.place.calls(8) == []
