"""One journey through the whole site in a real browser: from signing in to the next tenant."""

import csv
import io
import re
from importlib import import_module
from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import Page, expect

from tenants.models import Staff
from tests.support.accessibility import barriers
from tests.support.chromium import PATIENCE
from tests.support.places import age_proof
from tests.support.stage import PASSWORD, Customer, Stage
from tests.support.waiting import until

ROWS = 1000
TAKEN = [f"TAKEN{number:03}" for number in range(6)]
FREED, KEPT = TAKEN[:3], TAKEN[3:]


@pytest.fixture
def customer(stage: Stage) -> Customer:
    """Return a tenant that is not connected yet."""
    return stage.customer(members=30, connected=False, mirrored=False)


@pytest.fixture
def next_tenant(stage: Stage) -> Customer:
    return stage.customer(members=5)


class Journey:
    """Steps that are used several times."""

    def __init__(self, page: Page, customer: Customer) -> None:
        self.page, self.customer = page, customer
        self.barriers: list[str] = []

    def open(self, rest: str) -> None:
        self.page.goto(self.customer.url(rest))

    def press(self, name: str | re.Pattern[str]) -> None:
        self.page.get_by_role("button", name=name).first.click()

    def confirm(self) -> None:
        """Confirm the identity, if the site requires it."""
        if "reauthenticate" in self.page.url:
            self.page.fill("input[name=password]", PASSWORD)
            self.page.locator("form:has(input[name=password]) button").first.click()
            self.page.wait_for_url(re.compile("/t/"))

    def look(self) -> None:
        """Check the page for serious accessibility problems."""
        self.barriers += [f"{self.page.url}: {each}" for each in barriers(self.page)]

    def upload(self, name: str, content: str) -> None:
        """Upload a file, do the dry run, start, and wait until all results are shown."""
        self.open("imports/new/")
        self.page.set_input_files(
            "input[type=file]", {"name": name, "mimeType": "text/csv", "buffer": content.encode()}
        )
        self.press("Upload and preview")
        self.press("Check")
        self.start()

    def start(self) -> None:
        self.page.get_by_role("button", name=re.compile(r"^Import [\d,]+ row")).click(timeout=PATIENCE)
        expect(self.page.get_by_text(re.compile(r"\d+ API calls? used"))).to_be_visible(timeout=2 * PATIENCE)


def test_from_signing_in_to_the_next_tenant(page, customer, next_tenant):
    owner = customer.staff("owner")
    with next_tenant.scope():
        Staff.objects.create(user=owner, role="guard")
    journey = Journey(page, customer)

    sign_in(journey, owner.email)
    connect(journey)
    create_member(journey)
    import_members(journey)
    unlock(journey)
    switch(journey, next_tenant)

    assert journey.barriers == []


def sign_in(journey: Journey, email: str) -> None:
    page = journey.page
    page.goto("/accounts/login/")
    journey.look()
    page.fill("input[name=login]", email)
    page.fill("input[name=password]", PASSWORD)
    journey.press("Sign in")
    page.get_by_role("link", name=journey.customer.tenant.name).first.click()
    expect(page).to_have_url(re.compile(journey.customer.url()))
    journey.look()


def connect(journey: Journey) -> None:
    """Connect by consent of the member site's administrator; then enter the licence key and wait for the first sync."""
    page, service = journey.page, journey.customer.service
    journey.open("connection/")
    journey.press("Connect")
    if "reauthenticate" in page.url:
        journey.confirm()
        journey.press("Connect")
    page.fill("input[name=login]", service.admin_login)
    page.fill("input[name=password]", service.admin_password)
    page.get_by_role("button").first.click()
    page.locator("button[value=allow]").click()
    expect(page).to_have_url(re.compile(journey.customer.url("connection/")))
    expect(page.get_by_text(journey.customer.service.tenant_id)).to_be_visible()
    _store_licence(journey)
    if "reauthenticate" in page.url:
        journey.confirm()
        _store_licence(journey)
    expect(page.get_by_text("It is never shown").first).to_be_visible()
    journey.look()
    until(
        lambda: _listed(journey, "groups/") and _listed(journey, "devices/?view=list"),
        saying="the first sync",
        pause=0.5,
    )


def _store_licence(journey: Journey) -> None:
    form = journey.page.locator("form[action$='/licence-key/']")
    form.locator("input[type=password]").fill(journey.customer.service.licence_key)
    form.get_by_role("button", name="Save").click()
    journey.page.wait_for_load_state()


def _listed(journey: Journey, rest: str) -> bool:
    journey.open(rest)
    return journey.page.locator("table.rows tbody tr").count() > 0


def create_member(journey: Journey) -> None:
    page = journey.page
    journey.open("members/new/")
    journey.look()
    name = "武者小路 花子"  # a name that the service does not draw
    page.fill("input[name=member_name]", name)
    page.fill("input[name=member_code]", "J-0001")
    page.select_option("select[name=membergroup_id]", index=1)
    journey.press("Create member")
    expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()
    journey.look()
    journey.open("members/?q=花子")
    expect(page.get_by_role("link", name=name, exact=True)).to_be_visible()
    journey.look()


