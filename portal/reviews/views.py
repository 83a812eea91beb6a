"""Views of access reviews for people who see all of them, and of signed reports."""

from collections.abc import Callable
from functools import partial
from typing import cast

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.areas import queries as areas
from portal.base.files.writing import download_recorder
from portal.base.storage import store
from portal.base.storage.models import StoredFile
from portal.base.ui import confirmation, live_updates
from portal.base.ui.tables import Selection, Table, load_selection
from portal.domain.intents import nonces
from portal.domain.intents.form_handling import submit_once
from portal.domain.intents.nonces import NotSubmitted
from portal.domain.intents.recording import Requester
from portal.domain.jobs import kinds
from portal.domain.places.queries import get_area
from portal.reviews import actions, assigning, decisions, lists, queries, signed_report
from portal.reviews.forms import ChangeForm, DelegateForm, EverywhereForm, GroupsForm, StartForm
from portal.reviews.lists import AllItems, Reviews
from portal.reviews.models import Item, Review, State
from tenants.access import TenantRequest, tenant_view
from tenants.models import User
from tenants.roles import Permission
from tenants.sentences import coded_sentence

_PAGE = ("GET", "POST")


@tenant_view(Permission.REVIEWS_VIEW)
def index(request: TenantRequest) -> HttpResponse:
    context = {"may_manage": request.access.can(Permission.REVIEWS_MANAGE), "waiting": queries.tallies_of(request.user)}
    return Reviews(request).respond("reviews/index.html", context)


@tenant_view(Permission.REVIEWS_MANAGE, methods=_PAGE)
def new(request: TenantRequest) -> HttpResponse:
    """Start a review: areas, due date and reviewers."""
    form = StartForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        values = {name: form.cleaned_data[name] for name in ("title", "areas", "due_on", "nonce")}
        review = actions.start(**values, rules=form.rules, by=Requester.from_request(request))
        return redirect("reviews:page", request.tenant.slug, review.pk)
    return render(request, "reviews/new.html", {"form": form})


@tenant_view(Permission.REVIEWS_MANAGE, methods=_PAGE)
def change(request: TenantRequest, review_id: int) -> HttpResponse:
    """Change the title and the due date of a running review."""
    review = queries.get(review_id)
    form = ChangeForm(request.POST or None, initial={"title": review.title, "due_on": review.due_on})
    if request.method == "POST" and form.is_valid():
        try:
            actions.change(review=review, **form.cleaned_data, by=Requester.from_request(request))
            messages.success(request, _("Saved."))
            return redirect("reviews:page", request.tenant.slug, review.pk)
        except NotSubmitted as why:
            form.add_error(None, str(why))
    context = {"review": review, "form": form}
    return render(request, "reviews/change.html", context)


@tenant_view(Permission.REVIEWS_VIEW)
def page(request: TenantRequest, review_id: int) -> HttpResponseBase:
    """Show a review: its progress by reviewer and by area, and every item."""
    review = queries.get(review_id)
    review_progress = queries.ReviewProgress(review)
    table = AllItems(request, Item.objects.filter(review=review), review=review)
    context = {
        "review": review,
        "progress": review_progress,
        "offer": partial(areas.load_offer, request, review_progress.loaded),
        **_permissions(request),
    }
    context["has_items"] = request.user.pk in review_progress.reviewer_ids and request.access.can(
        Permission.REVIEWS_DECIDE
    )
    return table.respond("reviews/page.html", context)


@tenant_view(Permission.REVIEWS_VIEW)
def progress(request: TenantRequest, review_id: int) -> HttpResponse:
    """Show the progress, for a page that is updated automatically.

    The whole page is reloaded when the review has ended.
    """
    review = queries.get(review_id)
    review_progress = queries.ReviewProgress(review)
    if live_updates.is_up_to_date(request, review_progress.version):
        return live_updates.unchanged_response()
    answer = render(
        request, "reviews/progress.html", {"review": review, "progress": review_progress, **_permissions(request)}
    )
    if request.GET.get("state", review.state) != review.state:
        answer["HX-Refresh"] = "true"
    return answer


@tenant_view(Permission.REVIEWS_VIEW)
def item(request: TenantRequest, review_id: int, item_id: int) -> HttpResponse:
    """Show all that is known about an item, with every step."""
    return render_item(request, queries.item_or_404(queries.get(review_id), item_id))


