"""Parts of a page that update while it is open, without calls to the service.

The page requests them every few seconds and sends the version that it shows (`static/js/live.js`). A view whose version
is the same answers 204 without drawing. A version depends on the part's data, never on the clock. `{% watch %}` sets
how often a part is requested, by INTERVALS; with many pages open, `portal/site/middleware.py` makes all of them slower.
"""

import hashlib
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import get_language

_HEADER = "X-Version"
# Seconds between two requests. `live`: the log as it arrives. `state`: doors, keys and cameras, which every page must
# show within 10 s. `heavy`: parts that must be drawn fully to find out whether they changed.
INTERVALS = {"live": 1.5, "state": 5, "normal": 10, "heavy": 15}


def version_of(*parts: Any) -> str:
    """Return a short text that identifies a part's data in the reader's language."""
    return hashlib.blake2s(repr((get_language(), parts)).encode(), digest_size=9).hexdigest()


def is_poll(request: HttpRequest) -> bool:
    """Return whether a page sent the request automatically."""
    return _HEADER in request.headers


def is_up_to_date(request: HttpRequest, version: str) -> bool:
    """Return whether the page already shows this version."""
    return request.headers.get(_HEADER) == version


def unchanged_response() -> HttpResponse:
    """Return the response for a part that has not changed."""
    return HttpResponse(status=204)


def render_update(request: HttpRequest, version: str, template: str, context: Mapping[str, Any]) -> HttpResponse:
    """Return the updated part of a page, or the response for one that the page already shows."""
    return unchanged_response() if is_up_to_date(request, version) else render(request, template, context)


def page_path(request: HttpRequest) -> str:
    """Return the path of the open page, also for a request for a part of it."""
    if not is_poll(request):
        return request.path
    try:
        return urlsplit(request.headers.get("HX-Current-URL", "")).path
    except ValueError:
        return ""