def import_members(journey: Journey) -> None:
    """Import a thousand rows. Six have cards that other members have been given since the sync."""
    page, group = journey.page, _occupy_cards(journey.customer)
    journey.upload("staff.csv", _file(group))
    expect(page.get_by_role("button", name=f"Retry {len(TAKEN)} rows")).to_be_visible()
    journey.look()

    # Three of the cards are freed: those rows succeed unchanged, the others fail again.
    _free_cards(journey.customer)
    journey.press(f"Retry {len(TAKEN)} rows")
    journey.start()
    expect(page.get_by_role("button", name=f"Retry {len(KEPT)} rows")).to_be_visible()

    # The rest is corrected in the file that the site provides for it.
    journey.upload("corrected.csv", _corrected(journey))
    expect(page.get_by_role("button", name=re.compile("^Retry"))).to_have_count(0)

    there = _codes(journey.customer)
    assert all(there.count(f"R-{number:04}") == 1 for number in range(ROWS))
    journey.open("imports/")
    journey.look()


def unlock(journey: Journey) -> None:
    """Unlock a door after a proof of identity, and follow the command to its end without a reload."""
    page = journey.page
    (session,) = [each["value"] for each in page.context.cookies() if each["name"] == settings.SESSION_COOKIE_NAME]
    age_proof(import_module(settings.SESSION_ENGINE).SessionStore(session))
    journey.open("devices/?view=list")
    journey.look()
    # Doors that need attention are listed first, but an offline one does not react.
    page.locator("tbody tr").filter(has_not_text="Offline").locator("a.row-link").first.click()
    page.wait_for_url(re.compile("/devices/.+/$"))
    page.get_by_role("button", name="Unlock", exact=True).click()
    page.wait_for_url(re.compile("reauthenticate"))
    assert journey.customer.arrivals() == []
    journey.confirm()
    done = page.locator("section.outcome[data-state=done]")
    expect(done).to_be_visible()
    journey.look()
    assert len(journey.customer.arrivals()) == 1


def switch(journey: Journey, next_tenant: Customer) -> None:
    """Check that the switcher leads to the same kind of page of the other tenant."""
    page = journey.page
    journey.open("devices/")
    page.locator("details.switcher summary").click()
    page.get_by_role("menuitem", name=next_tenant.tenant.name).click()
    expect(page).to_have_url(re.compile(next_tenant.url("devices/")))
    journey.look()


def _occupy_cards(customer: Customer) -> str:
    """Assign the rows' cards to other members at the service, after the sync; return a group's name for the rows."""
    group = _api(customer, "GET", "/v1/membergroups")["membergroups"][0]
    for card in TAKEN:
        member = {"member_name": f"Holder {card}", "membergroup_id": group["membergroup_id"], "card_data": card}
        _api(customer, "POST", "/v1/members", json=member)
    return str(group["membergroup_name"])


def _free_cards(customer: Customer) -> None:
    for member in _members(customer):
        if member.get("card_data") in FREED:
            _api(customer, "DELETE", f"/v1/members/{member['member_id']}")


def _file(group: str) -> str:
    lines = [f"新人 {n},R-{n:04},{group},{TAKEN[n // 150] if n % 150 == 0 and n < 900 else ''}" for n in range(ROWS)]
    return "\n".join(["name,member code,group,card", *lines]) + "\n"


def _corrected(journey: Journey) -> str:
    """Return the downloaded rows to correct, with cards that are free."""
    page = journey.page
    page.get_by_text("Download rows to fix").first.click()
    with page.expect_download() as download:
        page.get_by_role("link", name=re.compile("CSV")).first.click()
    text = Path(download.value.path()).read_text("utf-8-sig")
    rows = list(csv.reader(io.StringIO(text)))
    assert len(rows) == len(KEPT) + 1
    for card in KEPT:
        assert card in text
        text = text.replace(card, card.replace("TAKEN", "FREE"))
    return text


def _codes(customer: Customer) -> list[str]:
    return [str(member.get("member_code")) for member in _members(customer)]


def _members(customer: Customer) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    query: dict[str, object] = {"limit": 1000, "fields": "card_data"}
    while True:
        page = _api(customer, "GET", "/v1/members", params=query)
        found += page["members"]
        if "last_evaluated_key" not in page:
            return found
        query["last_evaluated_key"] = page["last_evaluated_key"]


def _api(customer: Customer, method: str, path: str, **more: object) -> dict[str, list[dict[str, object]]]:
    """Call the service directly, without the portal."""
    answer = customer.house.sandbox.api(method, path, token=customer.service.token, **more)
    assert answer.is_success, answer.text
    return answer.json() if answer.content else {}
