"""Apply withdrawals: one edit for each area, previewed and started like other edits (`portal.areas`).

Only rights that are still the decided ones are included. The edit reads each member again right before sending, and
leaves out changed ones. Rows that were prepared from another right are removed here, in the same transaction. So the
preview is the same as the decisions.
"""

from datetime import timedelta

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from portal.areas import actions as area_actions
from portal.areas.merging import AccessEdit, EditKind
from portal.domain.intents.nonces import NotSubmitted
from portal.domain.intents.recording import Requester
from portal.domain.jobs.actions import MAX_JOB_ROWS
from portal.domain.jobs.models import Job, Row
from portal.domain.jobs.states import JobState
from portal.domain.mirror.models import Area, Member
from portal.reviews import conflicts, item_status, review_worker, rights
from portal.reviews.item_status import lock_review, record
from portal.reviews.models import Applied, Item, Review
from tenants.wording import coded_sentence

_BATCH_SIZE = 1000


def prepare_withdrawals(*, review: Review, area: Area, everywhere: bool, by: Requester) -> Job:
    """Return the edit that withdraws the rights as decided for an area. A double click returns the same one.

    Raises NotSubmitted if there is nothing to do. `everywhere`: members with access to every area get a list of all
    other areas; otherwise they keep their right.
    """
    with transaction.atomic():
        review = lock_review(review)
        item_status.update_withdrawals(review)
        _recheck_conflicts(review, area)
        if (before := _waiting_job(review, area)) is not None:
            return before
        items = item_status.to_withdraw(review).filter(area_id=area.area_id).order_by("pk")
        wanted = dict(items.values_list("member_id", "decided_digest")[:MAX_JOB_ROWS])
        members = Member.objects.filter(member_id__in=wanted, gone_at__isnull=True)
        wish = AccessEdit(EditKind.WITHDRAW, area.area_id, include_everywhere=everywhere)
        job = area_actions.prepare(area=area, members=members, edit=wish, max_age=timedelta(0), chosen={}, by=by)
        taken = _remove_changed_rows(job, wanted, area) if job is not None else []
        if job is None or not taken:
            raise NotSubmitted(
                _("Nothing to withdraw here: these members keep access to every area, or changed meanwhile.")
            )
        Job.objects.filter(pk=job.pk).update(options={**job.options, "review": review.pk})
        mine = Item.objects.filter(review=review, area_id=area.area_id, member_id__in=taken)
        item_status.stop_withdrawals(mine)
        mine.update(job=job, applied=Applied.SENT)
        item_status.update_open(mine)
        said = coded_sentence("review.withdrawals", title=review.title, n=len(taken), area=area.area_name)
        record(by, review, "review.withdrawals", said, items=len(taken), area=area.area_id, job=job.pk)
        review_worker.wake(review)
    return job


def _recheck_conflicts(review: Review, area: Area) -> None:
    """Look up again who may not decide about these items: decisions of such people must not withdraw anything."""
    pks = list(item_status.to_withdraw(review).filter(area_id=area.area_id).order_by("pk").values_list("pk", flat=True))
    for at in range(0, len(pks), _BATCH_SIZE):
        items = Item.objects.filter(pk__in=pks[at : at + _BATCH_SIZE])
        conflicts.recheck_conflicts(review, list(items))
        item_status.update_open(items)


def _waiting_job(review: Review, area: Area) -> Job | None:
    """Return the edit that waits for its preview, if there was no decision since then."""
    if item_status.to_withdraw(review).filter(area_id=area.area_id).exists():
        return None
    sent = Item.objects.filter(review=review, area_id=area.area_id, applied=Applied.SENT)
    jobs = Job.objects.filter(pk__in=sent.order_by().values("job"), state=JobState.CHECKED)
    return jobs.select_related("tenant").order_by("-pk").first()


def _remove_changed_rows(job: Job, wanted: dict[str, str], area: Area) -> list[str]:
    """Remove rows that were made from another right than the decided one.

    Return the IDs of the members that are left.
    """
    kept: list[Row] = []
    other: list[Row] = []
    for row in Row.objects.filter(job=job).order_by("line").iterator(chunk_size=1000):
        right = rights.right_digest((row.content or {}).get("old", {}).get("devices_pass"), area.area_id)
        (kept if right == wanted.get(row.member_id) else other).append(row)
    Row.objects.filter(pk__in=[row.pk for row in other]).delete()
    if other:
        Job.objects.filter(pk=job.pk).update(size=F("size") - len(other))
    return [row.member_id for row in kept]
