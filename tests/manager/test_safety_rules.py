"""Settings that one person alone may not loosen: a lockdown's second person, retention, alerts and their recipients."""

from datetime import timedelta

import pytest
from django.urls import reverse

from portal.base.timers.clock import database_now
from portal.domain.intents.recording import Requester
from portal.domain.notifications import account_mails
from portal.domain.notifications.models import AlertRecipients
from portal.domain.safety import changing
from portal.domain.safety.changing import NotChanged
from portal.domain.safety.models import WaitingChange
from portal.domain.safety.rules import RULES
from portal.lockdown.models import LockdownSetting
from tenants.models import AuditEntry, Staff, SupportSession, User
from tenants.scope import tenant_scope
from tests.support.lockdown import furnish, sent, settle, start
from tests.support.members import said
from tests.support.places import age_proof
from tests.support.safety import NO_SECOND, OFFLINE, SETTINGS, Setting, rule

WAITS = "Nothing was changed yet. Another person with your permission"


@pytest.fixture
def one(place):
    return furnish(place)


@pytest.fixture
def asker(one):
    return one.staff("facility manager")


@pytest.fixture
def manager(one, asker):
    return one.client(asker)


@pytest.fixture
def owner(one):
    return one.client(one.owner)


@pytest.fixture
def setting(request, one):
    """Return a setting of the table, with a tenant that has its initial value."""
    found = SETTINGS[request.param] if hasattr(request, "param") else NO_SECOND
    if found.loosened.get("door") == "every":
        found = Setting(found.rule, found.name, make=found.make, loosen=found.loosened | {"door": one.doors[0]})
    with tenant_scope(one.tenant):
        found.make()
    return found


every_setting = pytest.mark.parametrize("setting", list(SETTINGS), indirect=True)


def waiting(place):
    with tenant_scope(place.tenant):
        return WaitingChange.objects.latest("pk")


def page(client, place):
    return said(client.get(reverse("safety:change", args=[place.tenant.slug, waiting(place).pk])))


def press(client, place, act):
    address = reverse(f"safety:{act}", args=[place.tenant.slug, waiting(place).pk])
    return said(client.post(address, follow=True))


def acts(place):
    with tenant_scope(place.tenant):
        return list(
            AuditEntry.objects.filter(action__startswith="safety.").order_by("pk").values_list("action", flat=True)
        )


class TestAFacilityManagerAlone:
    def test_cannot_switch_the_second_person_off_and_start_a_lockdown(self, one, manager, setting):
        assert WAITS in setting.loosen(manager, one)
        start(manager, one)
        settle(one)
        assert sent(one) == []
        assert "Lockdown waiting for a second person" not in press(manager, one, "confirm")
        start(manager, one)
        settle(one)
        assert sent(one) == []

    @every_setting
    def test_loosens_nothing(self, one, manager, setting):
        before = setting.kept(one)
        assert WAITS in setting.loosen(manager, one)
        assert setting.kept(one) == before
        assert acts(one) == ["safety.asked"]
        with tenant_scope(one.tenant):
            row = WaitingChange.objects.get()
        assert (row.rule, row.subject, row.before) == (setting.rule, setting.subject(one), before)
        assert "Nothing was changed. Another person with your permission, or an owner, must confirm this." in press(
            manager, one, "confirm"
        )
        assert setting.kept(one) == before

    @pytest.mark.parametrize("setting", [name for name, each in SETTINGS.items() if each.tightened], indirect=True)
    def test_tightens_at_once(self, one, manager, setting):
        before = setting.kept(one)
        assert "saved." in setting.tighten(manager, one).lower()
        assert setting.kept(one) != before
        assert acts(one) == []

    def test_asks_again_in_place_of_what_they_asked_before(self, one, manager, setting):
        setting.loosen(manager, one)
        setting.post(manager, one, {"second": "evacuation"})
        assert acts(one) == ["safety.asked", "safety.withdrawn", "safety.asked"]
        assert waiting(one).after["second"] == "evacuation"

    def test_takes_it_back(self, one, manager, colleague, setting):
        setting.loosen(manager, one)
        assert "Cancel this change" in page(manager, one)
        assert "Cancelled, nothing was changed" in press(manager, one, "decline")
        assert "no longer waiting" in press(colleague, one, "confirm")
        assert acts(one) == ["safety.asked", "safety.withdrawn"]
        assert setting.kept(one)["second"] == "both"

    def test_sees_on_the_page_of_the_setting_that_it_waits(self, one, manager, colleague, setting):
        setting.loosen(manager, one)
        shown = said(manager.get(reverse("lockdown:settings", args=[one.tenant.slug])))
        assert "Waiting for a second person: Lockdown settings" in shown
        assert "A change needs a second person" not in shown, "the banner is for those who may confirm"

    def test_narrows_nothing_by_leaving_out_who_is_not_told_anyway(self, one, manager):
        gone, guard = one.staff("guard"), one.staff("guard")
        with tenant_scope(one.tenant):
            AlertRecipients.objects.create(kind="forced", roles=["owner"], people=[gone.pk, guard.pk])
            Staff.objects.filter(user=gone).update(is_active=False)
        change = Setting("alert_recipients", "alerts:recipients", ["forced"], make=None,
                         loosen={"roles": ["owner"]}, tighten={"roles": ["owner"], "people": [guard.pk]})  # fmt: skip
        assert "Recipients saved." in change.tighten(manager, one)
        assert WAITS in change.loosen(manager, one)

    def test_may_do_what_they_like_with_a_rule_that_is_off(self, one, manager):
        with tenant_scope(one.tenant):
            rule("offline", is_on=False)()
        change = Setting("alert_rule", "alerts:rule", ["offline"], make=None, loosen=OFFLINE | {"minutes": "60"})
        assert "Rule saved." in change.loosen(manager, one)


