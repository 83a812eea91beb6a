"""/console/t/<tenant_id>/mails/<number>/: one mail as its recipient would see it, with a code that can be scanned."""

import segno
from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString, mark_safe

from sandbox.service.models import Mail

from . import words
from .base import PageMissing, console_page, render, tenant_of


@console_page
def mail(request: HttpRequest, tenant_id: str, number: int) -> HttpResponse:
    """Return the page of one mail (GET)."""
    tenant = tenant_of(tenant_id)
    found = Mail.objects.filter(tenant=tenant, pk=number).first()
    if found is None:
        raise PageMissing
    return render(
        request,
        "mail",
        {"tenant": tenant, "mail": found, "code": _draw_code(found.qr_data, words.words_for(request)["kinds"]["qr"])},
    )


def _draw_code(data: str, title: str) -> SafeString:
    """Return the code as a picture; empty if no code can hold the data."""
    try:
        code = segno.make(data, micro=False)
    except (segno.DataOverflowError, ValueError):
        return SafeString()
    drawn = code.svg_inline(light="white", svgclass=None, lineclass=None, omitsize=True, title=title)
    return mark_safe(drawn)  # noqa: S308 - drawn here, without the data as text
