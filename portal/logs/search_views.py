"""Views of saved searches. People who see the whole log share them."""

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from portal.base.ui.url_lookup import get_row_or_404, url_in_tenant
from portal.domain.intents.recording import Requester
from portal.domain.log import filters
from portal.logs import searches
from portal.logs.exports.forms import RenameSearchForm, SearchNameForm
from portal.logs.models import SavedSearch
from portal.logs.searches import SearchNotSaved
from tenants import interrupted_requests
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission


@tenant_view(Permission.LOGS_VIEW)
def search_list(request: TenantRequest) -> HttpResponse:
    return render(
        request, "logs/searches.html", {"searches": searches.list_searches(request), "most": searches.MAX_SEARCHES}
    )


@tenant_view(Permission.LOGS_VIEW, methods=["POST"])
def save_search(request: TenantRequest) -> HttpResponseBase:
    """Save the filters of the list above which the form is shown, and go back to the list."""
    form, query = SearchNameForm(request.POST), QueryDict(request.POST.get("query", ""), mutable=False)
    page, asked = url_in_tenant("logs:index", request.tenant.slug), filters.chosen_filters(query).urlencode()
    page = f"{page}?{asked}" if asked else page
    try:
        if not form.is_valid():
            raise SearchNotSaved(" ".join(map(str, form.errors["name"])))
        searches.save(name=form.cleaned_data["name"], query=query, by=Requester.from_request(request))
        messages.success(request, _("Search saved."))
    except SearchNotSaved as reason:
        return interrupted_requests.return_to_form(request, page, str(reason))
    return redirect(page)


@tenant_view(Permission.LOGS_VIEW, methods=["GET", "POST"])
def search(request: TenantRequest, search_id: int) -> HttpResponseBase:
    found = get_row_or_404(SavedSearch.objects.all(), pk=search_id)
    form = RenameSearchForm(request.POST or None, initial={"name": found.name})
    if form.is_valid():
        try:
            searches.rename(search=found, name=form.cleaned_data["name"], by=Requester.from_request(request))
            return redirect("logs:searches", request.tenant.slug)
        except SearchNotSaved as reason:
            form.add_error("name", str(reason))
    return render(request, "logs/search.html", {"search": found, "form": form})


@tenant_view(Permission.LOGS_VIEW, methods=["GET", "POST"])
def delete_search(request: TenantRequest, search_id: int) -> HttpResponseBase:
    """Show a confirmation, then delete a saved search."""
    found = get_row_or_404(SavedSearch.objects.select_related("by"), pk=search_id)
    if request.method != "POST":
        return render(request, "logs/search_delete.html", {"search": found})
    searches.delete(search=found, by=Requester.from_request(request))
    messages.success(request, _("Search deleted."))
    return redirect("logs:searches", request.tenant.slug)
