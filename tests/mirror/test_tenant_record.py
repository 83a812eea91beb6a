"""The tenant's own record: its holidays, and that it keeps no key."""

from datetime import date
from typing import Any

from accessapi.permissions import NO_HOLIDAYS
from portal.core.mirror import queries
from portal.core.mirror.kinds import Kind
from tenants.scope import tenant_scope
from tests.mirror.conftest import MakeCustomer
from tests.mirror.service import serving


def test_holidays_come_from_the_tenants_record(customer: MakeCustomer) -> None:
    here = customer()
    with tenant_scope(here.tenant):
        assert (queries.tenant_record(), queries.holidays()) == (None, NO_HOLIDAYS)
    here.sync()
    told = here.api("GET", "/v1/tenant")
    with tenant_scope(here.tenant):
        record, holidays = queries.tenant_record(), queries.holidays()
    assert record is not None
    assert (record.tenant_name, record.holiday) == (told["tenant_name"], told["settings"]["holiday"])
    assert here.calls(1) == 2, "one was ours"
    said = told["settings"]["holiday"]
    days = {date.fromisoformat(day) for day in said["public_holiday"].keys() - said["exclude_date"].keys()}
    assert days
    assert all(holidays.is_holiday(day) for day in days) is said["is_include_public_holiday"]


def test_an_odd_record_is_kept_without_its_secrets(customer: MakeCustomer) -> None:
    settings: dict[str, Any] = {
        "holiday": {"weekly": ["Sunday"], "include_date": {"2026-12-31": "大晦日", "some day": 1}},
        "webhook": {"url": "https://example.test/hook", "secret_token": "CANARY", "api_secret": "CANARY"},
        "colour": "blue",
    }
    record = {"tenant_id": "t", "tenant_name": 7, "settings": settings, "plan": "gold", "password": "CANARY"}
    with serving(lambda path, query: (200, record) if path == "/v1/tenant" else (404, {})) as service:
        here = customer(base_url=service.url)
        here.sync()
    with tenant_scope(here.tenant):
        kept, holidays = queries.tenant_record(), queries.holidays()
    assert kept is not None
    assert (kept.tenant_name, kept.webhook) == ("", {"url": "https://example.test/hook"})
    assert kept.has_webhook_secret is True
    assert kept.extra == {"plan": "gold", "settings": {"colour": "blue"}}
    assert holidays.name(date(2026, 12, 31)) == "大晦日"
    assert holidays.is_holiday(date(2026, 11, 22)) is True
    assert here.state(Kind.TENANT).error == ""
