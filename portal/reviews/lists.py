"""The tables of reviews and of a review's items, to view or to decide."""

from collections.abc import Callable
from datetime import timedelta
from html import escape
from typing import Any

from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext, pgettext_lazy

from portal.base.ui.chips import Chip
from portal.base.ui.tables import BulkAction, Column, EmptyState, Filter, Table
from portal.base.ui.tables.keyset import ListPage
from portal.base.ui.times import local, time_tag, today
from portal.base.ui.value_words import add_label, join_values
from portal.domain.people import queries as mirror
from portal.reviews import assigning, queries
from portal.reviews.models import Applied, Decision, Item, Review, RightStatus, State, StepAction, Use
from portal.reviews.rights import MAX_RECORDS
from tenants.access import TenantRequest
from tenants.roles import Permission

RECENT_PERIOD = timedelta(days=30)
_CHIPS = {
    State.RUNNING: "running", State.CLOSING: "running", State.FINISHED: "done", State.CANCELLED: "cancelled",
}  # fmt: skip


def chip_of(review: Review) -> Chip:
    return Chip(_CHIPS[State(review.state)], review.get_state_display())


def done_cell(row: Any) -> SafeString:
    """Return the progress of a review as a drawing with figures."""
    if row.listed_at is None and row.state == State.RUNNING:
        return format_html('<span class="muted">{}</span>', _t("Collecting"))
    bar = format_html(
        '<svg class="review-bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="bar-rest" width="100" height="8"/><rect class="bar-good" width="{}" height="8"/></svg>',
        row.tally.percent,
    )
    of_all = queries.loaded_of(row).count_text(row.tally.items)
    return format_html('{} <span class="nowrap">{} / {}</span>', bar, f"{row.tally.done:,}", of_all)


def due_text(review: Review) -> str:
    return review.due_on.isoformat()


def due_cell(review: Review) -> SafeString:
    late = Chip("key_overdue", pgettext("review", "Overdue")) if queries.is_overdue(review) else ""
    return format_html("{} {}", time_tag(review.due_on), late)


class Reviews(Table):
    name = "reviews"
    caption = _("Access reviews")
    default_sort = "-id"
    columns = (
        Column("title", pgettext_lazy("review", "Title"), phone="title", fixed=True),
        Column("areas", _("Areas"), value=lambda row: join_values(each["name"] for each in row.areas)),
        Column("state", pgettext_lazy("review", "State"), value=chip_of),
        Column("done", pgettext_lazy("review", "Done"), cell=done_cell),
        Column("due_on", _("Due date"), value=due_text, cell=due_cell),
        Column("started_at", pgettext_lazy("review", "Started"), kind="time", sort="id"),
        Column("by", pgettext_lazy("review", "Started by"), shown=False),
        Column("ended_at", pgettext_lazy("review", "Ended"), kind="time", shown=False),
    )

    def __init__(self, request: TenantRequest) -> None:
        super().__init__(request, Review.objects.select_related("by"))

    def complete_page(self, page: ListPage) -> ListPage:
        far = queries.progress_of(page.rows)
        for row in page.rows:
            vars(row)["tally"] = far.get(row.pk, queries.ReviewTally())
        return page

    @property
    def empty(self) -> EmptyState | None:
        return EmptyState(
            _t("No access reviews yet"),
            _t("Reviewers confirm or withdraw each person’s access to the selected areas."),
            "checklist",
        )

    def row_href(self, row: Review) -> str:
        return reverse("reviews:page", args=[self.request.tenant.slug, row.pk])


# Filters of items

_STATES = (
    ("open", pgettext_lazy("review", "Not decided")),
    ("stuck", _("Reviewer cannot decide")),
    ("confirm", pgettext_lazy("review", "Confirmed")),
    ("withdraw", pgettext_lazy("review", "To be withdrawn")),
    ("withdrawn", pgettext_lazy("withdrawal", "Withdrawn")),
)
_USES = (("30", _("In the last 30 days")), ("older", _("Longer ago")), ("never", _("None in the log")))
_RIGHT_STATUSES = (
    ("changed", _("Changed since")),
    ("none", _("No longer has this right")),
    ("left", _("No longer in the members list")),
    ("unread", _("Right not loaded")),
    ("late", _("Added later")),
)


