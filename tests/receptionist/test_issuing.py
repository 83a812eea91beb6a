"""A receptionist issues codes: three fields and Enter, one call, and never two valid codes by accident."""

import threading
import unicodedata
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from portal.domain.intents import handlers, transitions
from portal.domain.intents.models import Reason, State
from portal.domain.people.models import Guest
from portal.domain.people.text_folding import fold
from portal.domain.places.models import Area, KeyBox
from portal.domain.visits.models import Stage, Visit
from portal.guests import issuing, request_outcomes
from portal.guests.issuing import CodeClash
from portal.guests.places import Host
from tenants.models import AuditEntry
from tests.support.desk import NAME, GuestDesk, order, said
from tests.support.places import fresh_nonce
from tests.support.waiting import until

CREATE, READ, LIST = 20, 21, 19


@pytest.fixture
def desk(place):
    return GuestDesk(place)


def test_three_fields_and_enter_is_one_call_and_a_code(desk):
    area = desk.place.sandbox.api("GET", "/v1/areas", token=desk.place.service.token).json()["areas"][0]
    desk.preset(area_ids=[area["area_id"]], grace_minutes=15)
    page = desk.get("new/")
    assert "autofocus" in page[page.index('name="name"') - 200 : page.index('name="name"') + 300]
    before = len(desk.calls())
    answer = desk.client.post(desk.url + "new/", desk.fields() | {"name": NAME})
    assert answer.status_code == 302
    shown = desk.client.get(answer.headers["Location"])
    assert desk.calls(before) == [CREATE]
    (visit,) = desk.visits()
    assert answer.headers["Location"] == f"{desk.url}{visit.guest_id}/"
    assert "<svg" in shown.content.decode()
    assert NAME in said(shown)
    guest = desk.at_service(visit.guest_id)
    assert guest["guest_name"] == NAME
    assert len(guest["qrcode_data"]) == 26
    assert [each["area_id"] for each in guest["devices_pass"]["areas_list"]] == [area["area_id"]]
    assert (visit.use_date_end - visit.use_date_start) > timedelta(minutes=118)
    with desk.scope():
        code = Guest.objects.get(guest_id=visit.guest_id).qrcode_data
        assert code == guest["qrcode_data"]
        entries = list(AuditEntry.objects.filter(action="create_guest").values_list("before", "after", "summary"))
    assert code not in str(entries)


def test_the_chosen_preset_decides_even_without_script(desk):
    with desk.scope():
        areas = list(Area.objects.values_list("area_id", flat=True)[:2])
        box = KeyBox.objects.order_by("pk")[0]
    desk.preset("A", area_ids=areas[:1])
    other = desk.preset("B", area_ids=areas[1:], minutes=None, until="23:59")
    fields = desk.fields()
    assert fields["area_ids"] == areas[:1]
    desk.issue(fields, preset=str(other.pk), until=fields["until"])
    visit = desk.visits()[-1]
    assert visit.preset_id == other.pk
    told = desk.at_service(visit.guest_id)
    assert [each["area_id"] for each in told["devices_pass"]["areas_list"]] == areas[1:]
    assert told["use_date_end"][11:19] == "23:59:00"
    assert box is not None


def test_everything_else_is_there_too(desk):
    with desk.scope():
        area = Area.objects.order_by("pk")[0].area_id
    start = (timezone.localtime() + timedelta(days=1)).replace(hour=9, minute=0, second=0, microsecond=0)
    desk.issue(
        until="17:30", start=f"{start:%Y-%m-%dT%H:%M}", company="青葉製作所", host="だれか",
        email="yamada@example.test", delivery="mail", remarks="入口は南側です", area_ids=[area], grace_minutes="45",
        is_for_reserve="on",
    )  # fmt: skip
    (visit,) = desk.visits()
    told = desk.at_service(visit.guest_id)
    assert told["email"] == "yamada@example.test"
    assert told["remarks"] == "入口は南側です"
    assert told["is_for_reserve"] is True
    assert told["use_date_end"] == f"{start:%Y-%m-%d}T17:30:00+09:00"
    assert told["key_return_date_end"] == f"{start:%Y-%m-%d}T18:15:00+09:00"
    assert (visit.company, visit.host_name, visit.email_used) == ("青葉製作所", "だれか", True)


