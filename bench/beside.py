"""What the site is compared with, behind the same middleware and sign-in: the admin's changelist, and a bare view.

The admin is set up to be quick: it shows only the list's columns, does not read secrets, and has no filters.
"""

import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import include, path
from django.utils.decorators import sync_only_middleware

from portal.domain.history.models import History
from portal.domain.people import queries
from portal.domain.people.models import Member
from tenants.models import Tenant
from tenants.scope import tenant_scope

#: The only tenant that the admin shows.
LARGE = "bench-large"


class Site(admin.AdminSite):
    def has_permission(self, request: HttpRequest) -> bool:
        return request.user.is_authenticated


class MemberAdmin(admin.ModelAdmin):
    list_display = ("member_name", "member_code", "membergroup_name", "has_card", "has_qr", "use_date_end")
    list_per_page = 50
    ordering = ("name_key", "pk")
    search_fields = ("member_name", "member_code")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Member]:
        return queries.members().order_by(*self.ordering)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return True

    has_change_permission = has_add_permission = has_delete_permission = has_module_permission = has_view_permission


class HistoryAdmin(admin.ModelAdmin):
    list_display = ("at", "content", "member_name", "device_name", "category")
    list_per_page = 50
    ordering = ("-at", "-pk")
    search_fields = ("content", "member_name", "device_name")
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[History]:
        return History.objects.order_by(*self.ordering)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return True

    has_change_permission = has_add_permission = has_delete_permission = has_module_permission = has_view_permission


site = Site()
site.register(Member, MemberAdmin)
site.register(History, HistoryAdmin)


def bare(request: HttpRequest) -> HttpResponse:
    """Return the signed-in person's key, and nothing else."""
    return HttpResponse(f"<p>{request.user.pk}</p>")


def stream(request: HttpRequest) -> StreamingHttpResponse:
    """Return a stream of server-sent events, which says twice a second that nothing changed."""

    def events() -> Iterator[str]:
        while True:
            yield "data: nothing new\n\n"
            time.sleep(0.5)

    return StreamingHttpResponse(events(), content_type="text/event-stream")


@sync_only_middleware
def admin_in_a_tenant(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Enter the large tenant for the admin's addresses, which name no tenant."""

    def answer(request: HttpRequest) -> HttpResponse:
        if not request.path.startswith("/admin/"):
            return get_response(request)
        with tenant_scope(_large()):
            return get_response(request)

    return answer


@cache
def _large() -> Tenant:
    return Tenant.objects.get(slug=LARGE)


urlpatterns = [
    path("admin/", site.urls),
    path("bare/", bare),
    path("stream/", stream),
    path("", include("portal.site.urls")),
]
handler403, handler404 = "portal.site.views.forbidden", "portal.site.views.not_found"
handler500, handler400 = "portal.site.views.server_error", "portal.site.views.bad_request"
