"""Queries for the pages of reviews: reviews, their progress, and all that is known about an item."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.utils.functional import Promise, cached_property
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext, pgettext_lazy

from accessapi.permissions import AreaPlace
from portal.areas.queries import LoadedRights
from portal.base.ui import live_updates
from portal.base.ui.times import today
from portal.base.ui.url_lookup import get_row_or_404
from portal.domain.jobs.models import Job
from portal.domain.people.models import Member
from portal.domain.places.models import Area
from portal.explain.changes_since import AccessChange, ChangesSince
from portal.explain.questions import CheckedPlace
from portal.reviews import assigning, decisions, rights
from portal.reviews.models import Applied, Decision, Item, Review, RightStatus, State
from tenants.access import TenantRequest
from tenants.models import User
from tenants.roles import Permission

# A moment before any portal existed.
_BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)


def get(review_id: int) -> Review:
    """Return a review. Raises Http404."""
    return get_row_or_404(Review.objects.select_related("by", "ended_by", "tenant", "file"), pk=review_id)


def own_review_or_404(request: TenantRequest, review_id: int) -> Review:
    """Return a review in which the person has items. Raises Http404 for other reviews."""
    has = Item.objects.filter(reviewer=request.user).order_by().values("review")
    rows = Review.objects.select_related("by", "tenant")
    return get_row_or_404(rows.filter(pk__in=has), pk=review_id)


def item_or_404(review: Review, item_id: int, user: User | None = None) -> Item:
    """Return an item of a review; with `user`, only if that person is its reviewer. Raises Http404."""
    rows = Item.objects.filter(review=review).select_related("review", "reviewer", "decided_by", "job__tenant")
    return get_row_or_404(rows if user is None else rows.filter(reviewer=user), pk=item_id)


def is_overdue(review: Review) -> bool:
    """Check whether the review still accepts decisions although its due date has passed."""
    return review.state == State.RUNNING and review.due_on < today()


@dataclass(frozen=True)
class ReviewTally:
    """The progress of a part of a review, in items. `barred`: waiting items that their reviewer may not decide."""

    items: int = 0
    waiting: int = 0
    barred: int = 0
    confirmed: int = 0
    marked: int = 0
    gone: int = 0

    @property
    def done(self) -> int:
        return self.items - self.waiting

    @property
    def open(self) -> int:
        """Return how many items wait for their reviewer's decision."""
        return self.waiting - self.barred

    @property
    def decidable(self) -> int:
        """Return how many items their own reviewer may decide or has decided."""
        return self.items - self.barred

    @property
    def percent(self) -> int:
        return 100 * self.done // self.items if self.items else 0


_COUNTS = {
    "items": Count("pk"),
    "waiting": Count("pk", Q(is_open=True)),
    "barred": Count("pk", Q(is_open=True, is_barred=True)),
    "confirmed": Count("pk", Q(decision=Decision.CONFIRM, is_open=False)),
    "marked": Count("pk", Q(decision=Decision.WITHDRAW, is_open=False)),
    "gone": Count("pk", Q(decision=Decision.NONE, is_open=False)),
}


def count_items(items: QuerySet[Item]) -> ReviewTally:
    return ReviewTally(**items.order_by().aggregate(**_COUNTS))


def tallies_of(user: User) -> dict[int, ReviewTally]:
    """Return a person's progress in each running review, by review ID."""
    return _tallies_by("review", Item.objects.filter(reviewer=user, review__state=State.RUNNING))


def _tallies_by(name: str, items: QuerySet[Item]) -> dict[Any, ReviewTally]:
    """Return the progress of the items, grouped by a column."""
    rows: Iterable[Any] = items.order_by().values(name).annotate(**_COUNTS)
    return {row[name]: ReviewTally(**{each: row[each] for each in _COUNTS}) for row in rows}


def progress_of(reviews: Iterable[Review]) -> dict[int, ReviewTally]:
    """Return the progress of each review, by review ID."""
    return _tallies_by("review", Item.objects.filter(review__in=list(reviews)))


def loaded_of(review: Review) -> LoadedRights:
    """Return for how many members the rights were loaded when the review listed them."""
    return LoadedRights(known=review.members - review.missing, total=review.members)