def _by_state(rows: QuerySet[Item], values: list[str]) -> QuerySet[Item]:
    meaning = {
        "open": Q(is_open=True),
        "stuck": queries.stuck_condition(),
        "confirm": Q(decision=Decision.CONFIRM, is_open=False),
        "withdraw": Q(decision=Decision.WITHDRAW, is_open=False) & ~Q(applied=Applied.WITHDRAWN),
        "withdrawn": Q(applied=Applied.WITHDRAWN),
    }
    return rows.filter(_any(meaning, values))


def _by_use(rows: QuerySet[Item], values: list[str]) -> QuerySet[Item]:
    recent = today() - RECENT_PERIOD
    meaning = {
        "30": Q(used_on__gte=recent),
        "older": Q(used_on__lt=recent) | Q(use=Use.ELSEWHERE),
        "never": Q(use=Use.NEVER),
    }
    return rows.filter(_any(meaning, values))


def _by_right_status(rows: QuerySet[Item], values: list[str]) -> QuerySet[Item]:
    meaning = {value: Q(right_status=value) for value in ("changed", "none", "left", "unread")} | {
        "late": Q(is_late=True)
    }
    return rows.filter(_any(meaning, values))


def _any(meaning: dict[str, Q], values: list[str]) -> Q:
    found = Q()
    for value in values:
        found |= meaning[value]
    return found


class Items(Table):
    """The table of a review's items with their present rights."""

    name = "review-items"
    caption = _("Rights to review")
    search_label = _("Find by name")
    default_sort = "name_key"
    shows_code = True

    def __init__(self, request: TenantRequest, rows: QuerySet[Item], *, review: Review, **more: Any) -> None:
        self.review = review
        related = rows.select_related("reviewer", "decided_by", "review")
        super().__init__(request, related, **more)
        self.filters = self._filters()
        self.columns = self._columns()

    def _filters(self) -> list[Filter]:
        areas = list(self.review.area_names.items())
        return [
            Filter("state", _("Decision"), _STATES, _by_state),
            Filter("use", _("Last use"), _USES, _by_use),
            Filter("right_status", _("Status now"), _RIGHT_STATUSES, _by_right_status),
            Filter("area", _("Area"), areas, lambda rows, ids: rows.filter(area_id__in=ids)),
            Filter("group", _("Group"), _groups, _by_group),
        ]

    def _columns(self) -> list[Column]:
        names = self.review.area_names
        many = len(names) > 1
        return [
            Column("name", pgettext_lazy("person", "Name"), sort="name_key", phone="title", fixed=True),
            Column("code", _("Member code"), phone="hide", shown=self.shows_code),
            Column("group", _("Group")),
            Column("area_id", _("Area"), value=lambda row: names.get(row.area_id, row.area_id), shown=many),
            Column("right", _("Right"), value=lambda row: row.then, cell=right_cell),
            Column("since", pgettext_lazy("right", "Since"), value=since_text),
            Column("use", _("Last use"), value=use_text),
            Column("decision", _("Decision"), value=decision_text, cell=self._decision, fixed=True),
        ]

    def _decision(self, row: Item) -> SafeString:
        return decision_cell(row)

    def complete_page(self, page: ListPage) -> ListPage:
        queries.with_current_rights(page.rows)
        return page

    def search(self, queryset: QuerySet[Any], text: str) -> QuerySet[Any]:
        return queryset.filter(mirror.contains_folded("name_key", text))

    def row_href(self, row: Item) -> str:
        return reverse("reviews:item", args=[self.request.tenant.slug, self.review.pk, row.pk])

    def row_class(self, row: Item) -> str:
        return "quiet" if not queries.can_be_decided(row) else "loud" if row.right_status == RightStatus.CHANGED else ""

    @property
    def empty(self) -> EmptyState | None:
        if self.review.listed_at is None:
            return EmptyState(_t("Collecting"), _t("Collecting the rights to review."), "checklist")
        return EmptyState(_t("No one has access to these areas"), "", "checklist")


