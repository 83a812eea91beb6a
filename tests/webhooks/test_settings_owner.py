"""The webhook's settings as an owner changes them, against a real service."""

import re
from datetime import timedelta

import pytest
from django.conf import settings as site
from django.utils import timezone

from portal.base.ui.value_words import service_word
from portal.domain.intents.models import State
from portal.domain.notifications import account_mails
from portal.webhooks.models import Webhook, digest_token
from portal.webhooks.receiving import FRESH_SECONDS
from tenants.models import AuditEntry
from tests.support.desk import fields_of
from tests.webhooks.panel import Panel, text_of

UPDATE = 2


@pytest.fixture
def panel(make):
    """Return the connection page of a connected tenant, in an owner's browser."""
    return Panel(make(members=0))


def test_switching_on_makes_address_and_secret_and_sets_both_at_the_service(panel):
    assert "Off" in panel.text()
    page = panel.act("on", categories=["normal", "suspicious"])
    row, there = panel.row(), panel.at_service()
    assert there == {
        "is_invalid": False,
        "url": f"{site.PORTAL_URL}/hooks/{row.token}/",
        "secret_token": row.secret,
        "trigger": {"history": {"category": panel.theirs(["normal", "suspicious"])}},
    }
    assert len(row.secret) <= 64
    assert bytes(row.token_digest) == digest_token(row.token)
    assert row.set_at
    assert "Switch on the webhook" in page
    assert "Waiting for the first notification" in page
    assert "differs" not in page


def test_neither_address_nor_secret_is_on_a_page_or_in_the_audit_log(panel):
    panel.act("on", categories=["normal"])
    row = panel.row()
    pages = [panel.page(), panel.get("audit/"), panel.get(f"intents/{panel.intent().pk}/")]
    with panel.scope():
        kept = [f"{entry.before} {entry.after} {entry.summary}" for entry in AuditEntry.objects.all()]
    assert not any(secret in text for secret in (row.token, row.secret) for text in [*pages, *kept])
    assert "Switch on the webhook" in pages[1]


def test_the_audit_log_names_what_was_set_in_words(panel):
    panel.act("on", categories=["normal", "operation"])
    with panel.scope():
        entry = AuditEntry.objects.filter(action="update_webhook").latest("pk")
    told = text_of(panel.get(f"audit/{entry.pk}/"))
    assert "Notifications Off On" in told
    assert "Categories – Normal, Operation" in told


def test_the_address_is_shown_to_whoever_asks_and_that_is_written_down(panel):
    panel.act("on", categories=["normal"])
    assert panel.row().token in panel.post("reveal/")
    with panel.scope():
        assert AuditEntry.objects.filter(action="webhook.reveal").count() == 1


def test_a_category_must_be_chosen(panel):
    assert "Choose at least one category." in panel.act("on")
    assert panel.calls(UPDATE) == 0


def test_other_categories_leave_address_and_secret_as_they_are(panel):
    panel.act("on", categories=["normal"])
    before = panel.at_service()
    panel.act("categories", categories=["operation", "emergency"])
    wanted = panel.theirs(["operation", "emergency"])
    assert panel.at_service() == before | {"trigger": {"history": {"category": wanted}}}


def test_two_owners_who_choose_categories_see_each_others_choice(panel):
    panel.act("on", categories=["normal"])
    opened = panel.fields("categories")
    panel.act("categories", categories=["normal", "emergency"])
    mine = panel.theirs(["operation"])
    said = panel.post("categories/", **opened | {"categories": mine})
    now = ", ".join(str(service_word("category", each)) for each in panel.theirs(["normal", "emergency"]))
    assert f"Changed to “{now}” after you opened this page. Save again to replace it with your entry." in said
    assert panel.calls(UPDATE) == 2
    assert panel.at_service()["trigger"]["history"]["category"] == panel.theirs(["normal", "emergency"])


def test_categories_that_were_changed_meanwhile_are_replaced_when_saved_again(panel):
    panel.act("on", categories=["normal"])
    opened = panel.fields("categories")
    panel.act("categories", categories=["normal", "emergency"])
    mine = panel.theirs(["operation"])
    page = panel.browser.post(f"{panel.url}connection/webhook/categories/", opened | {"categories": mine})
    again = fields_of(page.content.decode(), "/webhook/categories/")
    assert again["categories"] == mine
    panel.post("categories/", **again)
    assert panel.at_service()["trigger"]["history"]["category"] == mine