def test_a_member_can_be_the_host(desk, place):
    from portal.domain.people.models import Member, MemberSearch

    with desk.scope():
        member = Member.objects.order_by("pk")[0]
    offered = desk.client.get(desk.url + "new/hosts/", {"host": member.member_name[:2]})
    assert member.member_name in said(offered) or member.member_name in offered.content.decode()
    desk.issue(host=member.member_name)
    assert desk.visits()[0].host_member_id == member.member_id
    with desk.scope():  # the same name in another group: the desk can distinguish them without seeing anyone's code
        values = {field.attname: getattr(member, field.attname) for field in Member._meta.concrete_fields}
        twin = Member(**values | {"id": None, "member_id": "twin", "member_code": "Z-99", "membergroup_name": "別室"})
        twin.save()
        pieces = MemberSearch.objects.get(pk=member.pk).pieces
        MemberSearch.objects.create(member=twin, tenant=place.tenant, pieces=pieces)
    offered = desk.get("new/hosts/", host=member.member_name[:2])
    assert "[別室]" in offered
    assert member.member_code not in offered
    assert "Z-99" not in offered
    assert member.member_name not in desk.get("new/hosts/", host=member.member_code)
    desk.issue(host=f"{member.member_name} [別室]", name="別の客")
    assert desk.visits()[1].host_member_id == "twin"


def test_several_guests_of_one_visit_each_get_a_code_of_their_own(desk):
    desk.fault("status", "create_guest", status=400, error_code="40002", error_detail="guest_name: not this one")
    answer = desk.issue(others="鈴木 花子\n\n佐藤 次郎\n")
    visits = desk.visits()
    assert [visit.guest_name for visit in visits] == [NAME, "鈴木 花子", "佐藤 次郎"]
    assert len({visit.party for visit in visits}) == 1
    with desk.scope():
        for visit in visits[1:]:
            follow_intent(visit)
    visits = desk.visits()
    assert [visit.stage for visit in visits] == [Stage.NOT_ISSUED, Stage.ISSUED, Stage.ISSUED]
    codes = [desk.at_service(visit.guest_id)["qrcode_data"] for visit in visits[1:]]
    assert len(set(codes)) == 2
    page = desk.client.get(answer.redirect_chain[-1][0])
    assert "not this one" in said(page)
    again = desk.fields(f"new/?again={visits[0].pk}")
    assert again["name"] == NAME


def follow_intent(visit):
    from portal.domain.intents import sending

    sending.send(visit.intent)


def test_a_double_click_issues_once(desk):
    fields = desk.fields()
    one, two = desk.issue(fields), desk.issue(fields)
    assert one.redirect_chain[-1] == two.redirect_chain[-1]
    assert len(desk.visits()) == len(desk.all_at_service()) == 1
    other = desk.issue(fields, name="別の人")
    assert "This form was already sent once. The values below have not been sent. Send it again to apply them." in said(
        other
    )
    assert len(desk.visits()) == 1


def test_the_back_button_and_other_values_are_not_taken_for_a_double_click(desk):
    desk.preset(minutes=60)
    given = desk.fields() | {"name": NAME, "until": "+60"}
    assert desk.client.post(desk.url + "new/", given).status_code == 302
    assert desk.client.post(desk.url + "new/", given).status_code == 302
    for other in ({"until": "+240"}, {"grace_minutes": "30"}, {"company": "みらい"}, {"email": "a@example.test"}):
        answer = desk.client.post(desk.url + "new/", given | other)
        assert (
            "This form was already sent once. The values below have not been sent. Send it again to apply them."
            in said(answer)
        ), other
    assert desk.calls().count(CREATE) == len(desk.visits()) == 1


def test_the_same_name_for_the_same_hours_asks_first(desk):
    first = desk.issued()
    asked = desk.issue(name="ﾔﾏﾀﾞ太郎".replace("ﾔﾏﾀﾞ", "山田"))
    assert "has a code until" in said(asked)
    assert f"{desk.url}{first.guest_id}/" in asked.content.decode()
    assert len(desk.all_at_service()) == 1
    fields = desk.fields()
    desk.issue(fields, confirmed=[str(first.pk)])
    assert len(desk.all_at_service()) == 2
    elsewhere = GuestDesk(desk.place)
    assert "has a code until" in said(elsewhere.issue(confirmed=[str(first.pk)])), "the second was not confirmed"
    assert "/guests/v" in desk.issue(until="2h", start="2031-01-01T10:00").redirect_chain[-1][0], "other hours"