class AllItems(Items):
    """The table for people who see the whole review. Its manager can delegate items."""

    name = "review-all"
    shows_code = False  # no space next to the reviewer

    def _filters(self) -> list[Filter]:
        return [*super()._filters(), Filter("reviewer", _("Reviewer"), self._reviewers, _by_reviewer)]

    def _reviewers(self, _request: Any) -> list[tuple[str, str]]:
        parts = queries.ReviewProgress(self.review).reviewers
        return [(part.key or "-", part.name or _t("No reviewer")) for part in parts]

    def _columns(self) -> list[Column]:
        return [*super()._columns(), Column("reviewer", _("Reviewer"), cell=_reviewer_cell)]

    def allowed_actions(self) -> list[BulkAction]:
        def url(request: Any) -> str:
            return reverse("reviews:assign", args=[request.tenant.slug, self.review.pk])

        may = self.may(Permission.REVIEWS_MANAGE) and self.review.state == State.RUNNING
        return [BulkAction("assign", _("Assign to…"), url, icon="user-plus")] if may else []


class MyItems(Items):
    """The table for a reviewer, with buttons in each row and for the selection."""

    name = "review-mine"

    def row_href(self, row: Item) -> str:
        return reverse("reviews:my_item", args=[self.request.tenant.slug, self.review.pk, row.pk])

    def row_class(self, row: Item) -> str:
        return "quiet" if row.is_barred else super().row_class(row)

    def allowed_actions(self) -> list[BulkAction]:
        if self.review.state != State.RUNNING:
            return []

        def to(action: str) -> Callable[[Any], str]:
            return lambda request: reverse(f"reviews:{action}", args=[request.tenant.slug, self.review.pk])

        return [
            BulkAction("confirm", pgettext_lazy("review", "Confirm"), to("confirm_many"), icon="check"),
            BulkAction("withdraw", _("Withdraw"), to("withdraw_many"), icon="lock"),
            BulkAction("delegate", _("Delegate…"), to("delegate"), icon="user-plus"),
        ]

    def _decision(self, row: Item) -> SafeString:
        """Return the buttons if a decision is needed; else the decision, with a button to undo it."""
        if self.review.state != State.RUNNING:
            return decision_cell(row)
        if row.is_barred and queries.can_be_decided(row):
            folded = '<details class="fine review-barred"><summary>{}</summary>{}</details>'
            return format_html(folded, *assigning.barred_reviewer_texts(row))
        doubts = late_chip(row) if queries.is_first_decision(row) else decision_cell(row, is_mine=True)
        return format_html('<span class="review-decide">{}{}</span>', doubts, buttons(row))


def buttons(row: Item) -> SafeString:
    """Return the buttons of an item. Each has the version and the right that the page shows."""
    if row.is_barred or not queries.can_be_decided(row):
        return mark_safe("")
    waits = queries.is_waiting(row)
    actions = (
        [(StepAction.CONFIRM, pgettext("review", "Confirm"), "c"), (StepAction.WITHDRAW, _t("Withdraw"), "w")]
        if waits
        else [(StepAction.UNDO, _t("Undo"), "u")]
    )
    drawn = "".join(
        f'<button class="btn btn-sm review-{action.value}" form="decide" name="press" '
        f'value="{row.pk}:{action.value}:{row.version}:{escape(row.now_digest)}" data-key="{key}" '
        f'aria-label="{escape(add_label(row.name, word))}">{escape(word)}</button>'
        for action, word, key in actions
    )
    return mark_safe(f'<span class="review-buttons">{drawn}</span>')  # noqa: S308 - escaped piece by piece


def right_cell(row: Any) -> SafeString:
    """Return the right, and the present right next to it if it is different."""
    if row.right_status == RightStatus.SAME:
        return format_html('<span class="when">{}</span>', row.then)
    if row.right_status == RightStatus.CHANGED:
        change = format_html("<del>{}</del> → <ins>{}</ins>", row.then, row.now)
        return format_html('<span class="when">{}</span> {}', change, Chip("change", str(RightStatus.CHANGED.label)))
    chip = Chip("delete", str(RightStatus(row.right_status).label))
    return format_html(
        '<span class="when none">{}</span> {}', row.then, chip if row.applied != Applied.WITHDRAWN else ""
    )


