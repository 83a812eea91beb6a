"""Views of an incident's exports: request, download after proof of identity, and the program that checks them."""

from pathlib import Path

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from portal.base.ui.url_lookup import get_row_or_404
from portal.domain.intents.recording import Requester
from portal.evidence import actions, store
from portal.evidence.views import apply, incident_or_404
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission


@tenant_view(Permission.EVIDENCE_MAKE, methods=["POST"])
def request_export(request: TenantRequest, number: int) -> HttpResponseBase:
    found = incident_or_404(number)
    return apply(request, found, lambda: actions.request_export(incident=found, by=Requester.from_request(request)))


@tenant_view(Permission.EVIDENCE_MAKE, is_file=True)
def download(request: TenantRequest, number: int, pk: int) -> HttpResponseBase:
    """Return the file of a signed export."""
    found = incident_or_404(number)
    export = get_row_or_404(found.exports.select_related("file", "incident"), pk=pk)
    if export.file is None:
        raise Http404
    actions.record_download(export=export, by=Requester.from_request(request))
    return store.download_response(request, export.file, f"incident-{found.number}-{export.pk}.zip")


@login_not_required
def check_program(request: HttpRequest) -> HttpResponse:
    """Return the program that checks an export without the portal."""
    program = Path(__file__).with_name("check_export.py").read_bytes()
    answer = HttpResponse(program, content_type="text/x-python; charset=utf-8")
    answer["Content-Disposition"] = 'attachment; filename="check_export.py"'
    return answer