class TestTheSecondPerson:
    @every_setting
    def test_confirms_and_then_it_counts(self, one, manager, colleague, setting):
        before = setting.kept(one)
        setting.loosen(manager, one)
        assert "Confirm and save" in page(colleague, one)
        assert "Confirmed and saved" in press(colleague, one, "confirm")
        assert setting.kept(one) == waiting(one).after != before
        assert acts(one) == ["safety.asked", "safety.confirmed"]

    def test_is_an_owner_too_and_every_page_says_that_it_waits(self, one, manager, owner, setting):
        setting.loosen(manager, one)
        home = f"/t/{one.tenant.slug}/"
        assert "A change needs a second person: Lockdown settings." in said(owner.get(home))
        guard = one.client(one.staff("guard"))
        assert "A change needs a second person" not in said(guard.get(home))
        press(owner, one, "confirm")
        assert setting.kept(one)["second"] == ""
        assert "A change needs a second person" not in said(owner.get(home))

    def test_sees_the_first_two_of_many_changes_and_how_many_more_there_are(self, one, manager, owner):
        home = f"/t/{one.tenant.slug}/"
        for number, name in enumerate(("no second person", "evidence deleted sooner", "guests forgotten sooner")):
            with tenant_scope(one.tenant):
                SETTINGS[name].make()
            SETTINGS[name].loosen(manager, one)
            assert ("1 more change needs a second person." in said(owner.get(home))) == (number == 2)
        with tenant_scope(one.tenant):
            SETTINGS["no pictures of door commands"].make()
        SETTINGS["no pictures of door commands"].loosen(manager, one)
        shown = said(owner.get(home))
        assert shown.count("A change needs a second person: ") == 3, "the worst, and both on the sheet"
        assert "A change needs a second person: Lockdown settings." in shown
        assert "2 more changes need a second person." in shown

    def test_sees_what_would_change_and_by_whom(self, one, manager, colleague, asker, setting):
        setting.loosen(manager, one)
        shown = page(colleague, one)
        assert "Second confirmation required for Evacuation unlock and lockdown → Nothing" in shown
        assert f"Requested by {asker}" in shown
        assert "Until then the current setting applies." in shown

    def test_declines(self, one, manager, colleague, setting):
        setting.loosen(manager, one)
        assert "Declined, nothing was changed" in press(colleague, one, "decline")
        assert setting.kept(one)["second"] == "both"
        assert acts(one) == ["safety.asked", "safety.refused"]

    def test_proves_who_they_are(self, one, manager, colleague, setting):
        setting.loosen(manager, one)
        age_proof(colleague.session)
        for act in ("confirm", "decline"):
            answer = colleague.post(reverse(f"safety:{act}", args=[one.tenant.slug, waiting(one).pk]))
            assert "/accounts/reauthenticate/" in answer["Location"]
        assert acts(one) == ["safety.asked"]

    @pytest.mark.parametrize("role", ["guard", "auditor", "receptionist", "reviewer"])
    def test_has_the_permission_of_the_setting(self, one, manager, setting, role):
        setting.loosen(manager, one)
        address = reverse("safety:change", args=[one.tenant.slug, waiting(one).pk])
        other = one.client(one.staff(role))
        assert other.get(address).status_code == 403
        assert other.post(f"{address}confirm/").status_code == 403
        assert other.post(f"{address}decline/").status_code == 403
        assert setting.kept(one)["second"] == "both"

    def test_is_of_this_tenant(self, one, make, manager, setting):
        setting.loosen(manager, one)
        other = make()
        address = reverse("safety:confirm", args=[other.tenant.slug, waiting(one).pk])
        assert other.client().post(address).status_code == 404
        assert setting.kept(one)["second"] == "both"

    def test_cannot_ask_for_something_else_meanwhile(self, one, manager, colleague, setting):
        setting.loosen(manager, one)
        assert "Another change of this setting is waiting." in said(
            setting.post(colleague, one, {"second": "evacuation"})
        )
        assert waiting(one).after["second"] == ""
        assert acts(one) == ["safety.asked"]

    def test_confirms_nothing_when_the_setting_changed_since(self, one, manager, colleague, setting):
        setting.loosen(manager, one)
        with tenant_scope(one.tenant):
            LockdownSetting.objects.update(doors=[one.doors[1]])
        assert "the setting has changed since." in page(colleague, one)
        assert "requester’s role has changed" in press(colleague, one, "confirm")
        assert setting.kept(one)["second"] == "both"
        assert acts(one) == ["safety.asked", "safety.void"]

    def test_has_nothing_to_confirm_once_somebody_tightened_the_setting(self, one, manager, colleague, setting):
        setting.loosen(manager, one)
        setting.post(colleague, one, {"second": "both", "door": one.doors[:1]})
        assert acts(one) == ["safety.asked", "safety.void"]
        assert "no longer waiting" in press(colleague, one, "confirm")

    def test_confirms_nothing_for_a_person_who_lost_the_right(self, one, manager, colleague, asker, setting):
        setting.loosen(manager, one)
        with tenant_scope(one.tenant):
            Staff.objects.filter(user=asker).update(role="guard")
        assert "requester’s role has changed" in press(colleague, one, "confirm")
        assert setting.kept(one)["second"] == "both"

    def test_comes_too_late_after_seven_days(self, one, manager, colleague, setting):
        setting.loosen(manager, one)
        with tenant_scope(one.tenant):
            assert timedelta(days=6, hours=23) < waiting(one).due_at - database_now() <= timedelta(days=7)
            WaitingChange.objects.update(due_at=database_now())
        assert "not confirmed in time" in press(colleague, one, "confirm")
        assert "Expired, nothing was changed" in page(colleague, one)
        assert [each.pk for each in changing.WAITING_CHANGES.claim_batch()] == [waiting(one).pk]
        with tenant_scope(one.tenant):
            changing.expire(waiting(one).pk)
        assert acts(one) == ["safety.asked", "safety.expired"]
        assert changing.WAITING_CHANGES.claim_batch() == []
        assert setting.kept(one)["second"] == "both"
        assert WAITS in setting.loosen(manager, one)


