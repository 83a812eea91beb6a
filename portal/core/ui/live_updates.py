"""Parts of a page that follow what is known while somebody looks at them, at no call to the service.

The page asks again every few seconds and sends along the mark of what it shows (`static/js/live.js`); a view that would
draw the same answers 204 before it draws anything. A mark is made of what the part is drawn from, never of the clock.
How often a part asks is one of SECONDS, said by `{% watch %}`; with many pages open, `polling.py` has them all ask
less.
"""

import hashlib
from typing import Any
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse
from django.utils.translation import get_language

_HEADER = "X-Seen"
# Seconds between two looks: `live` shows the log as it arrives, `state` what must be on every page 10 s after it could
# be known (doors, keys, cameras), `heavy` is drawn whole to know whether it changed.
INTERVALS = {"live": 1.5, "state": 5, "calm": 10, "heavy": 15}


def version_of(*parts: Any) -> str:
    """A short name for what a part of a page is drawn from, in the reader's language."""
    return hashlib.blake2s(repr((get_language(), parts)).encode(), digest_size=9).hexdigest()


def is_poll(request: HttpRequest) -> bool:
    """Whether a page asks by itself, not a person."""
    return _HEADER in request.headers


def is_up_to_date(request: HttpRequest, version: str) -> bool:
    """Whether the page that asks shows just this already."""
    return request.headers.get(_HEADER) == version


def unchanged_response() -> HttpResponse:
    """Leave the page as it is."""
    return HttpResponse(status=204)


def page_path(request: HttpRequest) -> str:
    """The path of the page that a person looks at, also while the page asks for a part of itself."""
    if not is_poll(request):
        return request.path
    try:
        return urlsplit(request.headers.get("HX-Current-URL", "")).path
    except ValueError:
        return ""
