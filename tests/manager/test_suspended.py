"""Suspended members: a chip, a filter, who did it, when and why, and how to resume; expired is a different state."""

import html
import re
from datetime import timedelta

import pytest
from django.utils import timezone

from portal.base.ui.times import local
from portal.domain.jobs.models import Suspension
from portal.domain.people.models import Member
from portal.domain.sync import local_writes
from tests.support.changes import ChangesDesk
from tests.support.members import said


@pytest.fixture
def desk(place):
    return ChangesDesk(place)


def expire(desk, member):
    """End the member's use period at its agreed time."""
    end = timezone.now().replace(microsecond=0) - timedelta(days=3)
    with desk.scope():
        Member.objects.filter(pk=member.pk).update(use_date_end=end, use_end_key=int(end.timestamp()))


def listed(desk, state):
    return desk.names(validity=state)


def page_of(desk, member):
    return desk.client.get(f"{desk.url}{member.member_id}/")


def test_suspended_and_expired_are_told_apart_in_lists_files_and_on_the_page(desk):
    suspended, expired = desk.plain()[:2]
    expire(desk, expired)
    desk.changed("suspend", [suspended], why="Lost card, found again?")
    assert listed(desk, "suspended") == [suspended.member_name]
    assert suspended.member_name not in listed(desk, "expired")
    assert expired.member_name in listed(desk, "expired")
    everybody = desk.get()
    assert re.search(r"chip-loud[^>]*>.*?Suspended", everybody)
    leavers = html.unescape(desk.get("leavers/ended/"))
    assert expired.member_name in leavers
    assert f">{suspended.member_name}<" not in leavers
    file = b"".join(desk.client.get(desk.url, {"export": "csv"}).streaming_content).decode("utf-8-sig")
    assert sum("Suspended" in line for line in file.splitlines()) == 1
    page = said(page_of(desk, suspended))
    assert "Suspended since" in page
    assert f"by {desk.user}" in page
    assert "Reason: Lost card, found again?" in page
    assert "Previously no end date." in page
    assert "Resume…" in page
    assert "Suspend…" not in page
    assert "Suspended since" not in said(page_of(desk, expired))


def test_resuming_gives_the_former_end_back_and_undoing_that_suspends_again(desk):
    member = desk.plain()[0]
    day = timezone.localdate() + timedelta(days=30)
    desk.changed("extend", [member], how="to", day=f"{day:%Y-%m-%d}")
    desk.changed("suspend", [member])
    assert f"Previous end date: {day:%Y-%m-%d} 23:59" in said(page_of(desk, member))
    job = desk.changed("resume", [member], end="former")
    assert f"{timezone.localtime(desk.known(member).use_date_end):%Y-%m-%d}" == f"{day:%Y-%m-%d}"
    assert listed(desk, "suspended") == []
    desk.post(job, "undo")
    with desk.scope():
        undo = job.undone_by.get()
    desk.done(undo)
    assert listed(desk, "suspended") == [member.member_name]


def test_whoever_is_resumed_elsewhere_is_not_suspended_once_it_was_read(desk):
    member = desk.plain()[0]
    desk.changed("suspend", [member])
    assert listed(desk, "suspended") == [member.member_name]
    local_writes.apply_member_write(desk.place.tenant, member.member_id, {"use_date_end": None})
    assert listed(desk, "suspended") == []
    assert "Suspend…" in said(page_of(desk, member))


def test_a_suspension_to_come_is_told_and_not_yet_a_state(desk):
    member = desk.plain()[0]
    desk.changed("suspend", [member])
    later = timezone.now().replace(microsecond=0) + timedelta(days=2)
    with desk.scope():
        Suspension.objects.update(ends_at=later)
        Member.objects.filter(pk=member.pk).update(use_date_end=later, use_end_key=int(later.timestamp()))
    assert listed(desk, "suspended") == []
    assert "Will be suspended at" in said(page_of(desk, member))


