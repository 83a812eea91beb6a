"""Every limit at its bound and just past it; all received values are preserved."""

import json
import unicodedata
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from accessapi.resources import (
    BulkCreate,
    BulkDelete,
    DoorOperation,
    GroupCreate,
    GuestCreate,
    GuestUpdate,
    KeyOperation,
    Member,
    MemberCreate,
    MemberUpdate,
    RequestRecord,
    TemporaryUse,
    Tenant,
    WebhookMessage,
    WebhookUpdate,
)
from accessapi.resources.registry import ANSWERS
from tests.accessapi.rights import json_values
from tests.support.effort import examples

NEW = {"member_name": "山田 太郎", "membergroup_id": "g1"}
GUEST = {
    "guest_name": "n", "use_date_start": "2026-04-01T00:00:00+09:00",
    "use_date_end": "2026-04-01T01:00:00+09:00", "qrcode_issuing_method": {"email": "a@b"},
}  # fmt: skip
HOOK = {"is_invalid": False, "url": "https://x", "trigger": {"history": {"category": []}}}
KEYS = {"tag": "lock_operation", "control": "unlock", "targets": ["01"]}
DOOR = {"tag": "lock_operation", "control": "in_unlock"}


def texts(field, bound, low=0):
    cases = [("あ" * bound, True), ("あ" * (bound + 1), False), ("", low == 0), (5, False), (None, False)]
    return [({field: value}, fits) for value, fits in cases]


def numbers(field, low, high):
    return [({field: value}, low <= value <= high) for value in (low - 1, low, high, high + 1)]


def lists(field, bound, item):
    return [({field: [item(n) for n in range(size)]}, size <= bound) for size in (bound, bound + 1)]


CASES = [
    (model, base, change, fits)
    for model, base, changes in [
        (MemberCreate, NEW, texts("member_name", 40, 1)),
        (MemberCreate, NEW, texts("member_code", 20)),
        (MemberCreate, NEW, texts("card_data", 16)),
        (GroupCreate, {}, texts("membergroup_name", 40, 1)),
        (GuestCreate, GUEST, texts("guest_name", 40, 1)),
        (GuestUpdate, {}, texts("email", 254, 1)),
        (GuestUpdate, {}, texts("qrcode_data", 557)),
        (GuestUpdate, {}, texts("remarks", 200)),
        (GuestCreate, GUEST, numbers("return_grace_period", 0, 10080)),
        (GuestCreate, GUEST, lists("area_id_list", 100, str)),
        (GuestCreate, GUEST, lists("key_devices_list", 100, lambda n: {"key_device_id": str(n), "units_no_list": []})),
        (GuestUpdate, {}, [({"area_id_list": ["a", "a"]}, False)]),
        (DoorOperation, DOOR, texts("info", 100)),
        (DoorOperation, DOOR, [({"control": "open"}, False), ({"tag": "x"}, False)]),
        (KeyOperation, KEYS, lists("targets", 30, "{:02}".format)),
        (KeyOperation, KEYS, [({"targets": [v]}, fits) for v, fits in [
            ("1", False), ("001", False), ("0a", False), ("٠١", False), ("01\n", False), ("99", True),
        ]]),
        (KeyOperation, KEYS, [({"targets": ["01", "01"]}, False), ({"control": "cont_unlock"}, False)]),
        (TemporaryUse, {"target": "key", "timer": 1}, numbers("timer", 0, 86400)),
        (TemporaryUse, {"target": "key", "timer": 1},
         lists("targets_list", 100, lambda n: {"device_id": str(n), "unit_no_list": ["01"]})),
        (TemporaryUse, {"timer": 1}, [({"target": "door"}, False), ({}, False)]),
        (BulkCreate, {}, lists("members", 1000, lambda n: NEW)),
        (BulkDelete, {}, lists("members", 1000, lambda n: {"member_id": str(n)})),
    ]
    for change, fits in changes
] + [(WebhookUpdate, HOOK, {"secret_token": value}, fits) for value, fits in [
    ("x" * 64, True), ("x" * 65, False), (None, True),
]]  # fmt: skip


@pytest.mark.parametrize(("model", "base", "change", "fits"), CASES)
def test_every_limit_holds_at_its_bound_and_just_past_it(model, base, change, fits):
    if fits:
        model.model_validate({**base, **change})
    else:
        with pytest.raises(ValidationError):
            model.model_validate({**base, **change})


@pytest.mark.parametrize(("model", "base", "field", "most"), [
    (MemberCreate, NEW, "member_name", 40), (MemberUpdate, {}, "member_name", 40),
    (MemberCreate, NEW, "member_code", 20),
    (GroupCreate, {}, "membergroup_name", 40), (GuestCreate, GUEST, "guest_name", 40),
    (GuestUpdate, {}, "guest_name", 40),
])  # fmt: skip
@pytest.mark.parametrize("letter", ["é", "ü", "ệ", "が", "한"])
def test_letters_with_accents_of_their_own_count_once_and_are_sent_as_one(model, base, field, most, letter):
    typed = unicodedata.normalize("NFD", letter)
    assert model.model_validate({**base, field: typed * most}).to_body()[field] == letter * most
    with pytest.raises(ValidationError):
        model.model_validate({**base, field: typed * (most + 1)})