def test_categories_that_nobody_described_are_kept_and_shown_as_they_came(panel):
    panel.set_there(url="", category=["geofence"])
    panel.refresh()
    assert "geofence" in panel.offered()
    panel.act("on", categories=["normal", "geofence"])
    assert panel.at_service()["trigger"]["history"]["category"] == ["normal", "geofence"]


def test_categories_of_the_log_are_offered(panel):
    with panel.scope():
        panel.record("H1", category="patrol")
    assert "patrol" in panel.offered()


def test_switching_off_keeps_the_address(panel):
    panel.act("on", categories=["normal"])
    before = panel.at_service()
    page = panel.act("off")
    assert panel.at_service() == before | {"is_invalid": True}
    assert not panel.row().is_on
    assert "Off" in page


def test_all_owners_are_told_of_fewer_categories_and_of_switching_off(panel, mailbox):
    other = panel.place.staff("owner")
    both = sorted([panel.place.owner.email, other.email])
    panel.act("on", categories=["normal", "warning"])
    panel.act("categories", categories=["normal", "warning", "emergency"])
    panel.act("secret")
    account_mails.send_due()
    assert mailbox.to == []
    panel.act("categories", categories=["normal", "warning"])
    account_mails.send_due()
    assert sorted(mailbox.to) == both
    panel.act("off")
    account_mails.send_due()
    assert sorted(mailbox.to) == sorted(both * 2)
    assert "A safety rule was loosened" in mailbox.mails[-1]["Subject"]


def test_a_new_secret_is_accepted_beside_the_former_one_for_ten_minutes_more(panel):
    panel.act("on", categories=["normal"])
    former = panel.row().secret
    panel.act("secret")
    row = panel.row()
    assert panel.at_service()["secret_token"] == row.secret != former
    assert row.former_secret == former
    left = row.former_until - timezone.now()
    assert timedelta(minutes=9) < left <= timedelta(minutes=10)


def test_a_new_secret_is_sent_when_every_process_has_learned_of_it(panel):
    panel.act("on", categories=["normal"])
    panel.post("secret/", **panel.fields("secret"))
    asked = panel.intent()
    assert (asked.state, panel.at_service()["secret_token"]) == (State.QUEUED, panel.row().former_secret)
    assert timedelta(seconds=FRESH_SECONDS) < asked.due_at - asked.created_at < timedelta(seconds=5)


def test_a_new_address_takes_the_former_ones_place_when_it_is_confirmed(panel):
    panel.act("on", categories=["normal"])
    former = panel.row().token
    panel.act("address")
    row = panel.row()
    assert panel.at_service()["url"] == f"{site.PORTAL_URL}/hooks/{row.token}/"
    assert row.token != former
    assert bytes(row.former_digest) == digest_token(former), "what is on its way finds it"
    assert timedelta(minutes=9) < row.former_until - timezone.now() <= timedelta(minutes=10)


def test_another_change_revives_nothing_that_has_expired(panel):
    panel.act("on", categories=["normal"])
    panel.act("secret")
    expired = timezone.now() - timedelta(seconds=1)
    with panel.scope():
        Webhook.objects.update(former_until=expired)
    panel.act("categories", categories=["operation"])
    assert panel.row().former_until == expired
    panel.act("address")
    assert panel.row().former_secret is None


@pytest.mark.parametrize("what", ["secret", "address"])
def test_what_the_service_refuses_is_as_it_was_before(panel, what):
    panel.act("on", categories=["normal"])
    before = panel.row()
    panel.refuse(400, "40002")
    page = panel.act(what)
    row = panel.row()
    assert "Refused" in page
    assert (row.token, row.secret, row.is_on) == (before.token, before.secret, True)
    assert bytes(row.token_digest) == bytes(before.token_digest)
    assert (row.former_digest, row.former_secret, row.former_until) == (None, None, None)


def test_what_a_refusal_repeats_is_kept_without_address_and_secret(panel):
    panel.act("on", categories=["normal"])
    row = panel.row()
    panel.refuse(400, "40002", f"not {row.secret} at {site.PORTAL_URL}/hooks/{row.token}/")
    panel.act("categories", categories=["operation"])
    kept = panel.intent().error_detail
    assert kept == "not ••• at •••"


