"""The gallery of components: every component in every state, for developers and platform staff.

Its samples are not translated; the components around them are.
"""

from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.contenttypes.models import ContentType
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from portal.base.ui import charts
from portal.base.ui.chips import CHIPS, Chip
from portal.base.ui.frame import Banner
from portal.base.ui.outcome_lines import OutcomeLine, Progress, outcome_steps
from portal.base.ui.tables import BulkAction, Column, Filter, Table


def index(request: HttpRequest) -> HttpResponse:
    """Show the whole page; htmx requests for the sample list get the list alone."""
    _check_access(request)
    table = SampleTable(request, ContentType.objects.all())  # type: ignore[arg-type]  # shown outside of any tenant
    now = timezone.now()
    context = {
        "chips": [Chip(state, as_of=now if state in {"locked", "held_open", "offline"} else None) for state in CHIPS],
        "outcomes": _outcomes(),
        "progress": _progress(),
        "form": SampleForm(),
        "wrong": SampleForm({"name": "", "code": "x" * 24, "group": "g9", "starts": "soon"}),
        "chart": charts.hourly_bar_chart("Entries by hour", _HOURS, unit="entries"),
        "meters": [
            charts.UsageMeter("Calls left", 618, 720),
            charts.UsageMeter("Device calls left", 21, 180, now + timedelta(minutes=12)),
        ],
        "week": _week(),
        "banners": _banners(),
        "unknown": [("account_type", "visitor_plus"), ("flags", {"beta": True})],
    }
    return table.respond("components/style.html", context)


def part(request: HttpRequest, part: str) -> HttpResponse:
    """Show single parts as other pages show them: confirm, forbidden, missing, plain."""
    _check_access(request)
    pages = {
        "confirm": "components/confirm.html",
        "forbidden": "403.html",
        "missing": "404.html",
        "plain": "base_plain.html",
    }
    if part not in pages:
        raise Http404
    context = {
        "heading": "Delete 3 members",
        "question": "Delete these members from the service?",
        "consequences": ["Their cards and faces stop opening doors at once.", "This cannot be undone."],
        "submit": "Delete 3 members",
        "danger": True,
        "cancel": "/_components/",
        "reason": "This needs the permission “Delete members”, which the role “Guard” does not have.",
    }
    return render(request, pages[part], context)


def _check_access(request: HttpRequest) -> None:
    if not (settings.DEBUG or (request.user.is_authenticated and request.user.platform_role)):
        raise Http404


class SampleTable(Table):
    """A table of rows that every database has."""

    name = "sample"
    caption = "Sample"
    search_label = "Find by model"
    default_sort = "model"
    columns = (
        Column("model", "Name", sort="model", phone="title", fixed=True),
        Column("app_label", "Group", sort="app_label"),
        Column("code", "Code", value=lambda row: f"M-{row.pk:05d}", kind="mono"),
        Column("state", "State", value=lambda row: Chip(("locked", "unlocked", "held_open", "offline")[row.pk % 4])),
        Column("since", "Since", value=lambda row: timezone.now() - timedelta(hours=row.pk), kind="time"),
        Column("number", "Entries", value=lambda row: row.pk * 37, kind="number"),
        Column("face", "Face", value=lambda row: row.pk % 3 == 0, kind="yes", phone="hide"),
        Column("id", "Id", value="pk", sort="pk", kind="number", shown=False),
    )
    filters = (
        Filter(
            "app",
            "Group",
            lambda request: [(a, a) for a in sorted(set(ContentType.objects.values_list("app_label", flat=True)))],
            lambda queryset, values: queryset.filter(app_label__in=values),
        ),
        Filter("card", "Credential", [("card", "Card"), ("qr", "QR"), ("face", "Face")], lambda rows, values: rows),
    )
    actions = (
        BulkAction("move", "Change group…", lambda request: "/_components/confirm/"),
        BulkAction("delete", "Delete…", lambda request: "/_components/confirm/", icon="trash", danger=True),
    )
    exports = ("csv", "xlsx")

    def search(self, queryset: QuerySet[Any], text: str) -> QuerySet[Any]:
        return queryset.filter(model__icontains=text)

    def row_href(self, row: Any) -> str:
        return f"/_components/?row={row.pk}"


