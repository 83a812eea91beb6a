"""When pages that follow ask again: often while few are open, and never so often that other pages wait for them.

Each answer to such a page says after how many seconds it may ask again (`X-Again`, heeded by `static/js/live.js`). A
process counts the pages that are away until their turn, and answers so many of them a second at the most; it knows
nothing of other processes, each of which does the same. The same request tells of the notices above the page, so that
a page asks once, whatever it follows.
"""

import heapq
import random
import threading
import time
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django_htmx.http import trigger_client_event

from portal.core.ui import live_updates
from portal.core.ui.frame import Frame
from tenants.access import in_tenant
from tenants.scope import tenant_scope

_HEADER, _NOTICES = "X-Again", "X-Seen-Banners"
# A process answers so many such requests a second with less than a third of a processor core (`make bench`, `live`).
POLLS_PER_SECOND = 50
_JITTER = 0.1  # of the wait, either way: pages must not move in step


class PollQueue:
    """The pages that are away until their turn, by when they may be back."""

    def __init__(self) -> None:
        self._back: list[float] = []
        self._lock = threading.Lock()

    def next_delay(self, now: float) -> float:
        """The seconds for which one more page may stay away."""
        with self._lock:
            while self._back and self._back[0] <= now:
                heapq.heappop(self._back)
            seconds = max(live_updates.INTERVALS["live"], (len(self._back) + 1) / POLLS_PER_SECOND)
            heapq.heappush(self._back, now + seconds)
        return seconds


poll_queue = PollQueue()


def pace_polls(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Tell pages that ask by themselves when to ask again, and whether the notices above them are still right."""

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
    """Return whether the page shows other notices than there are; False for one that does not say what it shows."""
    shown = request.headers.get(_NOTICES)
    if shown is None or not in_tenant(request):
        return False
    with tenant_scope(request.tenant):
        return shown != Frame(request).banners_version
