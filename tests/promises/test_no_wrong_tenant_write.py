"""No wrong-tenant write: a form opened in tenant A never writes to B, whatever the other tab shows."""

from collections.abc import Callable

import pytest

from portal.core.intents.models import Intent
from tenants.models import AuditEntry, Staff, User
from tests.promises.test_tenant_isolation import Victim, print_of
from tests.support.browser import Browser, Form, forms_of
from tests.support.crawl import crawl
from tests.support.house import House
from tests.support.stage import PASSWORD, Customer, Stage


def both(stage: Stage) -> tuple[Customer, Customer, User]:
    """Two tenants, and somebody who owns both."""
    a, b = stage.customer(members=3), stage.customer(members=3)
    owner = a.staff("owner")
    with b.scope():
        Staff.objects.create(tenant=b.tenant, user=owner, role="owner")
    return a, b, owner


def written(customer: Customer) -> tuple[int, int]:
    with customer.scope():
        return Intent.objects.count(), AuditEntry.objects.count()


def posting_forms(browser: Browser, customer: Customer) -> list[Form]:
    """Every form that posts, of every page of a tenant."""
    pages = crawl(browser, customer.url(), within=customer.url(), most=60)
    found = {}
    for page in pages.values():
        if page.status_code == 200 and "text/html" in page.headers.get("content-type", ""):
            for form in forms_of(page, browser.url):
                if form.method == "post":
                    found.setdefault(form.action, form)
    return list(found.values())


def attack(house: House, stage: Stage) -> dict[str, int]:
    """Send every form of A: as it stands while B is open in the other tab, and again at B's address."""
    a, b, owner = both(stage)
    victim = Victim(b)
    with house.quiet(), Browser(house.url) as browser:
        browser.sign_in(owner.email, PASSWORD)
        forms = posting_forms(browser, a)
        mine = [form for form in forms if form.action.startswith(a.url())]
        browser.get(b.url())
        before, calls = print_of(house, victim), len(b.calls())
        for form in mine:
            if "revoke" in form.action or "logout" in form.action:
                continue
            browser.post(form.action, form.values, control="unlock")
        changed = int(print_of(house, victim) != before)
        at_b = written(b)
        nonced = [form for form in mine if "nonce" in form.values]
        for form in nonced:
            browser.post(form.action.replace(a.url(), b.url(), 1), form.values, control="unlock")
        door = browser.form(a.url(f"devices/{a.doors[0]}/"), "command")
        browser.post(b.url(f"devices/{b.doors[0]}/command/"), door.values, control="unlock")
        return {
            "forms": len(mine),
            "written to B as they stand": changed,
            "written at B's address": int(written(b) != at_b),
            "calls to B's service": len(b.calls()) - calls + len(b.arrivals()),
        }


def test_forms_of_a_never_write_to_b(house: House, stage: Stage) -> None:
    found = attack(house, stage)
    assert found.pop("forms") >= 3
    assert set(found.values()) == {0}, found


def test_a_nonce_of_another_person_or_tenant_is_refused_in_words(house: House, stage: Stage) -> None:
    a, b, owner = both(stage)
    with Browser(house.url) as browser:
        browser.sign_in(owner.email, PASSWORD)
        form = browser.form(a.url(f"devices/{a.doors[0]}/"), "command")
        answer = browser.post(b.url(f"devices/{b.doors[0]}/command/"), form.values, control="unlock")
        page = browser.get(answer.headers["location"])
        assert "opened for another tenant" in page.text
    assert b.arrivals() == [] == a.arrivals()


@pytest.mark.soak
def test_every_form(house: House, stage: Stage, figure: Callable[..., None]) -> None:
    found = attack(house, stage)
    forms = found.pop("forms")
    for what, count in found.items():
        figure("no wrong-tenant write", f"{forms} forms: {what}", count, "0")
    assert set(found.values()) == {0}
