"""Small pages of the frame: theme and language, tenant switcher, palette, saved columns."""

from typing import Any, cast

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_GET, require_POST

from portal.base.ui import command_palette, live_updates, nav
from portal.base.ui.frame import MENU_CHOICE, Frame, save_preferences
from portal.base.ui.models import ListChoice
from portal.base.ui.tables import Table
from tenants.access import View, tenant_view, tenants_of
from tenants.models import User
from tenants.reauthentication import nearest_page
from tenants.roles import Permission


def _person(request: HttpRequest) -> User:
    return cast(User, request.user)


def _back(request: HttpRequest) -> HttpResponseRedirect:
    address = request.POST.get("next", "")
    safe = url_has_allowed_host_and_scheme(address, {request.get_host()}, require_https=request.is_secure())
    return HttpResponseRedirect(nearest_page(address) if safe else "/")


def _post_only(view: View) -> View:
    """Allow only POST, and note on the view that no page opens at its address (`tenants.reauthentication`)."""
    guarded = require_POST(view)
    vars(guarded)["methods"] = frozenset({"POST"})
    return guarded


@login_not_required
@_post_only
def save_look(request: HttpRequest) -> HttpResponse:
    """Save the chosen theme or language and redirect back."""
    response = _back(request)
    save_preferences(request, response)
    return response


@require_GET
def switcher(request: HttpRequest) -> HttpResponse:
    """Show the person's tenants, each with the URL of the same kind of page there."""
    kind, current = request.GET.get("kind", ""), request.GET.get("here", "")
    listed: list[dict[str, Any]] = [
        {
            "tenant": t,
            "role": role,
            "is_current": t.slug == current,
            "href": nav.address_of_kind(kind, t.slug, role.permissions),
        }
        for t, role in tenants_of(_person(request))
    ]
    return render(request, "components/switcher.html", {"tenants": listed})


def _palette_response(request: HttpRequest) -> HttpResponse:
    text = request.GET.get("q", "")
    groups = command_palette.find_hits(request, text)
    reasons = command_palette.explain_no_hits(request, text) if text and not groups else []
    return render(request, "components/palette_hits.html", {"groups": groups, "text": text, "reasons": reasons})


@require_GET
def find(request: HttpRequest) -> HttpResponse:
    """Show the palette's hits outside of a tenant."""
    return _palette_response(request)


def palette_view(permission: Permission) -> View:
    """Return a view of the palette's hits inside a tenant, for those with `permission`.

    Each source also checks its own permission.
    """
    return tenant_view(permission)(_palette_response)


find_in_tenant = palette_view(Permission.TENANT_VIEW)


def _banners_response(request: HttpRequest) -> HttpResponse:
    frame = Frame(request)
    if live_updates.is_up_to_date(request, frame.banners_version):
        return live_updates.unchanged_response()
    return render(request, "components/frame_banners.html#lines", {"frame": frame})


def banners_view(permission: Permission) -> View:
    """Return a view of the banners above every page, polled while a page is open, for those with `permission`."""
    return tenant_view(permission)(_banners_response)


banners_of_tenant = banners_view(Permission.TENANT_VIEW)


@_post_only
def save_menu(request: HttpRequest) -> HttpResponse:
    """Save whether the person has folded a group of the menu."""
    saved, _created = ListChoice.objects.get_or_create(user=_person(request), table=MENU_CHOICE)
    group, is_folded = request.POST.get("group"), bool(request.POST.get("folded"))
    saved.columns = [
        each.name for each in nav.SECTIONS if (is_folded if each.name == group else each.name in saved.columns)
    ]
    saved.save(update_fields=["columns"])
    return HttpResponse(status=204)


@_post_only
def save_list_choice(request: HttpRequest, name: str) -> HttpResponse:
    """Save the columns, or the view, that a person chose for the lists called `name`."""
    table = Table.registry.get(name)
    if table is None:
        raise Http404
    if (view := request.POST.get("view")) in table.views:
        key = f"{name}:view"
        ListChoice.objects.update_or_create(user=_person(request), table=key, defaults={"columns": [view]})
        return _back(request)
    known = [column.name for column in table.columns]
    columns = [column for column in known if column in request.POST.getlist("columns")]
    if request.POST.get("reset"):
        ListChoice.objects.filter(user=_person(request), table=name).delete()
    else:
        ListChoice.objects.update_or_create(user=_person(request), table=name, defaults={"columns": columns})
    return _back(request)
