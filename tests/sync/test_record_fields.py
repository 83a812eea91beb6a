"""The camera of a record: requested as a field, and not any more from a service that refuses it."""

from typing import Any

from portal.domain.history.models import History
from tenants.scope import tenant_scope
from tests.support.customers import Customer, MakeCustomer
from tests.support.odd_service import Service
from tests.sync.paged_log import Log, again, known


def test_a_record_at_a_door_with_a_camera_names_it(customer: MakeCustomer) -> None:
    here = customer(members=1, guests=0)
    cameras = here.sandbox.look("cameras", tenant_id=here.there.tenant_id)["cameras"]
    camera = next(each for each in cameras if each["device_id"])
    here.sync()
    shown = {"device_id": camera["device_id"], "kind": "card", "value": "UNKNOWN"}
    here.sandbox.console("present", tenant_id=here.there.tenant_id, **shown)
    again(here)
    with tenant_scope(here.tenant):
        record = History.objects.filter(device_id=camera["device_id"]).latest("at", "pk")
    assert record.extra["camera_id"] == camera["camera_id"]


def test_a_service_that_refuses_a_field_is_asked_for_less_and_again_a_day_later(
    told: tuple[Log, Service, Customer],
) -> None:
    log, service, here = told
    answer = service.answer
    asked: list[str] = []

    def refusing(path: str, query: dict[str, str]) -> tuple[int, Any]:
        asked.append(query.get("fields", ""))
        return (400, {"error_code": "40002"}) if "camera_id" in asked[-1] else answer(path, query)

    service.answer = refusing
    for number in range(5):
        log.add(f"h{number}")
    again(here)
    again(here)
    assert sorted(known(here)) == [f"h{number}" for number in range(5)]  # records of one second have no order
    assert "camera_id" in asked[0]
    assert set(asked[1:]) == {""}, "not once more, and the same on each page"


def test_a_service_is_asked_for_the_fields_of_the_overrides_file(told: tuple[Log, Service, Customer]) -> None:
    _log, service, here = told
    environment = here.connection.tenant.environment
    environment.overrides = '[shapes]\nhistory_fields = "history_id,lens"'
    environment.save()
    again(here)
    assert service.asked[-1][1]["fields"] == "history_id,lens"