def render_item(request: TenantRequest, found: Item, *, is_mine: bool = False) -> HttpResponse:
    """Return the page of an item, with buttons for its reviewer."""
    [row] = queries.with_current_rights([found])
    context = {
        "item": row,
        "review": row.review,
        "area": row.review.area_names.get(row.area_id, row.area_id),
        "steps": row.steps.select_related("by", "delegation__to").order_by("number"),
        "changes": queries.changes_of(request, row),
        "right": lists.right_cell(row),
        "since": lists.since_text(row),
        "use": lists.use_text(row),
        "decision": lists.decision_cell(row),
        "buttons": lists.buttons(row),
        "barred": assigning.barred_reviewer_text(row)
        if is_mine
        else assigning.barred_manager_text(row)
        if row.is_open
        else "",
        "is_mine": is_mine and row.review.state == State.RUNNING,
        "job": kinds.page_address(row.job) if row.job and request.access.can(Permission.RIGHTS_EDIT) else "",
    }
    return render(request, "reviews/item.html", context)


@tenant_view(Permission.REVIEWS_MANAGE, methods=["POST"])
def assign(request: TenantRequest, review_id: int) -> HttpResponse:
    """Ask for the new reviewer of the selected items, then delegate them."""
    review = queries.get(review_id)
    selection = load_selection(request, _items_of(review), Item.objects.filter(review=review, is_open=True))
    return delegate_items(request, review, selection, reverse("reviews:page", args=[request.tenant.slug, review.pk]))


def delegate_items(
    request: TenantRequest, review: Review, selection: Selection, back: str, *, exclude: User | None = None
) -> HttpResponse:
    """Ask for a new reviewer other than `but`. If one is posted, delegate the items."""
    count = selection.count()
    form = DelegateForm(request.POST if "to" in request.POST else None, exclude=exclude)
    if not count:
        messages.info(request, _("Nothing was delegated: none of the selected rights needs a decision."))
        return redirect(back)
    if form.is_bound and form.is_valid():
        try:
            values = {
                "to": form.cleaned_data["to"],
                "note": form.cleaned_data["note"],
                "nonce": nonces.check_nonce(request),
            }
            result = actions.delegate(
                review=review, items=selection.queryset, by=Requester.from_request(request), **values
            )
        except NotSubmitted as why:
            form.add_error(None, str(why))
        else:
            message = ngettext(
                "%(n)s right delegated to %(who)s.", "%(n)s rights delegated to %(who)s.", result.delegated
            )
            messages.success(request, message % {"n": result.delegated, "who": values["to"]})
            _warn_left_out(request, result)
            return redirect(back)
    question = ngettext("Delegate %(n)s right?", "Delegate %(n)s rights?", count) % {"n": count}
    return confirmation.ask(
        request,
        _("Delegate"),
        submit=_("Delegate"),
        question=question,
        cancel=back,
        danger=False,
        form=form,
        fields=selection.fields,
        nonce=nonces.nonce_inputs(request),
    )


def _warn_left_out(request: TenantRequest, result: actions.DelegationResult) -> None:
    if result.left_out:
        message = ngettext(
            "%(n)s was left out: the new reviewer granted this access, or it is their own. Choose another reviewer.",
            "%(n)s were left out: the new reviewer granted this access, or it is their own. Choose another reviewer.",
            result.left_out,
        )
        messages.warning(request, message % {"n": f"{result.left_out:,}"})


@tenant_view(Permission.REVIEWS_MANAGE, methods=_PAGE)
def groups(request: TenantRequest, review_id: int) -> HttpResponse:
    review = queries.get(review_id)
    assigned = review.rules.get("groups", {})
    groups = queries.groups_with_items(review, always=GroupsForm.group_ids(request.POST))
    form = GroupsForm(request.POST or None, groups=groups, assigned=assigned)
    if form.is_valid():
        action = partial(actions.assign_groups, review=review, groups=form.chosen)
        if (result := submit_once(request, form, action)) is not None:
            message = ngettext("%(n)s right assigned.", "%(n)s rights assigned.", result.delegated) % {
                "n": result.delegated
            }
            messages.success(request, message)
            _warn_left_out(request, result)
            return redirect("reviews:page", request.tenant.slug, review.pk)
    context = {"review": review, "form": form, "nonce": nonces.nonce_inputs(request)}
    return render(request, "reviews/groups.html", context)


@tenant_view(Permission.RIGHTS_EDIT, methods=["POST"])
def withdrawals(request: TenantRequest, review_id: int, area_id: str) -> HttpResponse:
    """Create the edit that withdraws the rights as decided for an area, and redirect to its preview."""
    request.access.check(Permission.REVIEWS_MANAGE)
    review, form = queries.get(review_id), EverywhereForm(request.POST)
    everywhere = form.is_valid() and form.cleaned_data["everywhere"]
    try:
        job = actions.prepare_withdrawals(
            review=review, area=get_area(area_id), everywhere=everywhere, by=Requester.from_request(request)
        )
    except NotSubmitted as why:
        messages.error(request, str(why))
        return redirect("reviews:page", request.tenant.slug, review.pk)
    return redirect(kinds.page_address(job))


