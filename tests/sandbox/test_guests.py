"""Guests: how they are returned, listed, changed and mailed, and when they are deleted."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.guests import (
    END,
    SHOWN,
    START,
    areas,
    boxes,
    create,
    created,
    key_list,
    listed,
    read,
    refused,
    rights,
    update,
)
from tests.support.sandbox import Sandbox, SandboxTenant

WEEK = 7 * 24 * 3600


@pytest.fixture
def tenant(sandbox: Sandbox) -> SandboxTenant:
    """Return a tenant with every contract and no members."""
    return sandbox.tenant(guests=0)


def test_a_guest_comes_back_with_the_permissions_that_follow(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    where, keys = areas(sandbox, tenant)[:2], {boxes(sandbox, tenant)[0]: ["01", "03"]}
    guest_id = created(
        sandbox,
        tenant,
        email="office@example.com",
        return_grace_period=90,
        area_id_list=where,
        key_devices_list=key_list(keys),
        is_for_reserve=True,
        qrcode_issuing_method={"qrcode_data": "CODE-1"},
    )
    assert read(sandbox, tenant, guest_id) == {
        "guest_id": guest_id,
        "guest_name": "来客 一郎",
        "email": "office@example.com",
        "use_date_start": START,
        "use_date_end": END,
        "key_return_date_end": "2035-12-02T19:30:00+09:00",
        "qrcode_data": "CODE-1",
        "remarks": "",
        "is_for_reserve": True,
    } | rights(where, keys)


def test_a_code_is_issued_and_a_mail_kept_to_be_read(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    method = {"email": "guest@example.com", "remarks": "受付へどうぞ"}
    guest_id = created(sandbox, tenant, qrcode_issuing_method=method)
    other = created(sandbox, tenant)
    found = read(sandbox, tenant, guest_id)
    assert set(found) == SHOWN
    assert (found["email"], found["remarks"], found["is_for_reserve"]) == ("guest@example.com", "受付へどうぞ", False)
    assert found["key_return_date_end"] == END
    assert 0 < len(found["qrcode_data"]) <= 557
    assert found["qrcode_data"] != read(sandbox, tenant, other)["qrcode_data"]
    mail, _ = sandbox.look("mails", tenant_id=tenant.tenant_id)["mails"]
    assert {name: mail[name] for name in ("email", "recipient_id", "recipient_name", "qr_data", "remarks")} == {
        "email": "guest@example.com",
        "recipient_id": guest_id,
        "recipient_name": "来客 一郎",
        "qr_data": found["qrcode_data"],
        "remarks": "受付へどうぞ",
    }


def test_a_code_prepared_by_the_caller_goes_out_in_no_mail(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    guest_id = created(sandbox, tenant, qrcode_issuing_method={"qrcode_data": "x" * 557})
    assert read(sandbox, tenant, guest_id)["qrcode_data"] == "x" * 557
    update(sandbox, tenant, guest_id, email="new@example.com", remarks="again", qrcode_data="y")
    assert sandbox.look("mails", tenant_id=tenant.tenant_id)["mails"] == []


def test_the_list_shows_names_and_what_is_asked_for(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    guest_id = created(sandbox, tenant, return_grace_period=60)
    plain = {"guest_id": guest_id, "guest_name": "来客 一郎"}
    assert listed(sandbox, tenant) == [plain]
    assert listed(sandbox, tenant, fields="guest_name,use_date_end") == [plain | {"use_date_end": END}]
    everything = "guest_id,guest_name,email,use_date_start,use_date_end,key_return_date_end,is_for_reserve"
    assert listed(sandbox, tenant, fields=everything) == [
        plain
        | {
            "email": "guest@example.com",
            "use_date_start": START,
            "use_date_end": END,
            "key_return_date_end": "2035-12-02T19:00:00+09:00",
            "is_for_reserve": False,
        }
    ]


def test_the_list_is_paged_whole_without_repetition(sandbox: Sandbox) -> None:
    tenant = sandbox.tenant(guests=7)
    seen: list[str] = []
    query = {"limit": "3", "fields": "email"}
    while True:
        page = sandbox.api("GET", "/v1/guests", params=query, token=tenant.token).json()
        seen += [guest["guest_id"] for guest in page["guests"]]
        if "last_evaluated_key" not in page:
            break
        query["last_evaluated_key"] = page["last_evaluated_key"]
    assert len(seen) == len(set(seen)) == 7
    changed = query | {"fields": "is_for_reserve"}
    answer = sandbox.api("GET", "/v1/guests", params=changed, token=tenant.token)
    refused(answer, 400, "40002", "last_evaluated_key")


@pytest.fixture(scope="module")
def house(sandbox: Sandbox) -> tuple[SandboxTenant, list[str], list[str], str]:
    """Return a tenant without limits, with its areas, its key boxes, and one guest."""
    tenant = sandbox.tenant(guests=0)
    sandbox.settings(tenant.tenant_id, limited=False)
    guest_id = created(sandbox, tenant, use_date_end="2036-12-31T23:59:59+09:00")
    return tenant, areas(sandbox, tenant)[:3], boxes(sandbox, tenant)[:2], guest_id


@given(st.data())
@settings(max_examples=examples(150, quick=25), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_update_changes_what_it_names_and_nothing_else(
    sandbox: Sandbox, house: tuple[SandboxTenant, list[str], list[str], str], data: st.DataObject
) -> None:
    tenant, area_ids, box_ids, guest_id = house
    units = st.lists(st.sampled_from(["01", "02", "03"]), unique=True, max_size=3)
    moments = st.sampled_from(["2035-12-01T00:00:00+09:00", "2035-12-02T23:59:59+09:00"])
    text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
    change = data.draw(
        st.fixed_dictionaries(
            {},
            optional={
                "guest_name": text.filter(bool),
                "email": st.just("other@example.com"),
                "use_date_end": moments.map(lambda moment: moment.replace("2035", "2036")),
                "use_date_start": moments,
                "return_grace_period": st.integers(0, 10080),
                "qrcode_data": text.filter(bool),
                "area_id_list": st.lists(st.sampled_from(area_ids), unique=True),
                "key_devices_list": st.dictionaries(st.sampled_from(box_ids), units),
                "remarks": text,
            },
        )
    )
    before = read(sandbox, tenant, guest_id)
    keys = change.get("key_devices_list")
    sent = change if keys is None else change | {"key_devices_list": key_list(keys)}
    answer = update(sandbox, tenant, guest_id, **sent)
    assert answer.json() == {"guest_id": guest_id, "guest_name": change.get("guest_name", before["guest_name"])}
    after = read(sandbox, tenant, guest_id)
    expected = before | {name: value for name, value in change.items() if name in SHOWN}
    given_rights = rights(change.get("area_id_list", []), keys or {})
    if "area_id_list" in change:
        expected["devices_pass"] = given_rights["devices_pass"]
    if keys is not None:
        expected["keys_pass"] = given_rights["keys_pass"]
    # The grace period is not shown: it moves with the end, and changes separately only when it is given.
    expected["key_return_date_end"] = after["key_return_date_end"]
    assert after == expected
    assert grace(after) == change.get("return_grace_period", grace(before))


def grace(guest: dict[str, Any]) -> int:
    end, last = (datetime.fromisoformat(guest[name]) for name in ("use_date_end", "key_return_date_end"))
    return int((last - end).total_seconds() // 60)


def test_the_longest_stay_and_grace_are_answered(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    guest_id = created(sandbox, tenant, use_date_end="9999-12-31T23:59:59+09:00", return_grace_period=10080)
    assert read(sandbox, tenant, guest_id)["key_return_date_end"] == "9999-12-31T23:59:59+09:00"


def test_a_guest_is_gone_a_week_after_the_end(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    now = datetime.fromisoformat(START)
    end = datetime.now(now.tzinfo).replace(microsecond=0) + timedelta(hours=1)
    stay = {"use_date_start": end - timedelta(days=1), "use_date_end": end}
    method = {"qrcode_data": "FREE AGAIN"}
    guest_id = created(
        sandbox,
        tenant,
        return_grace_period=10080,
        qrcode_issuing_method=method,
        **{name: moment.isoformat() for name, moment in stay.items()},
    )
    staying = created(sandbox, tenant, use_date_end="2037-01-01T00:00:00+09:00")
    sandbox.settings(tenant.tenant_id, clock_offset=WEEK + 3500)
    assert len(listed(sandbox, tenant)) == 2
    sandbox.settings(tenant.tenant_id, clock_offset=WEEK + 3601)
    assert [guest["guest_id"] for guest in listed(sandbox, tenant)] == [staying]
    refused(sandbox.api("GET", f"/v1/guests/{guest_id}", token=tenant.token), 404, "40401")
    refused(update(sandbox, tenant, guest_id, guest_name="x"), 404, "40401")
    assert create(sandbox, tenant, qrcode_issuing_method=method).status_code == 200


def test_seeded_guests_have_gone_home_are_here_or_are_to_come(sandbox: Sandbox) -> None:
    tenant = sandbox.tenant()
    found = listed(sandbox, tenant, fields="email,use_date_start,use_date_end,key_return_date_end,is_for_reserve")
    now = datetime.now(datetime.fromisoformat(START).tzinfo)
    past = [guest for guest in found if datetime.fromisoformat(guest["use_date_end"]) < now]
    to_come = [guest for guest in found if datetime.fromisoformat(guest["use_date_start"]) > now]
    assert (len(found), len(past), len(to_come)) == (12, 4, 4)
    assert any(guest["guest_name"].isascii() for guest in found)
    assert any(not guest["guest_name"].isascii() for guest in found)
    assert any(guest["key_return_date_end"] > guest["use_date_end"] for guest in found)
    people = [read(sandbox, tenant, guest["guest_id"]) for guest in found]
    assert {person["keys_pass"]["default_mode"] for person in people} == {"option", "deny_all"}
    assert all(person["devices_pass"]["areas_list"] for person in people)
    assert len({person["qrcode_data"] for person in people}) == 12


def test_the_number_of_guests_changes_nobody_else(sandbox: Sandbox) -> None:
    def others(tenant: SandboxTenant) -> list[Any]:
        people = sandbox.api("GET", "/v1/members?fields=card_data", token=tenant.token).json()["members"]
        names = [(member["member_name"], member.get("card_data")) for member in people]
        return [names, areas(sandbox, tenant), boxes(sandbox, tenant)]

    assert others(sandbox.tenant(members=20, guests=0)) == others(sandbox.tenant(members=20, guests=50))
    assert sandbox.tenant(contracts=["door"]).contracts == ["door"]