class SampleForm(forms.Form):
    """A form with one field of each kind."""

    name = forms.CharField(label="Name", max_length=40)
    code = forms.CharField(label="Member code", max_length=20, required=False, help_text="As printed on the card")
    group = forms.ChoiceField(label="Group", choices=[("g1", "Staff"), ("g2", "Cleaning")])
    starts = forms.DateTimeField(label="Valid from", required=False, help_text="2026-11-21 09:00, Tokyo time")
    keys = forms.BooleanField(label="May take keys without a second factor", required=False)
    days = forms.MultipleChoiceField(
        label="Days",
        choices=[("mon", "Mon"), ("tue", "Tue"), ("wed", "Wed")],
        widget=forms.CheckboxSelectMultiple,
        required=False,
    )
    sheet = forms.FileField(label="Spreadsheet", required=False, help_text="CSV or XLSX, at most 4 MB")
    note = forms.CharField(label="Remarks", max_length=200, required=False, widget=forms.Textarea(attrs={"rows": 3}))


_HOURS = [0, 0, 0, 0, 1, 6, 22, 64, 131, 98, 41, 38, 72, 66, 40, 35, 37, 58, 92, 61, 24, 9, 3, 1]


_DOOR_TITLE = "Unlock: Main entrance"


def _outcomes() -> list[OutcomeLine]:
    now = timezone.now()
    times = {
        "recorded": now - timedelta(seconds=4),
        "sent": now - timedelta(seconds=3),
        "accepted": now - timedelta(seconds=2),
    }
    return [*_door_outcomes(now, times), *_other_outcomes(now)]


def _door_outcomes(now: datetime, at: dict[str, datetime]) -> list[OutcomeLine]:
    return [
        OutcomeLine(
            "accepted",
            _DOOR_TITLE,
            id="a",
            message="The service has taken it; the door has not answered yet.",
            at=now,
            by="Sato Yuki",
            steps=outcome_steps("accepted", is_asynchronous=True, at=at),
            audit_url="#",
        ),
        OutcomeLine(
            "done",
            _DOOR_TITLE,
            id="b",
            message="The door was unlocked.",
            at=now,
            by="Sato Yuki",
            steps=outcome_steps("done", is_asynchronous=True, at={**at, "done": now}),
            audit_url="#",
        ),
        OutcomeLine(
            "uncertain",
            _DOOR_TITLE,
            id="d",
            at=now,
            by="Sato Yuki",
            message="It may have opened: the service did not answer in time. It was not sent again.",
            next_steps=("Look at the door or ask somebody there.", "We are reading its status and log."),
            steps=outcome_steps("uncertain", is_asynchronous=True, at=at),
            audit_url="#",
        ),
    ]


def _other_outcomes(now: datetime) -> list[OutcomeLine]:
    return [
        OutcomeLine(
            "refused",
            "Change: Tanaka Hana",
            id="c",
            message="Another member already has this code.",
            at=now,
            by="Sato Yuki",
            service_code="400 invalid_member_code",
            service_detail="member_code is already used",
            applied=(),
            not_applied=("Member code", "Group"),
            next_steps=("Choose another code and save again.",),
            steps=outcome_steps("refused", is_asynchronous=False, at={"recorded": now, "sent": now}),
            actions=(("Correct it", "#"),),
            audit_url="#",
        ),
        OutcomeLine(
            "expired",
            _DOOR_TITLE,
            id="e",
            at=now,
            message="It was not sent within 15 seconds, so it was dropped. The door stayed as it was.",
        ),
        OutcomeLine("cancelled", "Import: april.csv", id="f", at=now, message="Stopped by Sato Yuki."),
    ]


def _progress() -> Progress:
    return Progress(
        "Import: april.csv",
        "rows",
        done=1284,
        total=2500,
        failed=17,
        uncertain=2,
        rate=410,
        calls_left=9,
        seconds_left=180,
        started_at=timezone.now(),
        notes=["Waiting for calls: they refill at 10:12."],
        failures_url="#",
        stop_url="#",
    )


def _week() -> list[charts.RightsDay]:
    day = [charts.DaySpan(480, 1140)]
    names = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    week = [charts.RightsDay(name, day if place < 5 else []) for place, name in enumerate(names)]
    return [*week, charts.RightsDay("Holiday", [charts.DaySpan(600, 960)], is_holiday=True)]


def _banners() -> list[Banner]:
    now = timezone.now()
    return [
        Banner(
            "support",
            "Support session: Mori Ken in Aozora Building.",
            "Ticket 1182: import fails",
            "lifebuoy",
            until=now + timedelta(minutes=24),
            action="End it",
            action_url="#",
            is_link=True,
        ),
        Banner(
            "alarm",
            "Loading dock is held open",
            icon="door-enter",
            since=now - timedelta(minutes=7),
            action="Lock now",
            action_url="#",
            is_link=True,
        ),
        Banner(
            "lost",
            "The connection to the service is lost.",
            "Lists show what was last read. Nothing can be sent.",
            "plug-off",
            action="Reconnect",
            action_url="#",
            is_link=True,
        ),
    ]