def test_what_nobody_knows_yet_forbids_issuing_however_many_namesakes_there_are(desk):
    now = timezone.now()
    given = {"guest_name": NAME, "name_key": order().hours.name_key, "use_date_start": now}
    with desk.scope():
        for number in range(51):
            Visit.objects.create(
                stage=Stage.ISSUED, guest_id=f"g{number}", use_date_end=now + timedelta(hours=1), **given
            )
        Visit.objects.create(use_date_end=now + timedelta(hours=2), **given)
        with pytest.raises(CodeClash) as found:
            issuing.check_clashes([order().hours])
    assert len(found.value.pending) == 1


def test_the_same_name_twice_in_one_form_asks_too(desk):
    assert "twice in this form" in said(desk.issue(others=NAME))
    desk.issue(others=NAME, confirmed=[f"x{desk_key()}"])
    assert len(desk.visits()) == 2


def desk_key():
    from portal.domain.people.text_folding import fold

    return fold(NAME)


def test_a_refusal_stands_beside_its_field_and_what_was_typed_stays(desk):
    desk.fault("status", "create_guest", status=400, error_code="40002", error_detail="use_date_end: too far away")
    answer = desk.issue(company="青葉製作所")
    assert "too far away" in said(answer)
    assert 'value="青葉製作所"' in answer.content.decode()
    assert 'id="id_until_errors"' in answer.content.decode()
    assert desk.visits()[0].stage == Stage.NOT_ISSUED
    assert desk.issue().redirect_chain, "what surely failed can be asked for again"


@pytest.mark.parametrize(
    ("contracts", "values", "words"),
    [
        (("door", "key_box"), {}, "no QR option"),
        (("qr", "key_box"), {"area": True}, "Issue the code without areas"),
        (("qr", "door"), {"keys": True}, "Issue the code without keys"),
    ],
)
def test_a_contract_without_an_option_says_so_and_what_remains(make, contracts, values, words):
    desk = GuestDesk(make(contracts=contracts))
    with desk.scope():
        if values.get("area"):
            Area.objects.create(tenant=desk.place.tenant, area_id="A", area_name="A")
        if values.get("keys"):
            units = [{"unit_no": "01", "unit_name": "Gate"}]
            KeyBox.objects.create(tenant=desk.place.tenant, key_device_id="K", key_device_name="K", units=units)
    chosen = {"area_ids": ["A"]} if values.get("area") else {"keys": ["01@K"]} if values.get("keys") else {}
    answer = desk.issue(**chosen)
    assert words in said(answer)
    codes = desk.place.tenant.environment.catalogue.errors.contract
    assert any(code in said(answer) for code in (*codes.qr, *codes.door, *codes.key_box))
    if not values:
        assert "Check in without a code" in said(answer)
        fields = desk.fields()
        desk.client.post(desk.url + "new/without-code/", fields | {"name": NAME, "until": "+60"})
        visit = desk.visits()[-1]
        assert (visit.stage, visit.arrived_at is not None, visit.intent) == (Stage.NOT_ISSUED, True, None)


def test_keys_that_the_site_does_not_give_to_guests_are_told_plainly(desk):
    with desk.scope():
        boxes = list(KeyBox.objects.order_by("pk"))
    code = desk.place.tenant.environment.catalogue.errors.setting[0]
    desk.fault("status", "create_guest", status=403, error_code=code, error_detail="key box has no keys for guests")
    answer = desk.issue(keys=[f"{boxes[0].units[0]['unit_no']}@{boxes[0].key_device_id}"])
    assert "must first be allowed" in said(answer)
    assert 'id="id_keys_errors"' in answer.content.decode()


