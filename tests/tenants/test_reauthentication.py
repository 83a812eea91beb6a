"""Actions that need a recent proof of identity: a session with an old sign-in cannot do them."""

import uuid
from datetime import timedelta

import pytest
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.urls import resolve
from django.utils import timezone

from portal.domain.cameras.models import Camera
from portal.domain.people.models import Member
from portal.domain.places.models import KeyBox, PassController
from tenants.models import AuditEntry, SupportSession
from tenants.reauthentication import SAFE_METHODS
from tenants.roles import OWNER_ONLY_PERMISSIONS, PLATFORM_ROLES, Proof
from tenants.scope import tenant_scope
from tests.support.crawl import addresses
from tests.support.places import PASSWORD
from tests.support.proofs import FILES, HARMLESS, LONG, LOOKED_AT, SHORT, aged

MINUTES_6, MINUTES_51, MINUTES_61 = 360, 51 * 60, 61 * 60
#: Pages of a person's account that change how they sign in. allauth asks for a proof there, by its own setting.
ACCOUNT = (
    "2fa/totp/activate/", "2fa/totp/deactivate/", "2fa/recovery-codes/generate/", "2fa/webauthn/add/",
)  # fmt: skip


FOUND = {each.name: each for each in addresses(("t/", "platform/"))}
WRITES = {name for name, each in FOUND.items() if each.view.methods - SAFE_METHODS}
READS = {name for name, each in FOUND.items() if "GET" in each.view.methods}


def path_of(name):
    """Return an address of tenant a, with values for its parameters."""
    return FOUND[name].path_by_kind("a", {"uuid": str(uuid.UUID(int=1))})


def by_level(level):
    """Return the names of the addresses of this level, except those that answer with a file."""
    return {name for name, each in FOUND.items() if each.view.proof is level and not each.view.file}


def names(table):
    """Return the names in a table of reasons, and check that each occurs once."""
    found = [name for group in table.values() for name in group]
    assert len(found) == len(set(found))
    return set(found)


@pytest.fixture
def furnished(two):
    """Create tenant a with a door, a camera and a key box, and a person for each address of tenant and platform."""
    with tenant_scope(two.a):
        PassController.objects.create(device_id="1", device_name="Entrance")
        Camera.objects.create(camera_id="1", doors=["1"], is_intercom=True)
        KeyBox.objects.create(key_device_id="1", key_device_name="Keys")
    two.supporter = two.platform()
    return two


def is_asked(answer):
    return answer.status_code == 302 and answer["Location"].startswith("/accounts/reauthenticate/")


def asked(furnished, seconds, wanted, method):
    """Return those of these addresses that ask a session of this age for a proof."""
    data = {"reason": "x", "minutes": "30", "email": "x@example.test", "role": "owner"}
    platform, owner = aged(furnished.supporter, seconds), aged(furnished.owner_a, seconds)
    found = set()
    for name in sorted(wanted):
        browser = platform if name.startswith("platform:") else owner
        answer = getattr(browser, method)(path_of(name), data)
        found |= {name} if is_asked(answer) else set()
    return found


def nothing_was_done(furnished):
    with tenant_scope(furnished.a):
        return not (AuditEntry.objects.exists() or SupportSession.objects.exists())


def test_every_address_has_a_level_or_a_reason_for_none():
    assert by_level(Proof.SHORT) == SHORT
    assert by_level(Proof.LONG) == LONG
    assert {name for name, each in FOUND.items() if each.view.file} == FILES
    assert names(HARMLESS) == WRITES - SHORT - LONG
    assert names(LOOKED_AT) == READS - SHORT - LONG - FILES - WRITES


def test_after_six_minutes_the_shorter_proof_is_asked_for_and_nothing_is_done(furnished):
    for method in ("post", "get", "head"):
        wanted = SHORT & (WRITES if method == "post" else READS) | (set() if method == "post" else FILES)
        assert asked(furnished, MINUTES_6, wanted, method) == wanted, method
    assert nothing_was_done(furnished)


def test_after_six_minutes_the_longer_proof_still_counts(furnished):
    assert not asked(furnished, MINUTES_6, LONG & READS, "get")
    assert not asked(furnished, MINUTES_6, LONG & WRITES, "post")


def test_after_an_hour_the_longer_proof_is_asked_for_and_nothing_is_done(furnished):
    for method, wanted in (("post", WRITES), ("get", READS), ("head", READS)):
        assert asked(furnished, MINUTES_61, LONG & wanted, method) == LONG & wanted, method
    assert nothing_was_done(furnished)


def test_a_fresh_session_is_asked_nowhere(furnished):
    for method, wanted in (("get", (SHORT | FILES) & READS), ("post", SHORT & WRITES)):
        assert not asked(furnished, 0, wanted, method)


