"""Any typed, pasted or made-up input: a clear message, never a server error, and no invalid call."""

import unicodedata

import pytest

from tests.support.members import MembersDesk, said

LONG = "x" * 41
ABSURD = [
    {"member_name": ""},
    {"member_name": "   "},
    {"member_name": LONG},
    {"member_name": "nul\x00"},
    {"member_name": "two\nlines"},
    {"member_name": "\x1b[31m"},
    {"member_name": "　"},
    {"member_code": "9" * 21},
    {"member_code": "nul\x00"},
    {"membergroup_id": ""},
    {"membergroup_id": "no-such-group"},
    {"membergroup_id": "nul\x00"},
    {"card_data": "F" * 17},
    {"card_data": "\x00" * 16},
    {"use_date_start": "yesterday"},
    {"use_date_start": "9" * 5000},
    {"use_date_start": "0001-01-01T00:00"},
    {"use_date_end": "9999-12-31T23:59:59"},
    {"use_date_end": "2026-02-30T00:00"},
    {"use_date_end": "2026-01-01T25:00"},
    {"use_date_start": "275760-09-13T00:00"},
    {"use_date_start": "2027-01-01T00:00", "use_date_end": "2026-01-01T00:00"},
    {"qr": "teleport"},
    {"qr": ""},
    {"qr": "email", "qr_email": ""},
    {"qr": "email", "qr_email": "not an address"},
    {"qr": "email", "qr_email": "a" * 250 + "@example.test"},
    {"qr": "data", "qr_data": ""},
    {"qr": "data", "qr_data": "字" * 2000},
    {"qr": "one_time", "qr_data": "\x00"},
    {"nonce": "\x00"},
]


@pytest.fixture
def desk(place):
    return MembersDesk(place)


def test_absurd_input_is_answered_with_a_message_and_nothing_is_sent(desk):
    usual = {"member_name": "A", "membergroup_id": desk.group.membergroup_id, "qr": "none"}
    form = desk.fields("new/")
    for absurd in ABSURD:
        answer = desk.client.post(desk.url + "new/", form | usual | absurd)
        assert answer.status_code == 422, absurd
        assert "Not saved" in said(answer), absurd
    member = desk.members()[0]
    edit = f"{member.member_id}/edit/"
    keeps_code = "Leave empty to keep the current data." in desk.get(edit)
    form = desk.fields(edit)
    for absurd in [*ABSURD, {"seen": "forged", "member_name": LONG}, {"card_remove": "on", "card_data": "AB"}]:
        if keeps_code and absurd == {"qr": "data", "qr_data": ""}:
            continue
        if "nonce" in absurd or (not member.has_card and "card_remove" in absurd):
            continue
        answer = desk.client.post(desk.url + edit, form | absurd)
        assert answer.status_code == 422, absurd
        assert "Not saved" in said(answer), absurd
    assert desk.place.calls(4) == desk.place.calls(6) == []


def test_every_limit_is_allowed_at_its_bound(desk):
    answer = desk.send(
        "new/", member_name="名" * 40, member_code="0" * 20, membergroup_id=desk.group.membergroup_id,
        card_data="F" * 16, use_date_start="1900-01-01T00:00:00", use_date_end="9998-12-31T23:59:59",
    )  # fmt: skip
    assert 'data-state="done"' in answer.content.decode()
    stored = desk.at_service(desk.intent().result["member_id"])
    assert (stored["member_name"], stored["member_code"], stored["card_data"]) == ("名" * 40, "0" * 20, "F" * 16)
    assert stored["use_date_end"] == "9998-12-31T23:59:59+09:00"


def test_a_name_written_with_combining_accents_fits_and_is_stored_composed(desk):
    name = "Nguyễn Thị Hồng Ánh-José Müller-Łukasz Ž"
    typed = unicodedata.normalize("NFD", name)
    assert len(name) == 40 < len(typed)
    answer = desk.send("new/", member_name=typed, membergroup_id=desk.group.membergroup_id)
    assert 'data-state="done"' in answer.content.decode()
    member_id = desk.intent().result["member_id"]
    assert desk.at_service(member_id)["member_name"] == name
    form = desk.fields(f"{member_id}/edit/")
    too_long = desk.client.post(f"{desk.url}{member_id}/edit/", form | {"member_name": typed + "é"})
    assert "At most 40 characters (currently 41)." in said(too_long)


def test_the_code_of_a_qr_code_is_sent_as_typed(desk):
    data = unicodedata.normalize("NFD", "Zoé-17")
    desk.send("new/", member_name="Zoé", membergroup_id=desk.group.membergroup_id, qr="data", qr_data=data)
    assert desk.at_service(desk.intent().result["member_id"])["qrcode"]["data"] == data


@pytest.mark.parametrize(
    "query",
    [
        {"q": "\x00"},
        {"q": "x" * 10_000},
        {"sort": "member_name; DROP TABLE"},
        {"sort": "-card_data"},
        {"size": "-1"},
        {"after": "forged", "before": "\x00"},
        {"group": ["\x00", "' OR 1=1"]},
        {"validity": "sometimes"},
        {"credential": ["card", "tooth"]},
        {"export": "pdf"},
        {"export": ["csv", "\x00"]},
    ],
)
def test_absurd_addresses_of_the_list_give_a_page_or_are_refused(desk, query):
    nul = "\x00" in repr(query).replace("\\x00", "\x00")
    assert desk.client.get(desk.url, query).status_code == (400 if nul else 200)


@pytest.mark.parametrize("name", ["%00", "~00", "..%2F..", "~2E~2E", "x" * 3000, "~", "田中", "new%20", "~F0~9F"])
def test_ids_that_nobody_has_are_missing(desk, name):
    for rest in ("", "reading/", "edit/", "delete/"):
        assert desk.client.get(f"{desk.url}{name}/{rest}").status_code in (404, 400, 301), (name, rest)
    assert desk.client.post(f"{desk.url}{name}/reveal/card/").status_code in (404, 400, 301)


def test_secrets_of_other_kinds_do_not_exist(desk):
    assert desk.client.post(f"{desk.url}{desk.members()[0].member_id}/reveal/totp_seed/").status_code == 404
