"""Views that add items to an incident, and that show their video and pictures."""

import re
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.base.storage import store
from portal.base.ui.times import local
from portal.base.ui.url_lookup import get_row_or_404, is_row_number
from portal.domain.cameras.models import Camera
from portal.domain.history import search, visibility
from portal.domain.history.coverage import load_coverage
from portal.domain.history.models import History
from portal.domain.intents import queries as intent_queries
from portal.domain.intents.models import Intent
from portal.domain.intents.recording import Requester
from portal.domain.people.text_folding import search_words
from portal.domain.places.queries import load_holidays
from portal.evidence import actions
from portal.evidence.forms import ChooseForm, PictureForm
from portal.evidence.items import (
    item_of_access_check,
    item_of_picture,
    item_of_request,
    items_of,
    items_with_videos,
    words_of,
)
from portal.evidence.models import Incident, Item
from portal.evidence.views import REFUSAL_TEXTS, apply, incident_or_404, page_of
from portal.explain import changes_since
from portal.explain.answers import AccessAnswer
from portal.explain.questions import Question
from tenants.access import Access, TenantRequest, tenant_view
from tenants.connections.service_clients import current_connection
from tenants.roles import Permission, Proof

_RANGE = re.compile(r"bytes=(?=\d|-\d)(\d{0,15})-(\d{0,15})")
# The time before and after an incident, and the most entries of a page.
_AROUND, _MOST_OFFERED = timedelta(minutes=30), actions.MOST_AT_ONCE


@tenant_view(Permission.EVIDENCE_VIEW)
def item_file(request: TenantRequest, number: int, pk: int) -> HttpResponseBase:
    """Return the file of an item, or the requested part of it. The view is recorded before the first byte."""
    item = get_row_or_404(items_of(incident_or_404(number)), pk=pk)
    if item.file is None:
        raise Http404
    part = _byte_range(request, item.file.size)
    start, end = part or (0, item.file.size)
    if part and start >= end:
        return HttpResponse(status=416, headers={"Content-Range": f"bytes */{item.file.size}"})
    actions.record_view(item=item, by=Requester.from_request(request))
    shows = item.file.content_type.startswith(("video/", "image/"))
    answer = StreamingHttpResponse(
        store.read_file(item.file, start, end),
        status=206 if part else 200,
        content_type=item.file.content_type if shows else "application/octet-stream",
    )
    answer["Content-Length"], answer["Accept-Ranges"] = str(end - start), "bytes"
    answer["Content-Disposition"] = "inline" if shows else "attachment"
    if part:
        answer["Content-Range"] = f"bytes {start}-{end - 1}/{item.file.size}"
    return answer


def _byte_range(request: TenantRequest, size: int) -> tuple[int, int] | None:
    """Return the requested range as (first byte, end); None for the whole file.

    Requests for several ranges get the whole file. So do requests with If-Range, because responses have no ETag.
    """
    found = _RANGE.fullmatch(request.headers.get("Range", ""))
    if found is None or "If-Range" in request.headers:
        return None
    first, last = found.groups()
    if not first:
        return max(size - int(last), 0), size
    return int(first), min(int(last) + 1, size) if last else size


@tenant_view(Permission.EVIDENCE_MAKE, methods=["GET", "POST"], proof=Proof.NONE)
def records(request: TenantRequest, number: int) -> HttpResponseBase:
    """Show records around the incident's time, and add the selected ones; with video if a camera covers the door."""
    found = incident_or_404(number)
    begin, end = _time_range(found)
    rows = visibility.visible_records(request.access).filter(at__gte=begin, at__lte=end)
    if request.method == "POST":
        chosen = rows.filter(history_id__in=request.POST.getlist("record")[: actions.MOST_AT_ONCE]).order_by("at", "pk")
        return _add_items(request, found, list(items_with_videos(chosen, _doors_with_camera())))
    known = set(found.items.filter(kind=Item.Kind.RECORD).values_list("reference", flat=True))
    text = request.GET.get("q", "").strip()
    offered = (
        _search_records(request.access, found, text) if text else list(rows.order_by("at", "pk")[: _MOST_OFFERED + 1])
    )
    context = {
        "incident": found,
        "records": [(each, each.history_id in known) for each in offered[:_MOST_OFFERED]],
        "more": len(offered) > _MOST_OFFERED,
        "text": text,
        "watched": _doors_with_camera(),
        "span": (begin, end),
        "through": load_coverage().through,
        "may_look": visibility.may_view_log(request.access),
    }
    return render(request, "evidence/records.html", context)


