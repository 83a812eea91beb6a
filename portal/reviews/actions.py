"""Actions on a review: start, change, delegate items, withdraw rights, finish, cancel.

Withdrawals are one edit for each area, previewed and started like other edits (`portal.areas`). Only rights that are
still the decided ones are included. The edit reads each member again right before sending, and leaves out changed ones.
Rows that were prepared from another right are removed in the same transaction. So the preview is the same as the
decisions, which are in `decisions.py`.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from portal.areas import actions as area_actions
from portal.areas.merging import AccessEdit, EditKind
from portal.base.timers.clock import ClockTime, database_now
from portal.domain.intents.nonces import Nonce, NotSubmitted
from portal.domain.intents.recording import Requester
from portal.domain.jobs.actions import MAX_JOB_ROWS
from portal.domain.jobs.models import Job, JobState, Row
from portal.domain.people.models import Member
from portal.domain.places.models import Area
from portal.reviews import assigning, decisions, review_worker, rights
from portal.reviews.decisions import lock_review, record
from portal.reviews.models import Applied, Delegation, Item, Review, State, Step, StepAction
from tenants.models import User
from tenants.sentences import coded_sentence

_BATCH_SIZE = 1000


def start(
    *, title: str, areas: Sequence[Area], due_on: date, rules: Mapping[str, Any], nonce: uuid.UUID, by: Requester
) -> Review:
    """Start a review of these areas; a worker lists the rights. The same form returns the same review."""
    named = [{"id": area.area_id, "name": area.area_name} for area in areas]
    with transaction.atomic():
        values = {"title": title, "areas": named, "rules": dict(rules), "due_on": due_on, "by": by.user}
        review, is_new = Review.objects.get_or_create(nonce=nonce, defaults=values)
        if is_new:
            details = {"areas": [each["name"] for each in named], "due_on": due_on.isoformat()}
            record(by, review, "review.started", coded_sentence("review.started", title=title), **details)
            review_worker.wake(review)
            review_worker.wake_reminders(review)
    return review


def change(*, review: Review, title: str, due_on: date, by: Requester) -> None:
    """Change the title and due date of a review. A new due date restarts the reminders."""
    with transaction.atomic():
        found = lock_review(review)
        if (found.title, found.due_on) == (title, due_on):
            return
        Review.objects.filter(pk=found.pk).update(title=title, due_on=due_on)
        if due_on != found.due_on:
            review_worker.reset_reminders(found)
        before = {"title": found.title, "due_on": found.due_on.isoformat()}
        after = {"title": title, "due_on": due_on.isoformat()}
        record(by, found, "review.changed", coded_sentence("review.changed", title=title), before=before, **after)


@dataclass(frozen=True)
class DelegationResult:
    """How many items were delegated, and how many were not because the new reviewer may not decide about them."""

    delegated: int = 0
    left_out: int = 0

    def __add__(self, other: "DelegationResult") -> "DelegationResult":
        return DelegationResult(self.delegated + other.delegated, self.left_out + other.left_out)


def delegate(
    *, review: Review, items: QuerySet[Item], to: User, note: str, nonce: Nonce, by: Requester
) -> DelegationResult:
    """Delegate waiting items to another reviewer, once for the same form."""
    with transaction.atomic():
        review = lock_review(review)
        if to not in assigning.reviewers():
            raise NotSubmitted(
                _("Nothing was delegated: %(who)s is not a reviewer. Choose another person.") % {"who": to}
            )
        values = {"review": review, "by": by.user, "to": to, "note": note}
        row, is_new = Delegation.objects.get_or_create(nonce=nonce.value, defaults=values)
        if not is_new:
            return DelegationResult(row.items)
        pks = list(items.filter(review=review).exclude(reviewer=to).order_by("pk").values_list("pk", flat=True))
        for at in range(0, len(pks), _BATCH_SIZE):
            row.items += _delegate_batch(review, pks[at : at + _BATCH_SIZE], row)
        row.save(update_fields=["items"])
        left = len(pks) - row.items
        summary = coded_sentence("review.delegated", title=review.title, n=row.items, who=str(to))
        record(by, review, "review.delegated", summary, items=row.items, left=left, to=str(to), note=note)
        review_worker.wake_reminders(review)
    return DelegationResult(row.items, left)


def assign_groups(*, review: Review, groups: Mapping[str, User], nonce: Nonce, by: Requester) -> DelegationResult:
    """Assign each of these groups to one reviewer, including items that are added later."""
    with transaction.atomic():
        found = lock_review(review)
        rules = {**found.rules, "groups": found.rules.get("groups", {}) | {g: u.pk for g, u in groups.items()}}
        Review.objects.filter(pk=found.pk).update(rules=rules)
        count = DelegationResult()
        for number, (group_id, to) in enumerate(groups.items()):
            items = Item.objects.filter(review=found, group_id=group_id, is_open=True).exclude(reviewer=to)
            if items.exists():
                each = Nonce(f"{nonce.value[:50]}-{number}")
                count += delegate(review=found, items=items, to=to, note="", nonce=each, by=by)
    return count


def _delegate_batch(review: Review, pks: Sequence[int], row: Delegation) -> int:
    """Delegate a batch of items, with a step for each. Items that the new reviewer may not decide are left out.

    Rows are locked in the common order, to avoid deadlocks.
    """
    locked = list(Item.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=pks).order_by("pk"))
    rows, now = assigning.decidable(review, locked, row.to), database_now()
    steps = [
        Step(
            item=item,
            number=item.version + 1,
            action=StepAction.DELEGATE,
            by=row.by,
            at=now,
            note=row.note,
            delegation=row,
        )
        for item in rows
    ]
    Step.objects.bulk_create(steps, batch_size=500)
    delegated = Item.objects.filter(pk__in=[item.pk for item in rows])
    return delegated.update(reviewer=row.to, is_barred=False, version=F("version") + 1)


def finish(*, review: Review, by: Requester) -> None:
    """Stop decisions. A worker then checks every right once more and writes the signed report."""
    with transaction.atomic():
        found = lock_review(review)
        if found.listed_at is None:
            raise NotSubmitted(_("Review not finished: rights are still being collected. Try again later."))
        _check_nothing_under_way(found)
        left = Item.objects.filter(review=found, is_open=True).count()
        ended = {
            "state": State.CLOSING,
            "ended_at": ClockTime(),
            "ended_by": by.user,
            "is_looking": True,
            "place": "",
            "remind_at": None,
            "language": get_language() or "en",
        }
        Review.objects.filter(pk=found.pk).update(**ended)
        record(by, found, "review.finished", coded_sentence("review.finished", title=found.title), undecided=left)
        review_worker.wake(found)


def _check_nothing_under_way(review: Review) -> None:
    """Raise NotSubmitted while withdrawals may still be sent: a finished review does not follow them."""
    decisions.update_withdrawals(review)
    if Item.objects.filter(review=review, applied=Applied.SENT).exists():
        raise NotSubmitted(
            _("Review not finished: withdrawals are prepared or in progress. Complete or discard them first.")
        )


def cancel(*, review: Review, by: Requester) -> None:
    """End a review without a report. Decisions are kept, and nothing more is withdrawn."""
    with transaction.atomic():
        found = lock_review(review)
        _check_nothing_under_way(found)
        ended = {"state": State.CANCELLED, "ended_at": ClockTime(), "ended_by": by.user, "due_at": None}
        Review.objects.filter(pk=found.pk).update(**ended, remind_at=None)
        record(by, found, "review.cancelled", coded_sentence("review.cancelled", title=found.title))


def prepare_withdrawals(*, review: Review, area: Area, everywhere: bool, by: Requester) -> Job:
    """Return the edit that withdraws the rights as decided for an area. A double click returns the same one.

    Raises NotSubmitted if there is nothing to do. `everywhere`: members with access to every area get a list of all
    other areas; otherwise they keep their right.
    """
    with transaction.atomic():
        review = lock_review(review)
        decisions.update_withdrawals(review)
        _recheck_conflicts(review, area)
        if (before := _waiting_job(review, area)) is not None:
            return before
        items = decisions.to_withdraw(review).filter(area_id=area.area_id).order_by("pk")
        decided = dict(items.values_list("member_id", "decided_digest")[:MAX_JOB_ROWS])
        members = Member.objects.filter(member_id__in=decided, gone_at__isnull=True)
        edit = AccessEdit(EditKind.WITHDRAW, area.area_id, include_everywhere=everywhere)
        job = area_actions.prepare(area=area, members=members, edit=edit, max_age=timedelta(0), chosen={}, by=by)
        taken = _remove_changed_rows(job, decided, area) if job is not None else []
        if job is None or not taken:
            raise NotSubmitted(
                _("Nothing to withdraw: members with access to every area and changed members are left out.")
            )
        Job.objects.filter(pk=job.pk).update(options={**job.options, "review": review.pk})
        taken_items = Item.objects.filter(review=review, area_id=area.area_id, member_id__in=taken)
        decisions.stop_withdrawals(taken_items)
        taken_items.update(job=job, applied=Applied.SENT)
        decisions.update_open(taken_items)
        summary = coded_sentence("review.withdrawals", title=review.title, n=len(taken), area=area.area_name)
        record(by, review, "review.withdrawals", summary, items=len(taken), area=area.area_id, job=job.pk)
        review_worker.wake(review)
    return job


def _recheck_conflicts(review: Review, area: Area) -> None:
    """Look up again who may not decide about these items: decisions of such people must not withdraw anything."""
    pks = list(decisions.to_withdraw(review).filter(area_id=area.area_id).order_by("pk").values_list("pk", flat=True))
    for at in range(0, len(pks), _BATCH_SIZE):
        items = Item.objects.filter(pk__in=pks[at : at + _BATCH_SIZE])
        assigning.recheck_conflicts(review, list(items))
        decisions.update_open(items)


def _waiting_job(review: Review, area: Area) -> Job | None:
    """Return the edit that waits for its preview, if there was no decision since then."""
    if decisions.to_withdraw(review).filter(area_id=area.area_id).exists():
        return None
    sent = Item.objects.filter(review=review, area_id=area.area_id, applied=Applied.SENT)
    jobs = Job.objects.filter(pk__in=sent.order_by().values("job"), state=JobState.CHECKED)
    return jobs.select_related("tenant").order_by("-pk").first()


def _remove_changed_rows(job: Job, decided: dict[str, str], area: Area) -> list[str]:
    """Remove rows that were made from another right than the decided one.

    Return the IDs of the members that are left.
    """
    unchanged: list[Row] = []
    changed: list[Row] = []
    for row in Row.objects.filter(job=job).order_by("line").iterator(chunk_size=1000):
        right = rights.right_digest((row.content or {}).get("old", {}).get("devices_pass"), area.area_id)
        (unchanged if right == decided.get(row.member_id) else changed).append(row)
    Row.objects.filter(pk__in=[row.pk for row in changed]).delete()
    if changed:
        Job.objects.filter(pk=job.pk).update(size=F("size") - len(changed))
    return [row.member_id for row in unchanged]
