"""The page of access checks: who has access where and when, and why. Its address is the question."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from portal.domain.people.models import Member
from portal.domain.places.queries import load_holidays
from portal.domain.sync.single_reads import ReadFailed, read_member_for_page
from portal.explain import answers, changes_since
from portal.explain.answers import AccessAnswer
from portal.explain.questions import Question
from tenants.access import TenantRequest, tenant_view
from tenants.connections.service_clients import current_connection
from tenants.roles import Permission


@tenant_view(Permission.AREAS_VIEW)
def index(request: TenantRequest) -> HttpResponse:
    return render(request, "explain/index.html", _context(request, Question(request)))


@tenant_view(Permission.AREAS_VIEW)
def reading(request: TenantRequest) -> HttpResponse:
    """Read the member once within the budget. Show only the answer for htmx, otherwise return to the page."""
    question, trouble = Question(request), ""
    if question.member is not None:
        try:
            read_member_for_page(question.member.member_id)
        except ReadFailed as why:
            trouble = why.text
        question = Question(request)  # load the member again after the reading
    if request.htmx:
        is_gone = Member.objects.filter(member_id=request.GET.get("member", ""), gone_at__isnull=False).exists()
        context = {"trouble": trouble, "read": True} | ({} if is_gone else _context(request, question))
        return render(request, "explain/answer.html", context)
    if trouble:
        messages.warning(request, trouble)
    return redirect(question.address() if not trouble else _same_url(request))


def _same_url(request: TenantRequest) -> str:
    """Return the address of this question's page, even if the member no longer exists."""
    return f"{request.path.removesuffix('reading/')}?{request.GET.urlencode()}"


def _context(request: TenantRequest, question: Question) -> dict[str, Any]:
    member, place, at = question.member, question.place, question.at
    context: dict[str, Any] = {"question": question, "member": member, "place": place, "at": at}
    if member is None or place is None:
        return context
    holidays = load_holidays()
    answer = AccessAnswer(member, place, at, holidays, current_connection())
    days = answers.days_of_week(answer.openings, holidays, question.monday, at) if answer.openings is not None else []
    return context | {
        "answer": answer,
        "past": changes_since.changes_since(member, place, at, timezone.now(), request.access)
        if question.chosen_at
        else None,
        "days": days,
        "hours": answers.hour_marks(),
        "next_url": question.address_at(answer.next_opening.start) if answer.next_opening else "",
        "read_url": question.address("explain:reading"),
        "may_edit": request.access.can(Permission.RIGHTS_EDIT),
    }
