"""Any value in the tenant's own record: the pages that use it are shown."""

import json
from typing import Any

import pytest

from portal.domain.events import MirrorKind
from tenants.scope import tenant_scope
from tests.support.customers import MakeCustomer
from tests.support.extremes import SOME
from tests.support.odd_service import serving
from tests.support.places import signed_in, staff_of

FIELDS: dict[str, dict[str, Any]] = {
    "tenant": {"tenant_id": "t", "tenant_name": "T", "settings": {}},
    "settings": {"holiday": {}, "webhook": {}},
    "holiday": {
        "is_include_public_holiday": True, "public_holiday": {}, "include_date": {}, "exclude_date": {}, "weekly": [],
    },
    "webhook": {"is_invalid": False, "url": "https://x.example/h", "secret_token": "x", "trigger": {}},
    "trigger": {"history": {}},
    "history": {"category": ["normal"]},
}  # fmt: skip
WITHIN = {
    "tenant": "%s", "settings": '{"settings": %s}', "holiday": '{"settings": {"holiday": %s}}',
    "webhook": '{"settings": {"webhook": %s}}', "trigger": '{"settings": {"webhook": {"trigger": %s}}}',
    "history": '{"settings": {"webhook": {"trigger": {"history": %s}}}}',
}  # fmt: skip
ADDRESSES = ('"http://[x"', '"http://a:99999999/"', '"//"', '"javascript:1"', '"https://[::1"')


@pytest.mark.parametrize("part", FIELDS)
def test_pages_stand_whatever_the_record_says(customer: MakeCustomer, part: str) -> None:
    """Check by reading each record anew, which takes a second or two."""
    told = [b"{}"]
    with serving(lambda path, query: (200, told[0] if path == "/v1/tenant" else {})) as service:
        here = customer(base_url=service.url)
        here.sync()
        with tenant_scope(here.tenant):
            client = signed_in(staff_of(here.tenant, "owner"))
        client.raise_request_exception = False
        found = {}
        for name in FIELDS[part]:
            for value in (*SOME[::3], *(ADDRESSES if name == "url" else ()), '"normal"', '{"2026-02-30": 1}'):
                told[0] = (WITHIN[part] % json.dumps(FIELDS[part] | {name: "@"}).replace('"@"', value)).encode()
                here.due_now(MirrorKind.TENANT)
                here.work()
                for page in ("connection/", "explain/", ""):
                    found[name, value, page] = client.get(f"/t/{here.tenant.slug}/{page}").status_code
    assert not {key: status for key, status in found.items() if status >= 500}
