"""Lists of the desk as files."""

from collections.abc import Iterable

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone

from portal.core.files.writing import send, written_down
from portal.core.ui.times import local
from tenants.wording import Said


def respond(
    request: HttpRequest, kind: str, name: str, title: str, lines: Iterable[list[str]], *, summary: Said, guests: int
) -> HttpResponseBase:
    """The file, written down first; 404 for a kind that there is not. `name` begins the file's name, in ASCII."""
    full = f"{request.tenant.slug}-{name}-{local(timezone.now()):%Y%m%d-%H%M}"
    told = {"kind": kind, "guests": guests}
    record = written_down(request, "guests.exported", target="guests", summary=summary, after=told)
    return send(lines, kind=kind, name=full, title=title, record=record)
