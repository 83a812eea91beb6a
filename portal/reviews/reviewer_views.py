"""Views for reviewers: their reviews, items and decisions. Other people's items return 404."""

from collections.abc import Callable
from functools import partial
from typing import cast

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpResponse, JsonResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from portal.base.ui import confirmation
from portal.base.ui.tables import Selection, Table, load_selection
from portal.base.ui.url_lookup import is_row_number
from portal.domain.intents.nonces import NotSubmitted
from portal.domain.intents.recording import Requester
from portal.reviews import decisions, queries
from portal.reviews.decisions import DecisionPress, DecisionResult, ManyResult
from portal.reviews.lists import MyItems
from portal.reviews.models import NOTE_MAX, Item, Review, State, StepAction
from portal.reviews.views import delegate_items, render_item
from tenants import interrupted_requests
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission

_LAST_ITEM_FIELD = "upto"
_ACTS = (StepAction.CONFIRM, StepAction.WITHDRAW, StepAction.UNDO)


@tenant_view(Permission.REVIEWS_DECIDE)
def mine(request: TenantRequest) -> HttpResponse:
    """Show the running reviews in which the person has items."""
    waiting = queries.tallies_of(request.user)
    reviews = Review.objects.filter(pk__in=waiting).order_by("due_on", "pk")
    rows = [(review, waiting[review.pk], queries.is_overdue(review)) for review in reviews]
    return render(request, "reviews/mine.html", {"rows": rows})


@tenant_view(Permission.REVIEWS_DECIDE)
def decide(request: TenantRequest, review_id: int) -> HttpResponseBase:
    """Show the person's own items, to be decided by keyboard or mouse."""
    review = queries.own_review_or_404(request, review_id)
    items = _mine(request, review)
    context = {"review": review, "tally": queries.count_items(items), "is_running": review.state == State.RUNNING}
    context |= {"loaded": queries.loaded_of(review), "is_overdue": queries.is_overdue(review)}
    return MyItems(request, items, review=review).respond("reviews/decide.html", context)


@tenant_view(Permission.REVIEWS_DECIDE)
def my_item(request: TenantRequest, review_id: int, item_id: int) -> HttpResponse:
    """Show all that is known about one of the person's items."""
    review = queries.own_review_or_404(request, review_id)
    return render_item(request, queries.item_or_404(review, item_id, request.user), is_mine=True)


@tenant_view(Permission.REVIEWS_DECIDE, methods=["POST"])
def press(request: TenantRequest, review_id: int) -> HttpResponse:
    """Save one decision. JavaScript gets the new row; a plain form goes back to its page."""
    review = queries.own_review_or_404(request, review_id)
    item_id, posted = _read_press(request)
    item = queries.item_or_404(review, item_id, request.user)
    result = None
    try:
        _check_note(posted)
        result = decisions.decide(item=item, press=posted, by=Requester.from_request(request))
        message = _RESULT_TEXTS[result]() if result in _RESULT_TEXTS else ""
    except NotSubmitted as why:
        message = str(why)
    if request.headers.get("Accept") == "application/json":
        return _row_response(request, review, item, message, is_saved=result is DecisionResult.SAVED)
    back = _back(request, review)
    if message and posted.note:
        return interrupted_requests.return_to_form(request, back, message)
    if message:
        messages.error(request, message)
    return redirect(back)


_RESULT_TEXTS: dict[DecisionResult, Callable[[], str]] = {
    DecisionResult.EARLIER: lambda: _(
        "Not saved: you already decided this, with another note. Press again to save this note."
    ),
    DecisionResult.ELSEWHERE: lambda: _("Not saved: another person has decided or delegated this. Reload the page."),
    DecisionResult.CHANGED: lambda: _("Not saved: the right has changed. Look at the new right and decide again."),
    DecisionResult.UNREAD: lambda: _("Not saved: this right is not loaded at the moment. Try again later."),
    DecisionResult.GONE: lambda: _("Not saved: this person no longer has the right. No decision is needed."),
    DecisionResult.BARRED: lambda: _(
        "Not saved: you granted this access, or it is your own. Another reviewer decides."
    ),
    DecisionResult.UNDER_WAY: lambda: _("Not saved: the withdrawal is already in progress. No decision is needed."),
}


def _row_response(request: TenantRequest, review: Review, item: Item, message: str, *, is_saved: bool) -> HttpResponse:
    """Return the updated row and the person's progress."""
    items = _mine(request, review)
    table = MyItems(request, items.filter(pk=item.pk), review=review, query=QueryDict())
    tally = queries.count_items(items)
    answer = {"row": str(table.rows_html), "saved": is_saved, "message": message, "name": item.name}
    answer |= {"waiting": tally.open, "done": tally.done}
    return JsonResponse(answer)


def _read_press(request: TenantRequest) -> tuple[int, DecisionPress]:
    """Return the item's ID and the press, from a button's value. Raises Http404 for invalid values."""
    number, _sep, values = request.POST.get("press", "").partition(":")
    action, _sep, values = values.partition(":")
    version, _sep, digest = values.partition(":")
    if action not in _ACTS or not is_row_number(number) or not is_row_number(version):
        raise Http404
    return int(number), DecisionPress(
        StepAction(action), int(version), digest, request.POST.get("note", "").replace("\x00", "").strip()
    )


def _check_note(press: DecisionPress) -> None:
    """Raise NotSubmitted for a note that is too long to be saved."""
    if len(press.note) > NOTE_MAX:
        raise NotSubmitted(_("Not saved: the note is too long. Shorten it to %(n)d characters.") % {"n": NOTE_MAX})


