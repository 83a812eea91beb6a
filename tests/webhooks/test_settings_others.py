"""The webhook's settings for people who may view but not change them, and for people who may not view them."""

import pytest

from portal.webhooks.models import Webhook
from tenants.models import SupportSession
from tests.webhooks.panel import Panel, text_of

ACTS = ("on/", "off/", "categories/", "secret/", "address/", "test/", "reveal/")


@pytest.fixture
def owner(make):
    """Return an owner's panel, with the webhook switched on."""
    panel = Panel(make(members=0))
    panel.act("on", categories=["normal"])
    return panel


def of(owner, role):
    """Return the panel of another person of the same tenant."""
    return Panel(owner.place, owner.place.staff(role))


def refused(owner, panel, status):
    """Check that every action is refused and changes nothing."""
    before, calls = owner.row(), owner.calls(2)
    for act in ACTS:
        answer = panel.browser.post(f"{panel.url}connection/webhook/{act}", {"categories": ["normal"]})
        assert answer.status_code == status, act
        assert before.token not in answer.content.decode()
    after = owner.row()
    assert (after.is_on, after.token, after.secret, after.tested_at) == (True, before.token, before.secret, None)
    assert owner.calls(2) == calls


@pytest.mark.parametrize("role", ["facility manager", "auditor"])
def test_whoever_may_look_sees_how_it_stands_and_can_change_nothing(owner, role):
    panel = of(owner, role)
    text = text_of(panel.page())
    assert "Waiting for the first notification" in text
    assert "As of" in text or "as of" in text
    assert not any(words in text for words in ("Switch off", "Renew", "Test notifications", "show"))
    refused(owner, panel, 403)


@pytest.mark.parametrize("role", ["facility manager", "auditor"])
def test_while_it_is_off_they_are_told_who_can_switch_it_on(make, role):
    panel = Panel(make(members=0))
    assert "Only an owner can switch the webhook on." in text_of(of(panel, role).page())


@pytest.mark.parametrize("role", ["receptionist", "guard"])
def test_whoever_may_not_see_the_connection_sees_nothing_of_it(owner, role):
    panel = of(owner, role)
    assert panel.browser.get(f"{panel.url}connection/webhook/").status_code == 403
    refused(owner, panel, 403)


def test_another_tenants_owner_meets_a_missing_page(owner, make):
    other = make(members=0)
    stranger = Panel(owner.place, other.owner)
    assert stranger.browser.get(f"{owner.url}connection/webhook/").status_code == 404
    refused(owner, stranger, 404)


def test_the_panel_of_one_tenant_tells_nothing_of_another(owner, make):
    other = Panel(make(members=0))
    assert "Waiting" not in text_of(other.page())
    with other.scope():
        assert not Webhook.objects.exists()


def test_a_support_session_looks_and_changes_nothing(owner, django_user_model):
    person = django_user_model.objects.create_user("s@example.test", "x" * 12, name="S", platform_role="support")
    panel = Panel(owner.place, person)
    entered = panel.browser.post(f"/platform/enter/{owner.place.tenant.slug}/", {"reason": "Ticket 12", "minutes": 30})
    assert entered.status_code == 302
    with owner.scope():
        assert SupportSession.objects.count() == 1
    assert "Waiting for the first notification" in text_of(panel.page())
    refused(owner, panel, 403)


def test_a_form_of_another_tenant_is_worth_nothing_here(owner, make):
    other = Panel(make(members=0), owner.place.owner)
    fields = owner.fields("off")
    assert other.browser.post(f"{other.url}connection/webhook/on/", fields).status_code == 404
