"""The tenant's own record: its holidays, and that no licence key is stored."""

from datetime import date
from typing import Any

import pytest
from django.utils import timezone

from accessapi.permissions import NO_HOLIDAYS
from portal.domain.events import MirrorKind
from portal.domain.places.queries import load_holidays, load_tenant_record
from portal.webhooks.service_settings import ServiceSettings, categories_of
from tenants.scope import tenant_scope
from tests.support.customers import MakeCustomer
from tests.support.odd_service import serving


def test_holidays_come_from_the_tenants_record(customer: MakeCustomer) -> None:
    here = customer()
    with tenant_scope(here.tenant):
        assert (load_tenant_record(), load_holidays()) == (None, NO_HOLIDAYS)
    here.sync()
    told = here.api("GET", "/v1/tenant")
    with tenant_scope(here.tenant):
        record, holidays = load_tenant_record(), load_holidays()
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
        kept, holidays = load_tenant_record(), load_holidays()
    assert kept is not None
    assert (kept.tenant_name, kept.webhook) == ("", {"url": "https://example.test/hook"})
    assert kept.has_webhook_secret is True
    assert kept.extra == {"plan": "gold", "settings": {"colour": "blue"}}
    assert holidays.name_of(date(2026, 12, 31)) == "大晦日"
    assert holidays.is_holiday(date(2026, 11, 22)) is True
    assert here.state(MirrorKind.TENANT).error == ""


def test_one_category_where_a_list_was_is_the_only_one() -> None:
    assert categories_of({"trigger": {"history": {"category": "normal"}}}) == ("normal",)


@pytest.mark.parametrize("address", ["http://[x/secret", "https://[::1/secret", "http://a:b/secret"])
def test_of_an_address_that_is_none_no_secret_is_shown(address: str) -> None:
    present = ServiceSettings(timezone.now(), address, None, (), None)
    assert "secret" not in present.host
    assert present.host.endswith("//…") or present.host == "http://a:b/…"
