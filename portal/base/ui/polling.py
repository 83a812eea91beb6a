"""Set how often open pages poll: often while few are open, and never so often that other pages wait for them.

Each response to such a page has the seconds until its next request (`X-Again`, read by `static/js/live.js`). Each
process counts the pages that wait for their next request, and allows only a limited number of requests a second. The
response also reports whether the banners changed, so that a page sends one request for all.
"""

import heapq
import random
import threading
import time
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django_htmx.http import trigger_client_event

from portal.base.ui import live_updates
from portal.base.ui.frame import Frame
from tenants.access import in_tenant
from tenants.scope import tenant_scope

_HEADER, _NOTICES = "X-Again", "X-Seen-Banners"
# One process answers this many polls a second with less than a third of a processor core (`make bench`, `live`).
POLLS_PER_SECOND = 50
_JITTER = 0.1  # share of the delay, longer or shorter, so that pages do not poll at the same time


class PollQueue:
    """The times until which pages wait for their next request."""

    def __init__(self) -> None:
        self._back: list[float] = []
        self._lock = threading.Lock()

    def next_delay(self, now: float) -> float:
        """Return the seconds until the next request of one more page."""
        with self._lock:
            while self._back and self._back[0] <= now:
                heapq.heappop(self._back)
            seconds = max(live_updates.INTERVALS["live"], (len(self._back) + 1) / POLLS_PER_SECOND)
            heapq.heappush(self._back, now + seconds)
        return seconds


poll_queue = PollQueue()


def pace_polls(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Set the delay until the next poll, and report changed banners, in responses to polling pages."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if live_updates.is_poll(request):
            seconds = poll_queue.next_delay(time.monotonic()) * random.uniform(1 - _JITTER, 1 + _JITTER)  # noqa: S311 - no secret
            response[_HEADER] = f"{seconds:.2f}"
            if response.status_code in (200, 204) and _has_other_banners(request):
                trigger_client_event(response, "banners-changed")
        return response

    return middleware


def _has_other_banners(request: HttpRequest) -> bool:
    """Return whether the page shows outdated banners; False for one that does not report what it shows."""
    shown = request.headers.get(_NOTICES)
    if shown is None or not in_tenant(request):
        return False
    with tenant_scope(request.tenant):
        return shown != Frame(request).banners_version