@dataclass(frozen=True)
class ReviewPart:
    """A reviewer's or an area's part of a review. `total_text`: the number of rights as text.

    `may_decide`: the reviewer may still decide.
    """

    name: str
    tally: ReviewTally
    total_text: str
    key: str = ""
    ready_count: int = 0
    is_there: bool = True
    may_decide: bool = True

    @property
    def stuck_count(self) -> int:
        """Return how many of a reviewer's rights that person may not decide."""
        return self.tally.barred if self.key and self.may_decide else self.tally.waiting


class ReviewProgress:
    """The progress of a review by reviewer and by area. Each is counted once."""

    def __init__(self, review: Review) -> None:
        self.review = review

    @property
    def is_running(self) -> bool:
        return self.review.state == State.RUNNING

    @property
    def is_overdue(self) -> bool:
        return is_overdue(self.review)

    @property
    def is_listed(self) -> bool:
        return self.review.listed_at is not None

    @property
    def loaded(self) -> LoadedRights:
        """Return for how many members the rights were loaded when the review listed them."""
        return loaded_of(self.review)

    @property
    def done_text(self) -> str:
        """Return how many rights are done, with "at least" if rights are missing."""
        number = self.total.items
        text = ngettext("%(n)s of %(all)s right done", "%(n)s of %(all)s rights done", number)
        if self.loaded.is_partial:
            text = _t("%(n)s of at least %(all)s rights done")
        return text % {"n": f"{self.total.done:,}", "all": f"{number:,}"}

    @cached_property
    def total(self) -> ReviewTally:
        return count_items(self.review.items.all())

    @cached_property
    def version(self) -> str:
        """Return the version of the progress, for a page that is updated automatically."""
        state = (self.review.state, self.review.listed_at, self.review.missing, self.total)
        return live_updates.version_of(*state, self.reviewers, self.areas, [(job.pk, job.state) for job in self.jobs])

    @property
    def reviewer_ids(self) -> set[int]:
        """Return the IDs of the reviewers who have items."""
        return {int(part.key) for part in self.reviewers if part.key}

    @cached_property
    def reviewers(self) -> list[ReviewPart]:
        rows = _tallies_by("reviewer", self.review.items.all())
        people = User.objects.in_bulk([who for who in rows if who])
        may = {None, *(user.pk for user in assigning.reviewers())}
        count = self.loaded.count_text
        found = [
            ReviewPart(_named(people.get(who)), part, count(part.items), str(who or ""), may_decide=who in may)
            for who, part in rows.items()
        ]
        return sorted(found, key=lambda part: (part.name == "", part.name))

    @property
    def stuck_count(self) -> int:
        """Return how many rights wait for a decision that their reviewer may not make."""
        return sum(part.stuck_count for part in self.reviewers)

    @cached_property
    def areas(self) -> list[ReviewPart]:
        rows = _tallies_by("area_id", self.review.items.all())
        ready = dict(decisions.to_withdraw(self.review).order_by().values_list("area_id").annotate(n=Count("pk")))
        existing = set(Area.objects.filter(area_id__in=self.review.area_names).values_list("area_id", flat=True))
        parts = [(area_id, name, rows.get(area_id, ReviewTally())) for area_id, name in self.review.area_names.items()]
        count = self.loaded.count_text
        return [
            ReviewPart(name, part, count(part.items), area_id, ready.get(area_id, 0), area_id in existing)
            for area_id, name, part in parts
        ]

    @cached_property
    def jobs(self) -> Sequence[Any]:
        """Return the edits that were created from withdrawals, the newest first."""
        ids = self.review.items.filter(job__isnull=False).order_by().values("job").distinct()
        return list(Job.objects.filter(pk__in=ids).select_related("tenant", "by").order_by("-pk")[:20])


def _named(user: User | None) -> str:
    return str(user) if user is not None else ""


def groups_with_items(review: Review, always: Sequence[str] = ()) -> list[tuple[str, str, int]]:
    """Return (group ID, name, waiting items) of groups with waiting items, the largest number first.

    Up to 500 groups in `always` are included even without items. At most 1,000 groups are returned.
    """
    rows = (
        review.items.filter(Q(is_open=True) | Q(group_id__in=always[:500])).order_by().values_list("group_id", "group")
    )
    return list(rows.annotate(n=Count("pk", filter=Q(is_open=True))).order_by("-n", "group_id")[:1000])