class TestAnOwner:
    @every_setting
    def test_loosens_at_once(self, one, owner, setting):
        before = setting.kept(one)
        assert WAITS not in setting.loosen(owner, one)
        assert setting.kept(one) != before
        assert acts(one) == ["safety.loosened"]
        with tenant_scope(one.tenant):
            assert not WaitingChange.objects.exists()
            assert AuditEntry.objects.get(action="safety.loosened").by == one.owner

    def test_whose_role_was_taken_confirms_as_anybody(self, one, owner, setting):
        one.staff("owner")
        with tenant_scope(one.tenant):
            Staff.objects.filter(user=one.owner).update(role="facility manager")
        assert WAITS in setting.loosen(owner, one)


def told(place, mailbox):
    """Send the waiting emails. Return the recipients, and the text of the last email."""
    account_mails.send_due()
    text = f"{mailbox.mails[-1]['Subject']} {mailbox.mails[-1].get_content()}" if mailbox.mails else ""
    return mailbox.to, " ".join(text.split())


class TestAllOwners:
    def test_are_told_of_what_an_owner_loosened(self, one, owner, mailbox, setting):
        other = one.staff("owner")
        one.staff("facility manager")
        setting.loosen(owner, one)
        to, text = told(one, mailbox)
        assert sorted(to) == sorted([one.owner.email, other.email])
        assert f"A safety rule was loosened: {one.tenant.name} Lockdown settings Changed by {one.owner}." in text

    def test_are_told_of_a_request_and_of_its_confirmation_in_their_language(
        self, one, manager, colleague, asker, mailbox, setting
    ):
        setting.loosen(manager, one)
        to, text = told(one, mailbox)
        assert to == [one.owner.email]
        assert f"Lockdown settings Requested by {asker}. Nothing was changed yet." in text
        User.objects.filter(pk=one.owner.pk).update(language="ja")
        press(colleague, one, "confirm")
        to, text = told(one, mailbox)
        assert to == [one.owner.email] * 2
        assert "一斉施錠の設定" in text

    def test_hear_nothing_of_what_is_tightened_declined_or_no_owner_any_more(self, one, manager, colleague, mailbox):
        former = one.staff("owner")
        with tenant_scope(one.tenant):
            Staff.objects.filter(user=former).update(is_active=False)
            LockdownSetting.objects.create()
        NO_SECOND.post(manager, one, {"second": "both"})
        assert told(one, mailbox) == ([], "")
        NO_SECOND.loosen(manager, one)
        press(colleague, one, "decline")
        assert told(one, mailbox)[0] == [one.owner.email]

    def test_are_told_when_support_is_allowed_again_and_when_a_person_gets_such_a_right(self, one, owner, mailbox):
        at, guard = f"/t/{one.tenant.slug}", one.staff("guard")
        with tenant_scope(one.tenant):
            staff = Staff.objects.get(user=guard)
        owner.post(f"{at}/support/allow/", {"allowed": "yes"})
        owner.post(f"{at}/support/allow/", {"allowed": "no"})
        owner.post(f"{at}/staff/{staff.pk}/role/", {"role": "auditor"})
        owner.post(f"{at}/staff/invite/", {"email": "new@example.test", "role": "guard"})
        mailbox.mails.clear()
        assert told(one, mailbox) == ([], "")
        owner.post(f"{at}/support/allow/", {"allowed": "yes"})
        assert "Support sessions allowed" in told(one, mailbox)[1]
        owner.post(f"{at}/staff/{staff.pk}/role/", {"role": "facility manager"})
        assert "Role changed: guard" in told(one, mailbox)[1]
        owner.post(f"{at}/staff/{staff.pk}/role/", {"role": "guard"})
        assert len(told(one, mailbox)[0]) == 2
        owner.post(f"{at}/staff/invite/", {"email": "newer@example.test", "role": "facility manager"})
        assert "Invited: newer@example.test, Facility manager" in told(one, mailbox)[1]


