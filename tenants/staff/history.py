"""Who signed in and tried to: one person's own history, and a tenant's staff for whoever manages them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from tenants.access import TenantRequest, tenant_view
from tenants.models import AccountEvent, Staff
from tenants.roles import Permission

PAGE = 50


@dataclass(frozen=True)
class Page:
    """Up to 50 events, newest first, and the query of the next page, empty for the last."""

    events: Sequence[AccountEvent]
    next: str


class FilterForm(forms.Form):
    """All optional. A value that is none of the choices gets an error, and is left out of the filter."""

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

    def wanted(self) -> dict[str, object]:
        """Return the columns that are asked for, with their values."""
        self.is_valid()
        columns = {"person": "user", "kind": "kind"}
        return {columns[name]: value for name, value in self.cleaned_data.items() if value}


def page(rows: QuerySet[AccountEvent], request: HttpRequest) -> Page:
    """Return the page of events that the address asks for: those before the event `before`."""
    before = request.GET.get("before", "")
    if before.isascii() and before.isdigit() and len(before) < 19:
        rows = rows.filter(pk__lt=int(before))
    found = list(rows.order_by("-pk")[: PAGE + 1])
    query = request.GET.copy()
    if len(found) > PAGE:
        query["before"] = str(found[PAGE - 1].pk)
    return Page(found[:PAGE], query.urlencode() if len(found) > PAGE else "")


@tenant_view(Permission.STAFF_MANAGE)
def of_staff(request: TenantRequest) -> HttpResponse:
    """Show what happened to the accounts of the tenant's own staff since they work here."""
    # Platform staff sign in for many tenants: what they do here is in the audit log, under their support sessions.
    staff = Staff.objects.filter(is_active=True, user__platform_role="")
    people = list(staff.select_related("user").order_by("user__name", "user__email"))
    form = FilterForm(request.GET, people)
    wanted = form.wanted()
    own = staff.filter(user=OuterRef("user"), since__lte=OuterRef("at"))
    rows = AccountEvent.objects.filter(Exists(own), user__in=[each.user_id for each in people], **wanted)
    context = {
        "form": form,
        "page": page(rows.select_related("user"), request),
        "filtered": bool(wanted) or bool(form.errors),
    }
    return render(request, "tenants/staff/sign_ins.html", context)