@tenant_view(Permission.EVIDENCE_MAKE, methods=["GET", "POST"], proof=Proof.NONE)
def requests(request: TenantRequest, number: int) -> HttpResponseBase:
    """Show requests of staff around the incident's time, and add the selected ones."""
    found = incident_or_404(number)
    begin, end = _time_range(found)
    rows = intent_queries.visible_to(request.access).select_related("by")
    rows = rows.filter(created_at__gte=begin, created_at__lte=end)
    if request.method == "POST":
        named = [int(each) for each in request.POST.getlist("request") if is_row_number(each)]
        chosen = rows.filter(pk__in=named[: actions.MOST_AT_ONCE]).order_by("pk")
        return _add_items(request, found, [item_of_request(each) for each in chosen])
    known = set(found.items.filter(kind=Item.Kind.REQUEST).values_list("reference", flat=True))
    offered: list[Intent] = list(rows.order_by("created_at", "pk")[: _MOST_OFFERED + 1])
    context = {
        "incident": found,
        "requests": [(each, str(each.pk) in known) for each in offered[:_MOST_OFFERED]],
        "more": len(offered) > _MOST_OFFERED,
        "span": (begin, end),
    }
    return render(request, "evidence/requests.html", context)


@tenant_view(Permission.EVIDENCE_MAKE, methods=["GET", "POST"], proof=Proof.NONE)
def picture(request: TenantRequest, number: int) -> HttpResponseBase:
    """Add the picture of a camera at a moment, to be fetched."""
    found = incident_or_404(number)
    request.access.check(Permission.CAMERAS_RECORDED)
    form = PictureForm(request.POST) if request.method == "POST" else PictureForm(initial={"at": found.began_at})
    if form.is_valid():
        camera = get_row_or_404(Camera.objects.all(), pk=int(form.cleaned_data["camera"]))
        return _add_items(request, found, [item_of_picture(camera, form.cleaned_data["at"])])
    context = {"form": form, "incident": found}
    return render(request, "evidence/picture.html", context)


@tenant_view(Permission.EVIDENCE_MAKE, methods=["GET", "POST"], proof=Proof.NONE)
def add_record(request: TenantRequest, history_id: str) -> HttpResponseBase:
    """Add a record with its video from the record's page."""
    record: History = get_row_or_404(visibility.visible_records(request.access), history_id=history_id)
    items = list(items_with_videos([record], _doors_with_camera()))
    return _choose_incident(request, items, reverse("history:record", args=[request.tenant.slug, history_id]))


@tenant_view(Permission.EVIDENCE_MAKE, methods=["GET", "POST"], proof=Proof.NONE)
def add_rights(request: TenantRequest) -> HttpResponseBase:
    """Add the result of an access check. The address has the same parameters as the page of access checks."""
    request.access.check(Permission.AREAS_VIEW)
    question = Question(request)
    if question.member is None or question.place is None:
        messages.error(request, _("Nothing was added. Choose a person and a place first."))
        return redirect(question.address())
    answer = AccessAnswer(question.member, question.place, question.at, load_holidays(), current_connection())
    past = changes_since.changes_since(question.member, question.place, question.at, timezone.now(), request.access)
    return _choose_incident(request, [item_of_access_check(answer, past)], question.address())


def _choose_incident(request: TenantRequest, items: list[Item], back: str) -> HttpResponseBase:
    """Ask for the open incident to add items to, and add them."""
    form = ChooseForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        return _add_items(request, incident_or_404(int(form.cleaned_data["incident"])), items)
    first = words_of(items[0])
    new = f"{reverse('evidence:new', args=[request.tenant.slug])}?began_at={local(items[0].at):%Y-%m-%dT%H:%M:%S}"
    what = f"{local(items[0].at):%Y-%m-%d %H:%M:%S} {first.headline}"
    context = {"form": form, "what": what, "back": back, "new": new}
    return render(request, "evidence/choose.html", context)


def _search_records(access: Access, found: Incident, text: str) -> list[History]:
    """Return matching records around an incident's time, oldest first, and one more than the page shows."""
    begin, end = _time_range(found)
    record_filter = search.RecordFilter(since=begin, until=end + timedelta(seconds=1), words=search_words(text))
    return search.load_records(
        search.filter_records(visibility.visible_search_rows(access), record_filter).order_by("at", "id")[
            : _MOST_OFFERED + 1
        ]
    )


def _time_range(found: Incident) -> tuple[Any, Any]:
    return found.began_at - _AROUND, (found.ended_at or found.began_at) + _AROUND


def _doors_with_camera() -> set[str]:
    """Return the doors that a camera covers."""
    return {door for doors in Camera.objects.values_list("doors", flat=True) for door in doors}


def _add_items(request: TenantRequest, found: Incident, items: list[Item]) -> HttpResponseBase:
    """Add items and show how many were new. Video is only fetched for people who have access to recordings."""
    try:
        may_fetch = request.access.can(Permission.CAMERAS_RECORDED)
        added = actions.add_items(incident=found, items=items, by=Requester.from_request(request), fetch=may_fetch)
    except actions.NotDone as why:
        messages.error(request, str(REFUSAL_TEXTS[str(why)]))
        return redirect(page_of(request, found))
    message = ngettext("%(n)d item added.", "%(n)d items added.", len(added)) % {"n": len(added)}
    return apply(request, found, lambda: None, message if items else _("Select at least one item."))
