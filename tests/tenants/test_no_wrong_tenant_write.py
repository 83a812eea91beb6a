"""No write to the wrong tenant: a form opened in tenant A never writes to B, even if another tab shows B."""

from collections.abc import Callable, Iterator

import pytest

from portal.domain.intents.models import Intent
from tenants.models import AuditEntry, Staff, User
from tenants.scope import tenant_scope
from tests.support.browser import Browser, Form, forms_of
from tests.support.crawl import crawl
from tests.support.doors import real_doors
from tests.support.in_process_browser import Inside
from tests.support.isolation import arrivals, print_of, url
from tests.support.places import Place

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def a(make: Callable[..., Place]) -> Place:
    return make(members=3)


@pytest.fixture
def b(make: Callable[..., Place], a: Place) -> Place:
    return make(members=3)


@pytest.fixture
def doors(a: Place, b: Place) -> tuple[str, str]:
    """Create a door of each tenant, with its device ID."""
    return real_doors(a)[0], real_doors(b)[0]


@pytest.fixture
def owner(a: Place, b: Place) -> User:
    """Return a person who owns both."""
    user = a.staff("owner")
    with tenant_scope(b.tenant):
        Staff.objects.create(tenant=b.tenant, user=user, role="owner")
    return user


@pytest.fixture
def browser(owner: User) -> Iterator[Browser]:
    with Inside(owner) as browser:
        yield browser


def written(place: Place) -> tuple[int, int]:
    with tenant_scope(place.tenant):
        return Intent.objects.count(), AuditEntry.objects.count()


def posting_forms(browser: Browser, place: Place) -> list[Form]:
    """Return every form with method POST, of every page of a tenant."""
    pages = crawl(browser, url(place), within=url(place), most=60)
    found = {}
    for page in pages.values():
        if page.status_code == 200 and "text/html" in page.headers.get("content-type", ""):
            for form in forms_of(page, browser.url):
                if form.method == "post":
                    found.setdefault(form.action, form)
    return list(found.values())


def attack(browser: Browser, a: Place, b: Place, doors: tuple[str, str]) -> dict[str, int]:
    """Send every form of A: unchanged while B is open in the other tab, and again at B's address."""
    forms = posting_forms(browser, a)
    mine = [form for form in forms if form.action.startswith(url(a))]
    browser.get(url(b))
    before, calls = print_of(b), len(b.calls())
    for form in mine:
        if "revoke" in form.action or "logout" in form.action:
            continue
        browser.post(form.action, form.values, control="unlock")
    changed = int(print_of(b) != before)
    at_b = written(b)
    nonced = [form for form in mine if "nonce" in form.values]
    for form in nonced:
        browser.post(form.action.replace(url(a), url(b), 1), form.values, control="unlock")
    door = browser.form(url(a, f"devices/{doors[0]}/"), "command")
    browser.post(url(b, f"devices/{doors[1]}/command/"), door.values, control="unlock")
    return {
        "forms": len(mine),
        "written to B as they stand": changed,
        "written at B's address": int(written(b) != at_b),
        "calls to B's service": len(b.calls()) - calls + len(arrivals(b)),
    }


def test_forms_of_a_never_write_to_b(browser: Browser, a: Place, b: Place, doors: tuple[str, str]) -> None:
    found = attack(browser, a, b, doors)
    assert found.pop("forms") >= 3
    assert set(found.values()) == {0}, found


def test_a_nonce_of_another_person_or_tenant_is_refused_in_words(
    browser: Browser, a: Place, b: Place, doors: tuple[str, str]
) -> None:
    form = browser.form(url(a, f"devices/{doors[0]}/"), "command")
    answer = browser.post(url(b, f"devices/{doors[1]}/command/"), form.values, control="unlock")
    page = browser.get(answer.headers["location"])
    assert "opened for another tenant" in page.text
    assert arrivals(b) == [] == arrivals(a)


@pytest.mark.soak
def test_every_form(browser: Browser, a: Place, b: Place, doors: tuple[str, str], figure: Callable[..., None]) -> None:
    found = attack(browser, a, b, doors)
    forms = found.pop("forms")
    for what, count in found.items():
        figure("no wrong-tenant write", f"{forms} forms: {what}", count, "0")
    assert set(found.values()) == {0}