def since_text(row: Item) -> str:
    """Return since when the right has existed, as far as that is known."""
    if row.since_at is None:
        return pgettext("review", "Unknown")
    by = local(row.since_at).date().isoformat()
    if row.since_from == row.since_at:
        return by
    if row.since_from is None:
        return _t("by %(day)s") % {"day": by}
    return f"{local(row.since_from).date().isoformat()} – {by}"


def use_text(row: Item) -> str:
    """Return the last use of the area, at the time when the item was created."""
    if row.use == Use.AREA:
        return row.used_on.isoformat() if row.used_on else pgettext("review", "Unknown")
    if row.use == Use.NEVER:
        since = row.review.log_from
        return (
            _t("None since %(day)s") % {"day": local(since).date().isoformat()}
            if since
            else pgettext("review", "Unknown")
        )
    day = row.seen_on.isoformat() if row.seen_on else "–"
    return _t("Not in their last %(n)s log entries (elsewhere %(day)s)") % {"n": MAX_RECORDS, "day": day}


def decision_text(row: Item) -> str:
    """Return the decision, or the result of the withdrawal, as text."""
    if row.applied:
        return str(Applied(row.applied).label)
    return str(Decision(row.decision).label)


def decision_cell(row: Any, *, is_mine: bool = False) -> SafeString:
    """Return the decision as a chip with person and time, and a mark if it is about another right.

    `is_mine`: only the chips.
    """
    if not row.decision and not row.applied:
        gone = row.right_status in (RightStatus.NONE, RightStatus.LEFT)
        none = format_html(
            '<span class="muted fine">{}</span>', _t("Nothing to decide") if gone else Decision.NONE.label
        )
        return format_html("{}{}", none, late_chip(row))
    kinds = {
        Applied.SENT: "running", Applied.WITHDRAWN: "done", Applied.CHANGED: "change", Applied.REFUSED: "refused",
        Applied.UNCERTAIN: "uncertain", Applied.STOPPED: "stopped", Applied.KEPT: "same",
    }  # fmt: skip
    kind = kinds.get(row.applied) or {"confirm": "valid", "withdraw": "delete"}[row.decision]
    drawn = Chip(kind, decision_text(row)).__html__()
    if queries.is_granted_again(row):
        drawn += format_html(" {}", Chip("unknown", _t("Access granted again")))
    elif queries.is_outdated(row) or queries.is_void(row):
        drawn += format_html(" {}", Chip("unknown", _t("Decide again")))
    drawn += late_chip(row)
    if is_mine:
        return drawn
    who = row.decided_by if row.decided_by_id != row.reviewer_id else ""  # the reviewer has a separate column
    day = time_tag(local(row.decided_at).date()) if row.decided_at else ""
    return format_html('{} <span class="fine">{} {}</span>', drawn, who or "", day)


def _reviewer_cell(row: Item) -> SafeString:
    """Return the reviewer, with a note if this person may not decide."""
    barred = Chip("unknown", _t("Cannot decide")) if row.is_barred and row.is_open else ""
    return format_html("{} {}", row.reviewer or "", barred)


def late_chip(row: Item) -> SafeString:
    """Return a chip for items that were added after the start of the review."""
    return format_html(" {}", Chip("create", pgettext("item", "Added later"))) if row.is_late else mark_safe("")


def _groups(_request: Any) -> list[tuple[str, str]]:
    return [*mirror.group_names(), ("-", _t("No group"))]


def _by_group(rows: QuerySet[Item], values: list[str]) -> QuerySet[Item]:
    return rows.filter(group_id__in=["" if value == "-" else value for value in values])


def _by_reviewer(rows: QuerySet[Item], values: list[str]) -> QuerySet[Item]:
    named = Q(reviewer__in=[value for value in values if value != "-"])
    return rows.filter(named | Q(reviewer=None) if "-" in values else named)