def with_current_rights(items: Iterable[Item]) -> list[Item]:
    """Set each item's present right (`now_digest`, `right_status`) and the texts of `with_texts`."""
    rows = list(items)
    found = rights.current_rights({(row.member_id, row.area_id) for row in rows})
    for row in rows:
        row.now_digest = found[row.member_id, row.area_id]
        row.right_status = decisions.state_of_right(row.now_digest, row.digest)
    return with_texts(rows)


def with_texts(rows: list[Item]) -> list[Item]:
    """Set each item's right at the start (`then`) and now (`now`) as text, and who gave it."""
    assigning.add_granters(rows)
    bodies = rights.passes_behind({row.now_digest for row in rows})
    names = rows[0].review.area_names if rows else {}
    for row in rows:
        vars(row)["area_name"] = names.get(row.area_id, row.area_id)
        vars(row)["then"] = rights.right_text(row.right)
        vars(row)["now"] = rights.right_text(bodies.get(row.now_digest, []))
    return rows


def stuck_condition() -> Q:
    """Return the condition for items that their reviewer may not decide."""
    may = [user.pk for user in assigning.reviewers()]
    return Q(is_open=True) & (Q(is_barred=True) | Q(reviewer=None) | ~Q(reviewer__in=may))


def can_be_decided(row: Item) -> bool:
    """Check whether there is a right to decide about, and no withdrawal of it in progress.

    The row comes from `with_current_rights`.
    """
    return row.now_digest not in rights.NO_RIGHT and row.applied in decisions.DECIDABLE


def is_granted_again(row: Item) -> bool:
    """Check whether the member has the right again after it was withdrawn."""
    return row.applied == Applied.WITHDRAWN and can_be_decided(row)


def is_waiting(row: Item) -> bool:
    """Check whether the present right waits for a decision. The row comes from `with_current_rights`."""
    undecided = not row.decision or row.applied in (Applied.CHANGED, Applied.WITHDRAWN)
    return can_be_decided(row) and (undecided or is_outdated(row) or is_void(row))


def is_first_decision(row: Item) -> bool:
    """Check whether the right waits for its first decision, without any special status to show."""
    return is_waiting(row) and not row.decision and not row.applied


def is_void(row: Item) -> bool:
    """Check whether the decision was by a person who may not decide about this right."""
    return bool(row.decision) and assigning.is_barred(row, row.decided_by_id)


def is_outdated(row: Item) -> bool:
    """Check whether the decision is about another right than the present one."""
    changed = row.right_status in (RightStatus.SAME, RightStatus.CHANGED) and row.decided_digest != row.now_digest
    return bool(row.decision) and row.applied not in (Applied.SENT, Applied.WITHDRAWN) and changed


def changes_of(request: TenantRequest, item: Item) -> list[AccessChange]:
    """Return the known changes of a person's access, the newest first, for people who may see members."""
    member = Member.objects.filter(member_id=item.member_id, gone_at__isnull=True).first()
    if member is None or not request.access.can(Permission.MEMBERS_VIEW):
        return []
    place = CheckedPlace(item.area_id, item.review.area_names.get(item.area_id, item.area_id), AreaPlace(item.area_id))
    return ChangesSince(member, place, _BEGINNING, request.access).changes


OUTCOMES: Mapping[str, str | Promise] = {
    "confirmed": pgettext_lazy("review", "Confirmed"),
    "withdrawn": pgettext_lazy("withdrawal", "Withdrawn"),
    "given_again_after_withdrawal": _("Withdrawn, then granted again"),
    "right_not_loaded": _("Right not loaded"),
    "not_decided": pgettext_lazy("review", "Not decided"),
    "right_changed_after_decision": _("Right changed after the decision"),
    "no_right_any_more": _("No longer has this right"),
    "no_longer_a_member": _("No longer in the members list"),
    "withdrawal_not_applied": _("Withdrawal decided, not applied"),
    "withdrawal_refused": _("Withdrawal refused"),
    "withdrawal_uncertain": _("Withdrawal uncertain"),
    "withdrawal_stopped": _("Withdrawal not sent"),
    "withdrawal_kept": _("Kept: access to every area"),
}


def outcome_text(word: str) -> str:
    """Return the outcome of an item as text; unknown codes are returned unchanged."""
    return str(OUTCOMES.get(word, word))


def outcome_counts(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return the number of items by outcome, with the outcome as text."""
    return [(outcome_text(word), n) for word, n in counts.items() if word != "items"]