def test_a_form_is_not_opened_when_its_proof_runs_out_before_it_is_sent(furnished):
    assert asked(furnished, MINUTES_51, LONG & READS, "get") == LONG & READS
    assert not asked(furnished, MINUTES_51, {"members:new", "rights:template_new"}, "post")
    assert asked(furnished, 200, SHORT & READS, "get") == SHORT & READS
    assert not asked(furnished, 200, {"guests:settings", "evidence:settings"}, "post")
    assert not asked(furnished, 200, FILES, "get"), "nothing is typed before a file"


def test_how_long_the_longer_proof_counts_is_a_setting(furnished, settings):
    settings.LONG_PROOF_SECONDS = 300
    assert asked(furnished, MINUTES_6, {"members:new"}, "post")


def test_no_other_address_interrupts_a_days_work(furnished):
    assert not asked(furnished, MINUTES_61, names(HARMLESS), "post")
    assert not asked(furnished, MINUTES_61, names(LOOKED_AT), "get")


def test_whoever_may_only_look_at_rights_is_not_asked(furnished):
    with tenant_scope(furnished.a):
        Member.objects.create(tenant=furnished.a, member_id="1", member_name="Aoi", rights={})
    auditor, owner = aged(furnished.staff("auditor"), MINUTES_61), aged(furnished.owner_a, MINUTES_61)
    assert auditor.get("/t/a/members/1/rights/").status_code == 200
    assert auditor.post("/t/a/members/1/rights/").status_code == 403
    assert is_asked(owner.get("/t/a/members/1/rights/"))


def confirmed(browser, answer):
    """Confirm the person's identity, and return the page that follows."""
    confirm = answer.headers.get("HX-Redirect") or answer["Location"]
    confirm = confirm.replace("/accounts/2fa/", "/accounts/")
    assert "Then the download starts." in browser.get(confirm).content.decode()
    back = browser.post(confirm, {"password": PASSWORD})["Location"]
    return back, browser.get(back)


def test_after_the_proof_the_file_comes_and_the_person_is_where_it_was_asked_for(furnished):
    browser = aged(furnished.owner_a, MINUTES_6)
    page = "http://testserver/t/a/members/?q=aoi"
    back, shown = confirmed(browser, browser.get("/t/a/members/?q=aoi&export=csv", headers={"referer": page}))
    assert back.startswith("/t/a/members/?q=aoi&unsent=")
    assert "The download starts now." in shown.content.decode()
    file = shown["Refresh"].partition("url=")[2]
    assert file == "/t/a/members/?q=aoi&export=csv"
    assert browser.get(file)["Content-Disposition"].startswith("attachment")
    assert "Refresh" not in browser.get(back).headers, "the page is loaded anew: the file comes once"


def test_a_file_that_no_page_led_to_comes_on_the_page_above_it(furnished):
    browser = aged(furnished.owner_a, MINUTES_6)
    back, shown = confirmed(browser, browser.get("/t/a/members/?export=csv", headers={"hx-request": "true"}))
    assert back.startswith("/t/a/members/?unsent=")
    assert shown["Refresh"] == "1; url=/t/a/members/?export=csv"


@pytest.mark.parametrize("name", sorted(FILES))
def test_every_file_comes_on_a_page_and_none_leaves_the_browser_where_it_confirmed(furnished, name):
    browser = aged(furnished.owner_a, MINUTES_6)
    back, _ = confirmed(browser, browser.get(path_of(name)))
    assert "?unsent=" in back
    view = resolve(back.partition("?")[0]).func
    assert "GET" in view.methods
    assert not view.file


def test_recovery_codes_come_on_the_page_of_the_codes(two):
    TOTP.activate(two.owner_a, generate_totp_secret())
    RecoveryCodes.activate(two.owner_a)
    browser = aged(two.owner_a)
    back, shown = confirmed(browser, browser.get("/accounts/2fa/recovery-codes/download/"))
    assert back.startswith("/accounts/2fa/recovery-codes/?unsent=")
    file = shown["Refresh"].partition("url=")[2]
    assert browser.get(file)["Content-Disposition"].startswith("attachment")


def test_a_support_session_is_asked_as_everybody_is(furnished):
    with tenant_scope(furnished.a):
        SupportSession.objects.create(
            user=furnished.supporter, reason="x", expires_at=timezone.now() + timedelta(minutes=30)
        )
    browser = aged(furnished.supporter, MINUTES_61)
    assert is_asked(browser.get("/t/a/members/new/"))
    assert is_asked(browser.post("/t/a/members/new/"))
    assert browser.get("/t/a/members/").status_code == 200


@pytest.mark.parametrize("page", ACCOUNT)
def test_an_aged_session_is_asked_before_the_second_factor_changes(two, page):
    browser = aged(two.owner_a)
    if page != "2fa/totp/activate/":
        TOTP.activate(two.owner_a, generate_totp_secret())
    answer = browser.get(f"/accounts/{page}")
    assert answer.status_code == 302
    assert "reauthenticate" in answer["Location"]


def test_no_platform_role_may_do_what_would_outlive_a_session():
    for role in PLATFORM_ROLES:
        assert not role.permissions & OWNER_ONLY_PERMISSIONS, role.name