def test_what_was_never_applied_suspends_nobody(desk):
    member = desk.plain()[0]
    job = desk.prepared("suspend", [member])
    local_writes.apply_member_write(desk.place.tenant, member.member_id, {"use_date_end": "2099-01-01T00:00:00+09:00"})
    desk.done(job)
    assert listed(desk, "suspended") == []


def test_a_suspension_that_waits_for_its_moment_is_said_on_the_page(desk):
    member, other = desk.plain()[:2]
    moment = (local(timezone.now()) + timedelta(days=2)).strftime("%Y-%m-%dT%H:%M")
    job = desk.prepared("suspend", [member], when="at", at=moment)
    assert "Suspend 1 member" not in said(page_of(desk, member))
    desk.post(job, "start")
    words = said(page_of(desk, member))
    assert "Scheduled changes 1" in words
    assert words.count("Suspend 1 member") == 1
    assert desk.changes(f"{job.pk}/") in page_of(desk, member).content.decode()
    history = said(page_of(desk, member)).partition("Change history")[2]
    assert f"{moment.replace('T', ' ')} {desk.user} Scheduled Suspend 1 member Cancel schedule" in history
    assert "Scheduled" not in said(page_of(desk, other))
    auditor = desk.place.client(desk.place.staff("auditor"))
    assert "Suspend 1 member" not in said(auditor.get(f"{desk.url}{member.member_id}/"))
    desk.post(job, "stop")
    assert "Scheduled" not in said(page_of(desk, member))


def test_a_change_of_many_is_undone_from_the_history_of_each_until_it_was(desk):
    member, other = desk.plain()[:2]
    job = desk.changed("suspend", [member, other])
    address = desk.changes(f"{job.pk}/undo/")
    assert f'action="{address}"' in page_of(desk, member).content.decode()
    auditor = desk.place.client(desk.place.staff("auditor"))
    assert "undo/" not in auditor.get(f"{desk.url}{member.member_id}/").content.decode()
    back = desk.client.post(address)["Location"]
    desk.client.post(f"{back}start/")
    page = page_of(desk, member).content.decode()
    assert f'action="{address}"' not in page


def test_what_was_not_applied_is_in_the_history_with_the_reason(desk):
    skipped, refused, done = desk.plain()[:3]
    job = desk.prepared("suspend", [skipped, refused, done])
    later = {"use_date_end": "2099-01-01T00:00:00+09:00"}
    with desk.scope():
        local_writes.apply_member_write(desk.place.tenant, skipped.member_id, later)
    desk.place.sandbox.api("DELETE", f"/v1/members/{refused.member_id}", token=desk.place.service.token)
    desk.done(job)
    reasons = {skipped: "Skipped: changed by someone else in the meantime.", refused: "This row was not applied"}
    for member, reason in reasons.items():
        history = said(page_of(desk, member)).partition("Change history")[2]
        assert re.search(rf"Suspend 3 members.*? Not applied .*?{reason}", history), history
        assert "Undo" not in history
    assert "Not applied" not in said(page_of(desk, done))


def test_what_was_done_to_many_is_in_the_history_of_each_and_found_by_each(desk):
    member, other, third = desk.plain()[:3]
    desk.changed("suspend", [member, other], why="Lost")
    for each in (member, other):
        words = said(page_of(desk, each)).partition("Change history")[2]
        assert "Suspend 2 members" in words
        assert str(desk.user) in words
        assert re.search(r"End of use\D{0,20}→? ?\d{4}-", words), words
    assert "Suspend" not in said(page_of(desk, third)).partition("Change history")[2]
    owner, at = desk.place.client(desk.place.owner), f"/t/{desk.place.tenant.slug}/audit/"
    for text in (member.member_id, member.member_name, f"Member {member.member_id}", f"member:{member.member_id}"):
        found = said(owner.get(at, {"target": text}))
        assert "Suspend 2 members" in found, text
    assert "Suspend 2 members" not in said(owner.get(at, {"target": third.member_id}))