@tenant_view(Permission.REVIEWS_MANAGE, methods=_PAGE)
def finish(request: TenantRequest, review_id: int) -> HttpResponse:
    """Show what is still open and ask for confirmation, then finish the review."""
    review = queries.get(review_id)
    if request.method == "POST":
        return _run_and_redirect(request, review, actions.finish)
    total, ready = queries.count_items(review.items.all()), decisions.to_withdraw(review).count()
    lines = [_("Decisions are not possible after that. The report is signed and does not change.")]
    if total.waiting:
        line = ngettext(
            "%(n)s right is undecided. The report notes this.",
            "%(n)s rights are undecided. The report notes this.",
            total.waiting,
        )
        lines.append(line % {"n": total.waiting})
    if ready:
        line = ngettext(
            "%(n)s withdrawal was not applied. The report notes this.",
            "%(n)s withdrawals were not applied. The report notes this.",
            ready,
        )
        lines.append(line % {"n": ready})
    if note := queries.loaded_of(review).summary():
        lines.append(_("%(note)s. These rights are not reviewed. The report notes this.") % {"note": note})
    return _render_confirm(request, review, _("Finish review"), _("Finish “%(title)s”?"), lines)


@tenant_view(Permission.REVIEWS_MANAGE, methods=_PAGE)
def cancel(request: TenantRequest, review_id: int) -> HttpResponse:
    """Ask for confirmation, then end the review without a report."""
    review = queries.get(review_id)
    if request.method == "POST":
        return _run_and_redirect(request, review, actions.cancel)
    lines = [_("There is no report. Decisions stay visible, and nothing more is withdrawn.")]
    return _render_confirm(request, review, _("Cancel review"), _("Cancel “%(title)s”?"), lines, danger=True)


def _render_confirm(
    request: TenantRequest, review: Review, heading: str, question: str, lines: list[str], danger: bool = False
) -> HttpResponse:
    back = reverse("reviews:page", args=[request.tenant.slug, review.pk])
    question %= {"title": review.title}
    return confirmation.ask(
        request, heading, submit=heading, question=question, consequences=lines, cancel=back, danger=danger
    )


def _run_and_redirect(request: TenantRequest, review: Review, action: Callable[..., None]) -> HttpResponse:
    try:
        action(review=review, by=Requester.from_request(request))
    except NotSubmitted as why:
        messages.error(request, str(why))
    return redirect("reviews:page", request.tenant.slug, review.pk)


def _permissions(request: TenantRequest) -> dict[str, bool]:
    manages = request.access.can(Permission.REVIEWS_MANAGE)
    return {"may_manage": manages, "may_withdraw": manages and request.access.can(Permission.RIGHTS_EDIT)}


def _items_of(review: Review) -> type[Table]:
    return cast(type[Table], partial(AllItems, review=review))


def _finished_or_404(review_id: int) -> tuple[Review, StoredFile]:
    review = queries.get(review_id)
    if review.state != State.FINISHED or review.file is None:
        raise Http404
    return review, review.file


@tenant_view(Permission.REVIEWS_VIEW)
def report(request: TenantRequest, review_id: int) -> HttpResponse:
    """Show the report with its figures, its items for printing, and how to check its signature."""
    review, _file = _finished_or_404(review_id)
    rows = Item.objects.filter(review=review).select_related("reviewer", "decided_by").order_by("name_key", "pk")
    items = queries.with_texts(list(rows[: signed_report.MAX_PRINTED]))
    counts = (review.report or {})["counts"]
    context = {
        "review": review,
        "report": review.report,
        "outcomes": queries.outcome_counts(counts),
        "rows": [(row, queries.outcome_text(signed_report.outcome_code(row))) for row in items],
        "more": max(counts["items"] - signed_report.MAX_PRINTED, 0),
        "names": review.area_names,
    }
    return render(request, "reviews/report.html", context)


@tenant_view(Permission.REVIEWS_VIEW, is_file=True)
def report_file(request: TenantRequest, review_id: int) -> HttpResponseBase:
    """Send the report's signed file."""
    review, file = _finished_or_404(review_id)
    summary = coded_sentence("review.downloaded", title=review.title)
    record = download_recorder(request, "review.downloaded", target=f"review:{review.pk}", summary=summary, after={})
    return store.download_response(request, file, f"review-{review.pk}.zip", record=record)