class TestInASupportSession:
    def asker(self, one, user):
        session = SupportSession.objects.create(user=user, reason="x", expires_at=database_now() + timedelta(hours=1))
        return Requester(one.tenant, user, session)

    def test_nothing_is_loosened_or_confirmed_whoever_it_is(self, one, manager, setting):
        setting.loosen(manager, one)
        with tenant_scope(one.tenant):
            row, by = WaitingChange.objects.get(), self.asker(one, one.owner)
            with pytest.raises(NotChanged, match="A support session cannot loosen a safety rule"):
                changing.change(RULES["evidence_retention"], {"days": 30}, by=by)
            for act in (changing.confirm, changing.decline):
                with pytest.raises(NotChanged, match="You do not have permission"):
                    act(change=row, by=by)
        assert setting.kept(one)["second"] == "both"

    def test_platform_staff_do_not_get_to_the_page(self, one, manager, setting):
        setting.loosen(manager, one)
        helper = User.objects.create_user("support@example.test", "x", platform_role="support")
        with tenant_scope(one.tenant):
            self.asker(one, helper)
        address = reverse("safety:change", args=[one.tenant.slug, waiting(one).pk])
        assert one.client(helper).get(address).status_code == 403
        assert one.client(helper).post(f"{address}confirm/").status_code == 403
