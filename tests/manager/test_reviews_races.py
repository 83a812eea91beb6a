"""Access reviews with concurrent requests: no decision is lost, and none applies to a right that was not shown."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from django.db import connection

from portal.domain.intents.recording import Requester
from portal.reviews import actions, decisions, review_worker, rights
from portal.reviews.decisions import DecisionPress, DecisionResult
from portal.reviews.models import Item, Step, StepAction
from tests.support.areas import AreasDesk
from tests.support.reviews import NOTHING, ReviewsDesk, option

pytestmark = pytest.mark.django_db(transaction=True)
ROUNDS = 12


@pytest.fixture
def desk(place):
    return ReviewsDesk(place)


def at_once(*works):
    """Run these at the same moment, each on a separate connection. Return what they returned."""

    def alone(work):
        try:
            return work()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(works)) as pool:
        return [each.result(60) for each in [pool.submit(alone, work) for work in works]]


def pressing(desk: AreasDesk, item: Item, act: StepAction, seen: str):
    by = Requester(tenant=desk.place.tenant, user=desk.reviewer)

    def work():
        with desk.scope():
            row = Item.objects.select_related("review").get(pk=item.pk)
            return decisions.decide(item=row, press=DecisionPress(act, row.version, seen), by=by), act, seen

    return work


def test_every_saved_decision_is_kept_and_is_about_the_right_that_was_shown(desk):
    review = desk.start()
    member = desk.holders[0]
    item = desk.item(review, member)
    other = option(desk.area.area_id) | {"default_mode": "allow_all"}
    saved = []
    for turn in range(ROUNDS):
        seen = desk.item(review, member).now_digest
        came = at_once(
            pressing(desk, item, StepAction.CONFIRM, seen),
            pressing(desk, item, StepAction.WITHDRAW, seen),
            lambda turn=turn: desk.know(member, other if turn % 2 else option(desk.area.area_id)),
        )
        saved += [(act, about) for state, act, about in filter(None, came) if state == DecisionResult.SAVED]
        desk.look_again(review)
    with desk.scope():
        steps = list(Step.objects.filter(item=item).order_by("number"))
        item.refresh_from_db()
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))
    assert sorted((step.action, step.digest) for step in steps) == sorted(saved)
    assert steps
    assert (item.decision, item.decided_digest) == (steps[-1].action, steps[-1].digest)
    assert item.is_open == (item.decided_digest != item.now_digest)


def meanwhile(monkeypatch, place, name, act):
    """Start `act` on a separate connection when a worker reaches this function of its step. Return its future."""
    real, pool, begun = getattr(place, name), ThreadPoolExecutor(1), []

    def alone():
        try:
            return act()
        finally:
            connection.close()

    def pausing(*args, **more):
        if not begun:
            begun.append(pool.submit(alone))
            with suppress(TimeoutError):  # it waits for the worker, or is done already
                begun[0].result(1.5)
        return real(*args, **more)

    monkeypatch.setattr(place, name, pausing)
    return begun


def test_a_reviewer_and_a_worker_never_wait_for_each_other_in_a_circle(desk, monkeypatch):
    review = desk.start()
    member = desk.holders[0]
    seen = desk.item(review, member).now_digest
    press = pressing(desk, desk.item(review, member), StepAction.CONFIRM, seen)
    desk.know(member, option(desk.area.area_id) | {"default_mode": "allow_all"})
    begun = meanwhile(monkeypatch, review_worker, "_finish_round", press)
    desk.look_again(review)
    assert begun[0].result(30)[0] == DecisionResult.CHANGED
    assert desk.item(review, member).is_open


def test_the_last_look_is_taken_although_the_review_ends_during_another(desk, monkeypatch):
    review = desk.start()
    member = desk.holders[0]
    by = Requester(tenant=desk.place.tenant, user=desk.reviewer)

    def finish():
        with desk.scope():
            actions.finish(review=review, by=by)
            desk.know(member, NOTHING)

    begun = meanwhile(monkeypatch, review_worker, "_finish_round", finish)
    desk.look_again(review)
    begun[0].result(30)
    for _turn in range(3):
        review = desk.work(review)
    assert review.state == "finished"
    assert review.report["counts"] == {"items": 3, "no_right_any_more": 1, "not_decided": 2}


def test_workers_at_the_same_moment_list_every_right_once(desk):
    review = desk.start()

    def again():
        with desk.scope():
            review_worker.run_steps(review.pk)

    with desk.scope():
        Item.objects.filter(review=review)._raw_delete("default")  # nothing was decided about them
        type(review).objects.filter(pk=review.pk).update(looked_at=None, listed_at=None)
    at_once(again, again, again)
    with desk.scope():
        found = list(Item.objects.filter(review=review).values_list("member_id", "digest"))
        now = rights.current_rights({(member.member_id, desk.area.area_id) for member in desk.holders})
    assert sorted(found) == sorted((member, digest) for (member, _area), digest in now.items())
