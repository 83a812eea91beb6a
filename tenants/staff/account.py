"""Pages of a person's own account, in addition to allauth's, and sign-ins and attempts for managers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import chain
from typing import Any

from allauth.account.internal.flows.reauthentication import is_reauthentication_required
from allauth.mfa.recovery_codes.views import download_recovery_codes
from allauth.usersessions.views import list_usersessions
from django import forms
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from tenants.access import SignedInRequest, TenantRequest, tenant_view
from tenants.models import AccountEvent, Staff
from tenants.reauthentication import SAFE_METHODS, is_recently_authenticated, redirect_to_reauthentication
from tenants.roles import Permission, Proof

PAGE_SIZE = 50


@dataclass(frozen=True)
class EventPage:
    """Up to 50 events, newest first, and the query of the next page, empty for the last."""

    events: Sequence[AccountEvent]
    next_query: str


class SignInFilterForm(forms.Form):
    """The filter's fields, all optional. An invalid choice gets an error and is left out of the filter."""

    person = forms.TypedChoiceField(label=pgettext_lazy("staff", "Person"), required=False, coerce=int)
    kind = forms.ChoiceField(
        label=pgettext_lazy("sign-in history", "What"),
        required=False,
        choices=[("", _("All")), *AccountEvent.Kind.choices],
    )

    def __init__(self, given: QueryDict, people: Sequence[Staff]) -> None:
        super().__init__(given)
        field: Any = self.fields["person"]
        field.choices = [("", _("All")), *((each.user_id, str(each.user)) for each in people)]

    def chosen(self) -> dict[str, Any]:
        """Return the chosen fields with their values."""
        self.is_valid()
        return {name: value for name, value in self.cleaned_data.items() if value}


def newest_before(rows: QuerySet[AccountEvent], request: HttpRequest) -> QuerySet[AccountEvent]:
    """Return the events for one page: the newest before the event `before` of the address."""
    before = request.GET.get("before", "")
    if before.isascii() and before.isdigit() and len(before) < 19:
        rows = rows.filter(pk__lt=int(before))
    return rows.order_by("-pk")[: PAGE_SIZE + 1]


def page(rows: QuerySet[AccountEvent], request: HttpRequest) -> EventPage:
    """Return the page of the `newest_before` events."""
    found = list(rows)
    query = request.GET.copy()
    if len(found) > PAGE_SIZE:
        query["before"] = str(found[PAGE_SIZE - 1].pk)
    return EventPage(found[:PAGE_SIZE], query.urlencode() if len(found) > PAGE_SIZE else "")


@tenant_view(Permission.STAFF_MANAGE)
def staff_sign_ins(request: TenantRequest) -> HttpResponse:
    """Show account events of the tenant's own staff, from the time they joined."""
    # Platform staff sign in for many tenants. Their actions here are in the audit log, under their support sessions.
    staff = Staff.objects.filter(is_active=True, user__platform_role="")
    people = list(staff.select_related("user").order_by("user__name", "user__email"))
    form = SignInFilterForm(request.GET, people)
    chosen = form.chosen()
    kinds = {"kind": chosen["kind"]} if "kind" in chosen else {}
    if "person" in chosen:
        staff = staff.filter(user=chosen["person"])
    # Read each person's newest events by index: the table has millions of events of all tenants.
    own = newest_before(AccountEvent.objects.filter(user=OuterRef("user"), at__gte=OuterRef("since"), **kinds), request)
    found = chain.from_iterable(staff.annotate(events=ArraySubquery(own.values("pk"))).values_list("events", flat=True))
    rows = AccountEvent.objects.filter(pk__in=nlargest(PAGE_SIZE + 1, found)).select_related("user").order_by("-pk")
    context = {
        "form": form,
        "page": page(rows, request),
        "filter_count": len(chosen) + len(form.errors),
    }
    return render(request, "tenants/staff/sign_ins.html", context)


def sessions(request: SignedInRequest) -> HttpResponseBase:
    """Show the person's sessions. Ending other sessions needs fresh proof: the caller may be a stranger."""
    if request.method not in SAFE_METHODS and not is_recently_authenticated(request, Proof.SHORT):
        home = reverse("usersessions_list")
        return redirect_to_reauthentication(request, within=home, home=home)
    response: HttpResponseBase = list_usersessions(request)
    return response


def recovery_codes(request: SignedInRequest) -> HttpResponseBase:
    """Send the recovery codes as a file; after a proof of identity, from the page of the codes."""
    if is_reauthentication_required(request, app="allauth.mfa"):
        home = reverse("mfa_view_recovery_codes")
        return redirect_to_reauthentication(request, within=home, home=home, is_file=True)
    response: HttpResponseBase = download_recovery_codes(request)
    return response


vars(recovery_codes)["file"] = True


def history(request: SignedInRequest) -> HttpResponse:
    """Show the events of the person's account, newest first."""
    rows = AccountEvent.objects.filter(user=request.user)
    return render(request, "account/history.html", {"page": page(newest_before(rows, request), request)})
