"""No one decides about their own access, or about a right that they gave within the period; the page says who can."""

import re
import zipfile
from datetime import timedelta
from io import BytesIO
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from portal.domain.intents.models import Intent, State
from portal.domain.jobs.models import Row, RowState
from portal.domain.notifications.models import OutgoingMessage
from portal.domain.people.models import Member
from portal.reviews.models import Item, Review
from tests.rights.page import posted
from tests.support.members import said
from tests.support.reviews import NOTHING, ReviewsDesk

GRANTED = "You granted this access on"
REFUSED = "Not saved: you granted this access, or it is your own. Another reviewer decides."


@pytest.fixture
def desk(place):
    return ReviewsDesk(place)


def grant(desk: ReviewsDesk, *members: Member, **values: Any) -> None:
    """Give these people access to the area as the facility manager."""
    for member in members:
        desk.hold(member, NOTHING)
    desk.run(desk.prepared("grant", list(members), **values))


def forged(desk: ReviewsDesk, review: Review, member: Member, act: str) -> str:
    """Return the value of a button that the page does not offer."""
    item = desk.item(review, member)
    return f"{item.pk}:{act}:{item.version}:{item.now_digest}"


def handed(desk: ReviewsDesk, review: Review, to: Any, client: Client, **chosen: Any) -> str:
    """Assign items to a reviewer by the form."""
    name = "assign" if client is desk.client else "delegate"
    asked = client.post(desk.link(name, review.pk), chosen).content.decode()
    nonce = asked.split('name="nonce" value="')[1].split('"')[0]
    return said(client.post(desk.link(name, review.pk), chosen | {"to": to.pk, "nonce": nonce}, follow=True))