def _back(request: TenantRequest, review: Review) -> str:
    """Return the address of the page with the button: the item's page, or the list with its filters."""
    slug, number = request.tenant.slug, request.POST.get("item", "")
    if is_row_number(number):
        return reverse("reviews:my_item", args=[slug, review.pk, int(number)])
    query = request.POST.get("query", "")[:2000]
    page = reverse("reviews:decide", args=[slug, review.pk])
    return f"{page}?{query}" if query else page


@tenant_view(Permission.REVIEWS_DECIDE, methods=["POST"])
def confirm_many(request: TenantRequest, review_id: int) -> HttpResponse:
    return _decide_many(request, review_id, StepAction.CONFIRM)


@tenant_view(Permission.REVIEWS_DECIDE, methods=["POST"])
def withdraw_many(request: TenantRequest, review_id: int) -> HttpResponse:
    return _decide_many(request, review_id, StepAction.WITHDRAW)


def _decide_many(request: TenantRequest, review_id: int, action: StepAction) -> HttpResponse:
    """Show what a selection contains and what is skipped, then decide."""
    review = queries.own_review_or_404(request, review_id)
    selection = _selection(request, review)
    back = reverse("reviews:decide", args=[request.tenant.slug, review.pk])
    open_ones = selection.queryset.filter(is_open=True)
    count = open_ones.filter(is_barred=False).count()
    if not count:
        barred = _RESULT_TEXTS[DecisionResult.BARRED]() if open_ones.exists() else ""
        messages.info(request, barred or _("None of the selected rights needs a decision."))
        return redirect(back)
    if "sure" not in request.POST:
        return _ask_to_decide_many(request, selection, action, count, back)
    try:
        items = selection.queryset.filter(pk__lte=_upto(request))
        done = decisions.decide_many(review=review, items=items, action=action, by=Requester.from_request(request))
        _show_result(request, action, done)
    except NotSubmitted as why:
        messages.error(request, str(why))
    return redirect(back)


def _upto(request: TenantRequest) -> int:
    """Return the highest item ID at the time of the question. Later items were not seen by the person."""
    posted = request.POST.get(_LAST_ITEM_FIELD, "")
    return int(posted) if is_row_number(posted) else 0


def _ask_to_decide_many(
    request: TenantRequest, selection: Selection, action: StepAction, count: int, back: str
) -> HttpResponse:
    if action == StepAction.CONFIRM:
        heading = pgettext("review", "Confirm")
        question = ngettext("Confirm %(n)s right?", "Confirm %(n)s rights?", count)
    else:
        heading = _("Withdraw")
        question = ngettext("Withdraw %(n)s right?", "Withdraw %(n)s rights?", count)
    lines = [_("Rights that changed since the review began are left out. Decide those one by one.")]
    if selection.queryset.filter(is_open=True, is_barred=True).exists():
        lines.append(_("Rights that you granted, or that are your own, are left out. Another reviewer decides."))
    if action == StepAction.WITHDRAW:
        lines.append(_("Access remains until the withdrawals are applied."))
    if count > decisions.MAX_ITEMS:
        lines.append(_("Up to %(n)s at a time. Repeat for the rest.") % {"n": f"{decisions.MAX_ITEMS:,}"})
    last = Item.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    fields = selection.fields | {"sure": "1", _LAST_ITEM_FIELD: str(last)}
    return confirmation.ask(
        request,
        heading,
        submit=heading,
        question=question % {"n": f"{count:,}"},
        consequences=lines,
        cancel=back,
        danger=action == StepAction.WITHDRAW,
        fields=fields,
    )


def _show_result(request: TenantRequest, action: StepAction, many: ManyResult) -> None:
    if action == StepAction.CONFIRM:
        message = ngettext("%(n)s right confirmed.", "%(n)s rights confirmed.", many.saved)
    else:
        message = ngettext("%(n)s right marked for withdrawal.", "%(n)s rights marked for withdrawal.", many.saved)
    messages.success(request, message % {"n": f"{many.saved:,}"})
    if many.skipped:
        left = ngettext(
            "%(n)s right was left out: it has changed.", "%(n)s rights were left out: they have changed.", many.skipped
        )
        messages.warning(request, left % {"n": f"{many.skipped:,}"})
    if many.barred:
        left = ngettext(
            "%(n)s right was left out: you granted it, or it is your own. Another reviewer decides.",
            "%(n)s rights were left out: you granted them, or they are your own. Another reviewer decides.",
            many.barred,
        )
        messages.warning(request, left % {"n": f"{many.barred:,}"})


@tenant_view(Permission.REVIEWS_DECIDE, methods=["POST"])
def delegate(request: TenantRequest, review_id: int) -> HttpResponse:
    """Ask for the new reviewer of the selected items, or of all waiting ones with `all`; then delegate them."""
    review = queries.own_review_or_404(request, review_id)
    selection = _selection(request, review)
    if "all" in request.POST:
        selection = Selection(_mine(request, review), True, {"all": "1"})
    waiting = Selection(selection.queryset.filter(is_open=True), selection.is_everything, selection.fields)
    home = reverse("reviews:mine", args=[request.tenant.slug])
    return delegate_items(request, review, waiting, home, exclude=request.user)


def _mine(request: TenantRequest, review: Review) -> QuerySet[Item]:
    return Item.objects.filter(review=review, reviewer=request.user)


def _selection(request: TenantRequest, review: Review) -> Selection:
    return load_selection(request, cast(type[Table], partial(MyItems, review=review)), _mine(request, review))