def test_a_code_for_a_reader_is_sent_as_it_is():
    data = unicodedata.normalize("NFD", "é")
    assert GuestUpdate.model_validate({"qrcode_data": data}).to_body() == {"qrcode_data": data}


@pytest.mark.parametrize("qrcode", [
    {"data": "d"}, {"email": "a@b"}, {"data": "d", "one_time_qr": {"enabled": True, "timestep": 300, "skew": 0}},
])  # fmt: skip
def test_a_member_takes_each_variant_of_qr_code(qrcode):
    assert MemberCreate.model_validate({**NEW, "qrcode": qrcode}).to_body() == {**NEW, "qrcode": qrcode}


@pytest.mark.parametrize("qrcode", [
    {}, {"data": "d", "email": "a@b"}, {"one_time_qr": {"enabled": True}}, {"data": ""}, {"remove": True}, "d", None,
])  # fmt: skip
def test_a_new_member_takes_no_other_qr_code(qrcode):
    with pytest.raises(ValidationError):
        MemberCreate.model_validate({**NEW, "qrcode": qrcode})


def test_keys_that_were_not_given_stay_away_and_null_stays_null():
    update = MemberUpdate.model_validate({"use_date_end": None, "qrcode": None, "member_code": ""})
    assert update.to_body() == {"use_date_end": None, "qrcode": None, "member_code": ""}
    assert MemberUpdate.model_validate(update.to_body()).to_body() == update.to_body()


def test_moments_go_out_at_the_services_offset():
    update = MemberUpdate.model_validate({"use_date_end": datetime(2026, 3, 31, 15, 0, 0, 999, tzinfo=UTC)})
    assert update.to_body() == {"use_date_end": "2026-04-01T00:00:00+09:00"}


@pytest.mark.parametrize("wrong", [
    "2026-04-01T00:00:00Z", "2026-04-01 00:00:00+09:00", "2026-04-01T00:00+09:00", "2026-02-30T00:00:00+09:00",
    "２０２６-04-01T00:00:00+09:00", datetime(2026, 4, 1), 5,  # noqa: DTZ001 - no zone is what the test is about
])  # fmt: skip
def test_a_moment_in_any_other_form_is_refused(wrong):
    with pytest.raises(ValidationError):
        MemberUpdate.model_validate({"use_date_end": wrong})


@pytest.mark.parametrize("text", ["a\x00b", "\ud800"])
def test_text_no_database_can_hold_is_refused(text):
    with pytest.raises(ValidationError):
        MemberUpdate.model_validate({"member_name": text})


def test_a_field_that_cannot_be_read_keeps_what_came_and_hides_no_other():
    member = Member.model_validate({
        "member_id": 7, "member_name": ["?"], "use_date_end": "soon", "qrcode": 5, "mood": "good",
        "privilege": {"keys_without_2fa": "perhaps", "restricted_keys_enabled": True}, "member_code": "c",
    })  # fmt: skip
    assert (member.member_id, member.member_code, member.member_name, member.use_date_end) == ("7", "c", None, None)
    assert member.invalid_values == {"member_name": ["?"], "use_date_end": "soon", "qrcode": 5}
    assert member.unknown_fields == {"mood": "good"}
    assert member.privilege.restricted_keys_enabled is True
    assert member.privilege.invalid_values == {"keys_without_2fa": "perhaps"}


def test_bulk_results_keep_their_places():
    record = RequestRecord.model_validate({
        "request_id": "r", "status": "completed_with_errors",
        "result": {"member_count": 3, "members": [
            {"member_id": "1", "status": "succeeded"}, "broken",
            {"member_name": "x", "status": "failed", "error": {"error_code": 40901, "error_detail": "d"}},
        ]},
    })  # fmt: skip
    assert [item.member_id for item in record.result.members] == ["1", None, None]
    assert record.result.members[2].error.error_code == "40901"


def test_a_tenant_without_settings_reads_as_one_with_empty_settings():
    tenant = Tenant.model_validate({"tenant_id": "t"})
    assert tenant.settings.holiday.weekly is None
    assert tenant.settings.webhook.url is None


def test_a_notification_is_read_with_whatever_else_it_holds():
    note = WebhookMessage.model_validate({"history_id": "h", "category": "new", "additional_info": [], "more": 1})
    assert (note.category, note.invalid_values, note.unknown_fields) == ("new", {"additional_info": []}, {"more": 1})


@given(st.sampled_from(sorted(set(ANSWERS.values()), key=lambda model: model.__name__)), st.data())
@settings(max_examples=examples(300))
def test_any_object_that_identifies_itself_can_be_read(model, data):
    names = [field.alias or name for name, field in model.model_fields.items()]
    raw = data.draw(st.dictionaries(st.sampled_from(names), json_values))
    required = [field.alias or name for name, field in model.model_fields.items() if field.is_required()]
    read = model.model_validate({**raw, **dict.fromkeys(required, "id")})
    for name in required:
        assert getattr(read, name) == "id"
    json.dumps(read.model_dump(mode="json"))
    repr(read)