class TestWhoGrantedARight:
    @pytest.mark.parametrize("act", ["confirm", "withdraw"])
    @pytest.mark.parametrize("role", ["facility manager", "owner"])
    def test_decides_nothing_about_it_and_the_page_says_why_and_who_can(self, place, role, act):
        desk = ReviewsDesk(place)
        desk.user = place.owner if role == "owner" else desk.user
        desk.client = place.client(desk.user)
        first, second, _third = desk.holders
        grant(desk, first)
        review = desk.start(desk.user)
        page = said(desk.client.get(desk.link("decide", review.pk)))
        assert f"{GRANTED} {timezone.localdate()}. Another reviewer decides. Reviewers who can decide:" in page
        assert str(desk.reviewer) in page.split("Reviewers who can decide:")[1]
        assert not desk.buttons(review, first, desk.client)
        assert desk.buttons(review, second, desk.client)
        assert REFUSED in desk.press(review, forged(desk, review, first, act), desk.client)
        told = desk.client.post(
            desk.link("press", review.pk), {"press": forged(desk, review, first, act)}, HTTP_ACCEPT="application/json"
        ).json()
        assert (told["saved"], told["message"]) == (False, REFUSED)
        assert desk.item(review, first).decision == ""

    @pytest.mark.parametrize("act", ["confirm", "withdraw"])
    def test_has_it_left_out_of_a_selection(self, desk, act):
        grant(desk, desk.holders[0])
        review = desk.start(desk.user)
        everything = {"scope": "match", "match": "list=review-mine"}
        asked = desk.client.post(desk.link(f"{act}_many", review.pk), everything)
        assert "Rights that you granted, or that are your own, are left out." in said(asked)
        carried = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', asked.content.decode()))
        answer = desk.client.post(desk.link(f"{act}_many", review.pk), everything | carried, follow=True)
        assert "1 right was left out: you granted it, or it is your own." in said(answer)
        assert desk.item(review, desk.holders[0]).decision == ""
        assert desk.item(review, desk.holders[1]).decision == act
        one = {"ids": str(desk.item(review, desk.holders[0]).pk)}
        assert REFUSED in said(desk.client.post(desk.link(f"{act}_many", review.pk), one, follow=True))

    def test_is_refused_for_what_they_grant_while_the_page_is_open(self, desk):
        review = desk.start(desk.user)
        first = desk.holders[0]
        grant(desk, first)
        assert REFUSED in desk.press(review, forged(desk, review, first, "confirm"), desk.client)
        everything = {"scope": "match", "match": "list=review-mine", "sure": "1", "upto": str(10**9)}
        grant(desk, desk.holders[1])
        answer = said(desk.client.post(desk.link("confirm_many", review.pk), everything, follow=True))
        assert "1 right confirmed." in answer
        assert [desk.item(review, each).decision for each in desk.holders] == ["", "", "confirm"]

    def test_loses_the_decision_that_they_took_before(self, desk):
        review = desk.start(desk.user)
        first, second, _third = desk.holders
        for member in (first, second):
            desk.press(review, desk.buttons(review, member, desk.client)["withdraw"], desk.client)
        with desk.scope():  # the same right, withdrawn and given again
            digest = desk.item(review, first).now_digest
        grant(desk, first)
        assert desk.rows(desk.withdrawals(review)).keys() == {second.member_id}
        desk.look_again(review)
        item = desk.item(review, first)
        assert (item.now_digest, item.is_open) == (digest, True)
        assert "Decide again" in said(desk.client.get(desk.link("page", review.pk)))

    def test_is_not_its_reviewer_from_the_start_where_another_one_is(self, desk):
        grant(desk, *desk.holders)
        review = desk.start(desk.user, desk.reviewer)
        assert {desk.item(review, each).reviewer_id for each in desk.holders} == {desk.reviewer.pk}
        page = said(desk.client.get(desk.link("page", review.pk)))
        assert "without a reviewer who can decide" not in page
        assert "Confirmed" in desk.decide(review, desk.holders[0], "confirm")

    def test_is_not_given_it_by_area_group_or_hand(self, desk):
        grant(desk, desk.holders[0])
        other = desk.place.staff("reviewer")
        review = desk.start(desk.reviewer, other, split="area")
        everything = {"scope": "match", "match": "list=review-all"}
        page = handed(desk, review, desk.user, desk.client, **everything)
        assert "2 rights delegated to" in page
        assert "1 was left out: the new reviewer granted this access, or it is their own." in page
        assert desk.item(review, desk.holders[0]).reviewer_id == desk.reviewer.pk
        asked = desk.client.get(desk.link("groups", review.pk)).content.decode()
        chosen = dict.fromkeys(re.findall(r'name="(group-[^"]*)"', asked), str(desk.user.pk))
        chosen["nonce"] = re.search(r'name="nonce" value="([^"]*)"', asked)[1]
        desk.client.post(desk.link("groups", review.pk), chosen)
        assert desk.item(review, desk.holders[0]).reviewer_id == desk.reviewer.pk
        page = handed(desk, review, desk.user, desk.decider, all="1")
        assert "1 was left out" in page

    def test_is_not_given_it_by_the_rule_of_its_area(self, desk):
        grant(desk, *desk.holders)
        review = desk.start(desk.user, desk.reviewer, split="area")
        assert desk.item(review, desk.holders[0]).reviewer_id == desk.reviewer.pk

    def test_may_decide_after_another_person_confirmed_it_in_a_finished_review(self, desk):
        grant(desk, *desk.holders)
        before = desk.start()
        desk.decide(before, desk.holders[0], "confirm")
        desk.decide(before, desk.holders[1], "withdraw")
        desk.client.post(desk.link("finish", before.pk))
        assert desk.work(before).state == "finished"
        review = desk.start(desk.user)
        assert desk.buttons(review, desk.holders[0], desk.client)
        assert not any(desk.buttons(review, each, desk.client) for each in desk.holders[1:])

    def test_may_not_after_a_review_that_they_finished_without_a_decision(self, desk):
        grant(desk, desk.holders[0])
        before = desk.start(desk.user)
        desk.client.post(desk.link("finish", before.pk))
        assert desk.work(before).state == "finished"
        assert not desk.buttons(desk.start(desk.user), desk.holders[0], desk.client)

    @pytest.mark.parametrize(("days", "may"), [(364, False), (366, True)])
    def test_may_decide_a_year_later(self, desk, days, may):
        grant(desk, desk.holders[0])
        with desk.scope():
            then = timezone.now() - timedelta(days=days)
            Intent.objects.update(created_at=then, finished_at=then)
        assert bool(desk.buttons(desk.start(desk.user), desk.holders[0], desk.client)) == may

    def test_may_not_while_the_areas_previous_review_lies_further_back(self, desk):
        before = desk.start()
        desk.client.post(desk.link("finish", before.pk))
        desk.work(before)
        grant(desk, desk.holders[0])
        with desk.scope():
            then = timezone.now() - timedelta(days=400)
            Intent.objects.update(created_at=then, finished_at=then)
            Review.objects.update(started_at=then - timedelta(days=9), ended_at=then - timedelta(days=1))
        assert not desk.buttons(desk.start(desk.user), desk.holders[0], desk.client)

    def test_may_decide_about_what_they_only_narrowed(self, desk):
        grant(desk, desk.holders[0])
        desk.hold(desk.holders[1], {"default_mode": "allow_all"})
        desk.run(desk.prepared("withdraw", [desk.holders[1]], everywhere="on"))
        review = desk.start(desk.user, areas=[desk.other.area_id])
        with desk.scope():
            [item] = Item.objects.filter(review=review, member_id=desk.holders[1].member_id)
        assert (item.is_barred, item.granted) == (False, [])

    @pytest.mark.parametrize("state", [RowState.UNCERTAIN, RowState.SENT])
    def test_may_not_while_it_is_not_known_whether_it_was_done(self, desk, state):
        grant(desk, desk.holders[0])
        with desk.scope():
            Row.objects.update(state=state)
        assert not desk.buttons(desk.start(desk.user), desk.holders[0], desk.client)