@pytest.mark.parametrize("what", ["secret", "address"])
@pytest.mark.parametrize("lost", ["drop_after", "drop_before"], ids=["that was applied", "that never arrived"])
def test_while_the_answer_is_lost_both_count_until_a_reading_tells(panel, what, lost):
    panel.act("on", categories=["normal"])
    before = panel.row()
    panel.fault(lost, count=50)
    panel.act(what)
    panel.sent_until_uncertain()
    during = panel.row()
    former = bytes(during.former_digest) if what == "address" else during.former_secret
    assert former == (bytes(before.token_digest) if what == "address" else before.secret)
    assert during.former_until is None
    assert "earlier change of the webhook is not finished" in panel.act("secret")
    panel.clear_faults()
    panel.last_run_at()
    after, there = panel.row(), panel.at_service()
    kept = during if lost == "drop_after" else before
    assert (after.token, after.secret) == (kept.token, kept.secret)
    assert there["url"].endswith(f"/hooks/{after.token}/")
    assert there["secret_token"] == after.secret


def test_pressed_twice_is_asked_once(panel):
    fields = panel.fields("on") | {"categories": ["normal"]}
    for _ in range(2):
        panel.post("on/", **fields)
    assert panel.calls(UPDATE) == 1


def test_another_systems_address_is_asked_about_before_it_is_overwritten(panel):
    panel.set_there(url="https://other.example.com/secret-path", category=["normal"], is_invalid=False)
    page = panel.act("on", categories=["normal"])
    assert "notifies another system" in page
    assert "https://other.example.com/…" in page
    assert "secret-path" not in page
    assert panel.calls(UPDATE) == 1, "the other system's own"
    panel.act("on", categories=["normal"], replace=panel.mark())
    assert panel.at_service()["url"].startswith(site.PORTAL_URL)


def test_an_address_that_was_not_shown_is_not_overwritten(panel):
    panel.set_there(url="https://other.example.com/", category=["normal"], is_invalid=False)
    panel.refresh()
    mark = panel.mark()
    panel.set_there(url="https://third.example.com/", category=["normal"], is_invalid=False)
    panel.act("on", categories=["normal"], replace=mark)
    assert panel.at_service()["url"] == "https://third.example.com/"


def test_switching_off_leaves_another_systems_settings_alone(panel):
    panel.act("on", categories=["normal"])
    panel.set_there(url="https://other.example.com/", category=["normal"], is_invalid=False)
    before = panel.at_service()
    assert "left as they are" in panel.act("off")
    assert panel.at_service() == before
    assert not panel.row().is_on


def test_what_somebody_changed_at_the_service_is_said_and_put_right(panel):
    panel.act("on", categories=["normal"])
    ours = panel.at_service()
    panel.set_there(url=ours["url"], category=["operation"], is_invalid=True, secret=None)
    panel.refresh()
    page = panel.text()
    assert page.count("differs") == 3
    assert "They may have been changed on the member site" in page
    panel.act("on", categories=["normal"])
    assert panel.at_service() == ours
    assert "differs" not in panel.text()


def test_settings_that_cannot_be_read_are_not_written_over(panel):
    panel.fault("status", operation=1, status=500, count=20)
    assert "Nothing was sent." in panel.act("on", categories=["normal"])
    assert panel.calls(UPDATE) == 0


def test_a_test_waits_for_a_notification_and_tells_of_it(panel):
    panel.act("on", categories=["normal"])
    assert "Waiting for a notification" in panel.post("test/")
    with panel.scope():
        now = timezone.now()
        panel.notified(at=now - timedelta(seconds=1.2), received_at=now)
    assert "1.2 s after the record's time" in panel.text()


def test_a_test_that_nothing_came_of_says_what_to_check(panel):
    panel.act("on", categories=["normal"])
    panel.post("test/")
    with panel.scope():
        Webhook.objects.update(tested_at=timezone.now() - timedelta(minutes=6))
    assert "No notification came within five minutes" in panel.text()


def test_the_panel_follows_while_somebody_looks(panel):
    panel.act("on", categories=["normal"])
    shown = re.search(r'id="webhook-now"[^>]*data-version="([^"]+)"', panel.page())[1]
    assert panel.asked(shown).status_code == 204
    panel.post("test/")
    answer = panel.asked(shown)
    assert "Waiting for a notification" in answer.content.decode()


def test_a_connection_without_the_scope_says_who_can_change_that(panel):
    panel.refuse(403, panel.no_scope)
    panel.act("on", categories=["normal"])
    page = panel.text()
    assert "The connection lacks the permission tenant:write." in page
    assert "An owner can reconnect" in page


def test_the_page_says_when_the_portal_cannot_be_reached_from_outside(panel, settings):
    assert "cannot be reached from the internet" in panel.text()
    settings.PORTAL_URL = "https://portal.example.com"
    assert "cannot be reached from the internet" not in panel.text()
