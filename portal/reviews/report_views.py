"""Views of a review's signed report: page, file, and a version for printing."""

from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from portal.base.files.writing import download_recorder
from portal.evidence import store
from portal.evidence.models import StoredFile
from portal.reviews import queries, signed_report
from portal.reviews.models import Item, Review, State
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission
from tenants.wording import coded_sentence


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
        "told": review.report,
        "outcomes": queries.outcome_counts(counts),
        "rows": [(row, queries.outcome_text(signed_report.outcome_code(row))) for row in items],
        "more": max(counts["items"] - signed_report.MAX_PRINTED, 0),
        "names": review.area_names,
    }
    return render(request, "reviews/report.html", context)


@tenant_view(Permission.REVIEWS_VIEW, is_file=True)
def report_file(request: TenantRequest, review_id: int) -> HttpResponseBase:
    """Send the report's signed file."""
    review, kept = _finished_or_404(review_id)
    said = coded_sentence("review.downloaded", title=review.title)
    download_recorder(request, "review.downloaded", target=f"review:{review.pk}", summary=said, after={})()
    return store.download_response(request, kept, f"review-{review.pk}.zip")