class TestWaysOfGranting:
    def given_alone(self, desk: ReviewsDesk, source: Member, to: Member) -> None:
        """Give one member another member's rights."""
        tenant = f"/t/{desk.place.tenant.slug}/rights/copy/"
        desk.set_at_service(to, NOTHING)
        form = posted(desk.client.get(f"{tenant}?from={source.member_id}&to={to.member_id}").content.decode())
        pair = {"from": source.member_id, "to": to.member_id, "part": ["areas"], "nonce": form["nonce"]}
        assert 'data-state="done"' in desk.client.post(tenant, pair, follow=True).content.decode()

    @pytest.mark.parametrize("uncertain", [False, True])
    def test_one_member_alone(self, desk, uncertain):
        source, to, _third = desk.holders
        self.given_alone(desk, source, to)
        if uncertain:
            with desk.scope():
                Intent.objects.update(state=State.UNCERTAIN)
        review = desk.start(desk.user)
        assert not desk.buttons(review, to, desk.client)
        assert desk.buttons(review, source, desk.client)

    def test_a_new_member_from_anothers_rights(self, desk):
        of = {"rights_source": "member", "rights_member": desk.holders[0].member_id}
        desk.send("new/", member_name="Newcomer", membergroup_id=desk.group.membergroup_id, **of)
        with desk.scope():
            newcomer = Member.objects.get(member_name="Newcomer")
        review = desk.start(desk.user)
        assert not desk.buttons(review, newcomer, desk.client)

    def test_everything(self, desk):
        """Check that access to every area counts as access to this one."""
        source, to, _third = desk.holders
        desk.hold(source, {"default_mode": "allow_all"})
        self.given_alone(desk, source, to)
        assert not desk.buttons(desk.start(desk.user), to, desk.client)


