"""What asks again who is there: a session whose sign-in is long ago opens nothing that counts."""

import re
import uuid

import pytest
from allauth.account.internal.flows.login import AUTHENTICATION_METHODS_SESSION_KEY
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.urls import URLPattern, URLResolver, get_resolver

from portal.core.cameras.models import Camera
from portal.core.mirror.models import KeyBox, PassController
from tenants.access import SAFE
from tenants.models import AuditEntry, SupportSession
from tenants.roles import OWNERS_OWN, PLATFORM_ROLES
from tenants.scope import tenant_scope
from tests.support.places import signed_in

#: Every write that asks, by the name of its address: doors and keys, secrets, the connection, staff, support.
ASKS = {
    "devices:command",
    "lockdown:start",
    "lockdown:rehearse",
    "lockdown:open",
    "lockdown:rehearse_open",
    "lockdown:confirm",
    "lockdown:withdraw",
    "lockdown:save_settings",
    "lockdown:again",
    "lockdown:release",
    "keys:command",
    "evidence:end_hold",
    "intercom:unlock",
    "evidence:delete",
    "evidence:remove",
    "members:keys",
    "members:one_time",
    "members:reveal",
    "members:export",
    "connection:connect",
    "connection:reissue",
    "connection:revoke",
    "connection:licence_key",
    "alerts:addresses",
    "alerts:address_try",
    "alerts:address_renew",
    "alerts:address_remove",
    "webhook:change",
    "webhook:reveal",
    "webhook:test",
    "logs:export",
    "staff:invite",
    "staff:uninvite",
    "staff:change_role",
    "staff:remove",
    "support:allow",
    "platform:enter",
}

#: Every other write, and why it does not ask: a session that was left open can do no more than its day's work with it.
HARMLESS = {
    "changes the data of members and groups; logged, shown and undone by the tenant's own staff": {
        "members:new", "members:edit", "members:delete", "members:face", "members:face_delete", "members:picture_edit",
        "groups:new", "groups:rename",
    },
    "changes rights, member by member, with a preview; logged and undone": {
        "member_rights:edit", "rights:copy", "rights:template_new", "rights:template", "rights:template_delete",
        "rights:template_from", "areas:grant", "areas:withdraw", "areas:edit_start",
        "areas:edit_discard", "areas:edit_undo",
    },
    "starts, goes on with, ends or judges work on many rows, within the rights above": {
        "changes:ask", "changes:start", "changes:stop", "changes:continue", "changes:retry", "changes:undo",
        "changes:decide", "changes:discard", "imports:new", "imports:columns", "imports:start", "imports:stop",
        "imports:continue", "imports:retry", "imports:decide", "imports:discard", "logs:export_stop",
        "logs:export_continue",
    },
    "is a desk's work, done in seconds; a guest's code opens what its visit type allows, for hours": {
        "guests:new", "guests:without_code", "guests:code", "guests:link", "guests:unlink", "guests:edit",
        "guests:extend", "guests:cut", "guests:withdraw", "guests:step", "guests:undo", "guests:close",
        "guests:expected", "guests:expected_start", "guests:expected_stop", "guests:expected_continue",
        "guests:expected_discard",
    },
    "keeps searches of the log, which show nothing by themselves": {
        "logs:search_save", "logs:search", "logs:search_delete",
    },
    "decides in an access review: nothing is withdrawn before the edit of an area, which asks": {
        "reviews:new", "reviews:press", "reviews:confirm_many", "reviews:withdraw_many", "reviews:delegate",
        "reviews:change", "reviews:assign", "reviews:groups", "reviews:withdrawals", "reviews:finish", "reviews:cancel",
    },
    "makes reports, and tells staff of them who may see them anyway; taking one out asks": {
        "reports:new", "reports:schedule", "reports:change", "reports:end", "reports:send_now",
    },
    "takes, closes and sets up alerts, which open nothing": {
        # Cameras: who watches is written down, and nothing is opened.
        "cameras:new", "cameras:settings", "cameras:edit", "cameras:remove", "cameras:status", "cameras:live",
        "cameras:go_on",
        "intercom:live", "intercom:go_on", "intercom:stop", "intercom:request_decide", "intercom:request_stop",
        "cameras:stop", "cameras:recording", "cameras:picture_at", "cameras:clip",
        # Evidence: what is collected stays here; taking it out and deleting it ask.
        "evidence:new", "evidence:edit", "evidence:note", "evidence:fetch", "evidence:close", "evidence:reopen",
        "evidence:hold", "evidence:records", "evidence:requests", "evidence:picture", "evidence:add_record",
        "evidence:add_rights", "evidence:export", "evidence:settings",
        "alerts:take", "alerts:give_back", "alerts:note", "alerts:close", "alerts:rule",
        "alerts:recipients", "alerts:notify",
    },
    "must be done in seconds in an evacuation, and opens nothing": {
        "rollcall:start", "rollcall:ticks", "rollcall:add", "rollcall:end",
    },
    "draws floor plans, which open nothing": {"plans:new", "plans:edit", "plans:replace", "plans:delete"},
    "sets up the desk": {
        "guests:settings", "guests:preset_new", "guests:preset", "guests:preset_delete", "guests:preset_move",
        "guests:preset_default",
    },
    "says what came of something, or stops it before it is sent": {
        "intents:decide", "intents:stop", "guests:request_decide", "guests:request_stop",
    },
    "reads the service, or draws what was posted": {
        "mirror:refresh", "mirror:days", "guests:refresh", "areas:load", "member_rights:words", "rights:words",
    },
    "needs the permit of the first code, for which proof was given, for ten minutes": {"members:one_time_next"},
    "only takes access away": {"support:end"},
}  # fmt: skip
#: Pages of the own account that change how one signs in. allauth asks there, by its own setting.
ACCOUNT = (
    "2fa/totp/activate/", "2fa/totp/deactivate/", "2fa/recovery-codes/generate/", "2fa/webauthn/add/",
)  # fmt: skip