BAD = [
    ({"name": ""}, "Enter a name"),
    ({"name": "あ" * 41}, "At most 40 characters"),
    ({"name": "a\x1fb"}, "control characters"),
    ({"until": "nonsense"}, "Enter a time like 18:00"),
    ({"until": "25:00"}, "Enter a time like 18:00"),
    ({"until": "2020-01-01 10:00"}, "before the start"),
    ({"email": "no"}, "valid email"),
    ({"email": "a" * 250 + "@example.test"}, "254"),
    ({"delivery": "mail"}, "Enter the e-mail address"),
    ({"remarks": "x" * 201, "delivery": "mail"}, "200"),
    ({"grace_minutes": "10081"}, "at most 7 days"),
    ({"grace_minutes": "x"}, "whole number"),
    ({"area_ids": ["nobody"]}, "no longer exists"),
    ({"keys": ["01@nobody"]}, "no longer exists"),
    ({"others": "ok\n" + "b" * 41}, "line 2"),
    ({"name": "\u200b\u3164"}, "no visible characters"),
    ({"others": "ok\n\u200b"}, "no visible characters"),
    ({"start": "1700-01-01T00:00"}, "1900"),
    ({"preset": "999999"}, "999999"),
]


def test_bad_input_is_told_beside_its_field_and_nothing_is_sent(desk):
    desk.preset()
    for values, words in BAD:
        answer = desk.issue(**values)
        assert answer.status_code == 422
        assert words in said(answer), values
    assert CREATE not in desk.calls()


def test_guests_whose_names_are_written_with_combining_accents_get_their_codes(desk):
    names = ["é" * 40, "Nguyễn Thị Hồng Ánh-Čapek Jürgen Müllero"]
    typed = [unicodedata.normalize("NFD", name) for name in names]
    desk.issue(name=typed[0], others=typed[1])
    assert {visit.guest_name for visit in desk.visits()} == set(names)
    assert {guest["guest_name"] for guest in desk.all_at_service()} >= {names[0]}


def test_whoever_was_refused_a_code_is_received_with_the_same_form(desk):
    desk.fault("status", "create_guest", status=400, error_code="40002", error_detail="guest_name: not this one")
    given = desk.fields() | {"name": NAME, "until": "+60"}
    assert "not this one" in said(desk.client.post(desk.url + "new/", given))
    for _ in range(2):
        desk.client.post(desk.url + "new/without-code/", given)
    assert [visit.arrived_at is not None for visit in desk.visits()] == [False, True]


def waiting_for_a_lock():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks JOIN pg_database d ON d.oid = database"
            " WHERE locktype = 'advisory' AND NOT granted AND datname = current_database()"
        )
        return cursor.fetchone()[0]


@pytest.mark.django_db(transaction=True)
def test_two_receptionists_at_once_issue_a_name_once(place):
    desks = [GuestDesk(place), GuestDesk(place)]
    given = [desk.fields() | {"name": NAME, "until": "+60"} for desk in desks]
    answers = {}

    def press(number):
        answers[number] = desks[number].client.post(desks[number].url + "new/", given[number])
        connection.close()

    people = [threading.Thread(target=press, args=(number,)) for number in range(2)]
    with desks[0].scope(), transaction.atomic():
        issuing.lock_names([fold(NAME)])
        for person in people:
            person.start()
        until(lambda: waiting_for_a_lock() == 2 or answers, saying="both wait for the name")
        assert not answers
    for person in people:
        person.join()
    assert sorted(answer.status_code for answer in answers.values()) == [200, 302]
    assert len(desks[0].all_at_service()) == 1


def test_the_expected_ones_wait_for_workers_at_their_own_pace(desk):
    from portal.domain.budget.priorities import Priority

    with desk.scope():
        visits = issuing.issue_codes(
            orders=[order("客 A"), order("客 B", host=Host("だれか"))], by=desk.place.asker, nonce=fresh_nonce(),
            priority=Priority.JOBS, inline=False,
        )  # fmt: skip
        assert [visit.intent.state for visit in visits] == [State.QUEUED] * 2
        assert {visit.intent.queue for visit in visits} == {"bulk"}
        with pytest.raises(CodeClash):
            issuing.issue_codes(orders=[order("客 A")], by=desk.place.asker, nonce=fresh_nonce())
        assert [each.guest_name for each in issuing.overlapping_visits([order("客 A").hours])] == ["客 A"]
        transitions.settle_unsent(visits[0].intent, State.CANCELLED, Reason.RIGHTS)
        assert Visit.objects.get(pk=visits[0].pk).stage == Stage.NOT_ISSUED
    assert handlers.handler_of("create_guest").on_finished is request_outcomes.on_created
    assert READ not in desk.calls()