class TestOnesOwn:
    @pytest.mark.parametrize("name", ["Hana Kato", "Kato Hana", "ＫＡＴＯ　ＨＡＮＡ"])
    def test_access_is_known_by_the_name(self, desk, name):
        with desk.scope():
            Member.objects.filter(pk=desk.holders[0].pk).update(member_name="Kato Hana", name_key="katohana")
        desk.user.name = name
        desk.user.save()
        review = desk.start(desk.user)
        page = said(desk.client.get(desk.link("decide", review.pk)))
        assert "This is your own access, by your name or e-mail address. Another reviewer decides." in page
        assert REFUSED in desk.press(review, forged(desk, review, desk.holders[0], "withdraw"), desk.client)
        assert desk.buttons(review, desk.holders[1], desk.client)

    def test_access_is_known_by_the_address_of_the_qr_code(self, desk):
        with desk.scope():
            member = Member.objects.get(pk=desk.holders[0].pk)
            member.has_qr, member.qrcode = True, {"data": "x", "email": desk.user.email.upper()}
            member.save()
        review = desk.start(desk.user)
        assert REFUSED in desk.press(review, forged(desk, review, desk.holders[0], "confirm"), desk.client)


class TestTheManagerOfAReview:
    def test_sees_what_nobody_assigned_may_decide_and_assigns_another_reviewer(self, desk):
        first, second, _third = desk.holders
        grant(desk, first)
        review = desk.start(desk.user)
        page = said(desk.client.get(desk.link("page", review.pk)))
        assert "1 right without a reviewer who can decide" in page
        assert "Select them in the list and choose “Assign to…”." in page
        found = said(desk.client.get(desk.link("page", review.pk), {"state": "stuck"}))
        assert first.member_name in found
        assert second.member_name not in found
        item = said(desk.client.get(desk.link("item", review.pk, desk.item(review, first).pk)))
        assert f"{desk.user} granted this access on {timezone.localdate()} and cannot decide." in item
        chosen = {"ids": str(desk.item(review, first).pk)}
        assert "1 right delegated to" in handed(desk, review, desk.reviewer, desk.client, **chosen)
        assert "without a reviewer who can decide" not in said(desk.client.get(desk.link("page", review.pk)))
        assert "Confirmed" in desk.decide(review, first, "confirm")

    def test_reads_in_the_report_who_granted_what_when(self, desk):
        grant(desk, desk.holders[0])
        review = desk.start()
        desk.client.post(desk.link("finish", review.pk))
        desk.work(review)
        assert f"{desk.user} {timezone.localdate()}" in said(desk.client.get(desk.link("report", review.pk)))
        made = b"".join(desk.client.get(desk.link("file", review.pk)).streaming_content)
        with zipfile.ZipFile(BytesIO(made)) as file:
            lines, table = file.read("items.jsonl").decode(), file.read("items.csv").decode("utf-8-sig")
            shown = said(type("Page", (), {"content": file.read("index.html")}))
        assert lines.count(f'"granted":[{{"by":{{"name":"{desk.user}","email":"{desk.user.email}"}}') == 1
        assert f"{desk.user.email} {timezone.now():%Y-%m}" in table
        assert f"{desk.user} {timezone.localdate()}" in shown


def test_a_reviewer_is_done_when_the_rest_is_anothers_and_is_not_reminded_of_it(desk):
    grant(desk, *desk.holders)
    review = desk.start(desk.user)
    page = said(desk.client.get(desk.link("decide", review.pk)))
    assert "3 rights are for another reviewer" in page
    assert "You have decided all rights that you can decide." in page
    assert "The rest is for another reviewer" in said(desk.client.get(desk.link("mine")))
    with desk.scope():
        assert not OutgoingMessage.objects.exists()


def test_more_rights_take_no_more_questions(desk):
    def asked(review: Review) -> int:
        with CaptureQueriesContext(connection) as queries:
            desk.client.get(desk.link("decide", review.pk))
        return len(queries)

    grant(desk, desk.holders[0])
    one = desk.start(desk.user)
    asked(one)
    few = asked(one)
    grant(desk, *desk.people[1:12])
    assert asked(desk.start(desk.user)) == few
