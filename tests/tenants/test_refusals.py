"""What the connection page and the support board give as the reason for refusals, and what clears it."""

import html

import pytest

from accessapi.errors import NotFound, Rejected
from tenants.connections.service_clients import service_client
from tenants.models import Connection, User
from tenants.scope import tenant_scope
from tests.support.places import PASSWORD, make_place, signed_in

OTHER_CODES = """
[errors]
scope = ["40310"]
contract = { face = ["40311"] }
licence = ["40312"]
"""


@pytest.fixture
def place(sandbox, db):
    place = make_place(sandbox, members=1)
    with tenant_scope(place.tenant):
        yield place


@pytest.fixture
def other(sandbox, db):
    place = make_place(sandbox, members=1, overrides=OTHER_CODES)
    with tenant_scope(place.tenant):
        yield place


def refused(place, operation, *, code="", detail="no", status=403, path=None, **body):
    place.sandbox.fault(
        "status", operation, place.service.tenant_id, status=status, error_code=code, error_detail=detail
    )
    with pytest.raises(Rejected):
        call(place, operation, path=path, **body)


def call(place, operation, *, path=None, **body):
    connection = Connection.objects.get()
    return service_client(connection).call(operation, path=path or {}, body=body or None)


def blamed():
    row = Connection.objects.get()
    return row.scopes_refused, row.contracts_refused


def page(place):
    """Return the text of the table and of the list of unexplained refusals."""
    text = html.unescape(place.client().get(f"/t/{place.tenant.slug}/connection/operations/").content.decode())
    return " ".join(text.split())


KEYS = {"target": "key", "timer": 60, "targets_list": [], "device_action": False, "info": "x"}


def test_a_members_missing_key_permission_blames_neither_contract_nor_scope(place):
    refused(place, "temporary_use", code="40305", path={"member_id": "m"}, **KEYS)
    assert blamed() == ([], [])
    assert "Refused for unknown reasons" not in page(place)


def test_a_missing_scope_is_the_scope_whatever_else_the_operation_needs(place):
    refused(place, "list_guests", code="40301")
    refused(place, "pass_controller_status", code="40301", path={"device_id": "d"})
    assert blamed() == (["devices:read", "guests:read"], [])


@pytest.mark.parametrize(("operation", "detail", "contract"), [
    ("list_guests", "not contracted", "qr"), ("create_member", "the contract door is missing", "door"),
    ("list_key_boxes", "the contract key_box is missing", "key_box"),
])  # fmt: skip
def test_a_missing_contract_is_the_one_that_the_service_names_or_else_the_operations(
    place, operation, detail, contract
):
    body = {"member_name": "n", "membergroup_id": "g"} if operation == "create_member" else {}
    refused(place, operation, code="40302", detail=detail, **body)
    assert blamed() == ([], [contract])


def test_a_licence_that_works_again_is_no_longer_refused(place):
    door = place.sandbox.doors(place.service.token)[0]["device_id"]
    unlock = {"tag": "lock_operation", "control": "unlock", "info": ""}
    refused(place, "operate_door", code="40303", path={"device_id": door}, **unlock)
    assert blamed() == ([], ["licence"])
    call(place, "operate_door", path={"device_id": door}, **unlock)
    assert blamed() == ([], [])


def test_a_contract_that_works_again_is_no_longer_refused(place):
    refused(place, "list_guests", code="40302")
    call(place, "list_guests")
    assert blamed() == ([], [])


def test_a_refusal_that_nobody_described_blames_nothing_and_is_shown_verbatim_until_it_works(place):
    refused(place, "list_members", code="40377", detail="Closed on Sundays <b>")
    assert blamed() == ([], [])
    shown = page(place)
    assert "Refused for unknown reasons" in shown
    assert "List members · HTTP 403 <code>40377</code> <code>Closed on Sundays <b></code>" in shown
    call(place, "list_members")
    assert "40377" not in page(place)


def test_the_words_of_a_refused_change_are_not_kept_with_the_connection(place):
    refused(place, "create_member", code="40377", detail="card C4RD", member_name="n", membergroup_id="g")
    assert "40377" in page(place)
    assert "C4RD" not in str(Connection.objects.values("refusals").get())


def test_other_codes_mean_what_the_overrides_file_says(other):
    refused(other, "list_members", code="40310")
    refused(other, "list_guests", code="40303")
    assert blamed() == (["members:read"], [])
    refused(other, "list_guests", code="40302", detail="x")
    assert blamed() == (["members:read"], ["qr"])
    assert "HTTP 403 <code>40303</code>" in page(other)


def test_a_401_that_is_described_is_no_lost_connection(other):
    refused(other, "list_members", code="40310", status=401)
    assert blamed() == (["members:read"], [])
    assert Connection.objects.get().is_connected


def test_an_unknown_id_is_nobodys_fault(place):
    with pytest.raises(NotFound):
        call(place, "read_member", path={"member_id": "nobody"})
    assert blamed() == ([], [])


def test_the_support_board_shows_what_nobody_described(place):
    refused(place, "list_members", code="40377")
    support = User.objects.create_user("board@example.test", PASSWORD, name="s", platform_role="support")
    shown = html.unescape(signed_in(support).get("/platform/").content.decode())
    assert "HTTP 403 40377" in shown
