"""The page of a review's signed report, with its file, what it is checked with, and a sheet for paper."""

from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from portal.core.files.writing import written_down
from portal.evidence import store
from portal.evidence.models import StoredFile
from portal.reviews import queries, report
from portal.reviews.models import Item, Review, State
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission
from tenants.wording import say


def _finished(review_id: int) -> tuple[Review, StoredFile]:
    review = queries.get(review_id)
    if review.state != State.FINISHED or review.file is None:
        raise Http404
    return review, review.file


@tenant_view(Permission.REVIEWS_VIEW)
def page(request: TenantRequest, review_id: int) -> HttpResponse:
    """Show the report with its counts, its items for paper, and how to check its signature."""
    review, _file = _finished(review_id)
    rows = Item.objects.filter(review=review).select_related("reviewer", "decided_by").order_by("name_key", "pk")
    items = queries.told(list(rows[: report.PRINTED]))
    counts = (review.report or {})["counts"]
    context = {
        "review": review,
        "told": review.report,
        "outcomes": queries.outcomes(counts),
        "rows": [(row, queries.outcome_words(report.outcome(row))) for row in items],
        "more": max(counts["items"] - report.PRINTED, 0),
        "names": review.area_names,
    }
    return render(request, "reviews/report.html", context)


@tenant_view(Permission.REVIEWS_VIEW, file=True)
def file(request: TenantRequest, review_id: int) -> HttpResponseBase:
    """Send the report's file as it was signed."""
    review, kept = _finished(review_id)
    said = say("review.downloaded", title=review.title)
    written_down(request, "review.downloaded", target=f"review:{review.pk}", summary=said, after={})()
    return store.answer(request, kept, f"review-{review.pk}.zip")