def addresses(resolver=None, prefix="", space=""):
    """Every pattern under /t/ and /platform/: its name, its route and its view."""
    for entry in (resolver or get_resolver()).url_patterns:
        route = prefix + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from addresses(entry, route, f"{space}{entry.namespace}:" if entry.namespace else space)
        elif isinstance(entry, URLPattern) and route.startswith(("t/", "platform/")):
            yield f"{space}{entry.name}", route, entry.callback


def path_of(route):
    """An address of tenant a, whatever else it names."""
    route = route.replace("<slug:tenant>", "a").replace("<slug:slug>", "a")
    return "/" + re.sub(r"<uuid:\w+>", str(uuid.UUID(int=1)), re.sub(r"<(int|slug|sid|str):\w+>", "1", route))


WRITES = {name: (route, view) for name, route, view in addresses() if view.methods - SAFE}


def aged(user, seconds=3600):
    """A browser whose person signed in that long ago."""
    client = signed_in(user)
    session = client.session
    for record in session[AUTHENTICATION_METHODS_SESSION_KEY]:
        record["at"] -= seconds
    session.save()
    return client


def test_every_write_asks_or_is_harmless_by_name():
    harmless = [name for names in HARMLESS.values() for name in names]
    assert len(harmless) == len(set(harmless))
    assert set(harmless) | ASKS == set(WRITES)
    assert {name for name, (_route, view) in WRITES.items() if view.reauth} == ASKS
    assert not ASKS & set(harmless)


@pytest.mark.parametrize("name", sorted(ASKS))
def test_an_aged_session_is_asked_and_nothing_is_done(two, name):
    person = two.platform() if name.startswith("platform:") else two.owner_a
    path = path_of(WRITES[name][0])
    with tenant_scope(two.a):
        PassController.objects.create(device_id="1", device_name="Entrance")
        Camera.objects.create(camera_id="1", doors=["1"], is_intercom=True)
        KeyBox.objects.create(key_device_id="1", key_device_name="Keys")
    answer = aged(person).post(path, {"reason": "x", "minutes": "30", "email": "x@example.test", "role": "owner"})
    assert (answer.status_code, answer["Location"].partition("?")[0]) == (302, "/accounts/reauthenticate/")
    with tenant_scope(two.a):
        assert not AuditEntry.objects.exists()
        assert not SupportSession.objects.exists()
    fresh = signed_in(person).post(path, {})
    assert not fresh.get("Location", "").startswith("/accounts/"), "a fresh one is let through"


def test_no_other_write_interrupts_a_days_work(two):
    browser = aged(two.owner_a)
    for name in set(WRITES) - ASKS:
        answer = browser.post(path_of(WRITES[name][0]))
        assert "reauthenticate" not in answer.get("Location", ""), name


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
        assert not role.permissions & OWNERS_OWN, role.name
