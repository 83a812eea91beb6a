"""A tenant with data in most areas, and walking all of its pages by their links."""

import re
import uuid
from collections import deque
from collections.abc import Callable
from typing import Any

from django.test import Client
from django.urls import Resolver404, resolve
from django.utils import timezone

from portal.domain.people.models import Guest
from portal.domain.places.models import PassController
from portal.domain.visits.models import Visit
from tenants.scope import tenant_scope
from tests.receptionist.test_roll_call import listed, press, send, start
from tests.support import evidence
from tests.support.effort import SOAK
from tests.support.keys import key_box, reads, tells
from tests.support.places import Place
from tests.support.reviews import ReviewsDesk

_MOST = 200 if SOAK else 80


def furnish(make: Callable[..., Place]) -> Place:
    """Fill a new tenant with data in most areas. A soak draws more people, so that some pass a door with a camera."""
    place = make(members=30 if SOAK else 5)
    desk, owner, now = ReviewsDesk(place), place.client(), timezone.now()
    desk.start()
    evidence.opened(place, owner)
    with tenant_scope(place.tenant):
        PassController.objects.get_or_create(device_id="D-9", defaults={"device_name": "倉庫 入口"})
        hours = {"use_date_start": now, "use_date_end": now, "name_key": "rossi", "guest_name": "Rossi"}
        Guest.objects.create(guest_id="g-1", **hours)
        Visit.objects.create(guest_id="g-1", stage="issued", arrived_at=now, arrived_by="desk", **hours)
    key_box(place)
    reads(place, u01="returned")
    tells(place, content="Key taken", at=now, history_id="taken", unit="01", who="m-1")
    at = start(place, owner)
    send(owner, at, press(listed(place, "Rossi")))
    owner.post(f"/t/{place.tenant.slug}/roll-call/start/", {"name": "Drill", "nonce": uuid.uuid4()})
    return place


def pages_of(client: Client, start: str) -> dict[str, int]:
    """Return every page that links lead to, with its status; of similar pages only two."""
    found: dict[str, int] = {}
    kinds: dict[str, int] = {}
    waiting = deque([start])
    while waiting and len(found) < _MOST:
        path = waiting.popleft()
        kind = _kind(path)
        if path in found or kinds.setdefault(kind, 0) >= 2:
            continue
        kinds[kind] += 1
        found[path], text = read(client, path)
        links = re.findall(r'(?:href|hx-get|data-href)="([^"#]*)"', text)
        waiting += [each for each in links if each.startswith(start) and each.count("=") == 0]
    return found


def _kind(path: str) -> str:
    try:
        return str(resolve(path.partition("?")[0]).route)
    except Resolver404:
        return path


def read(client: Client, path: str) -> tuple[int, str]:
    """Return the status and the text of a page, exports included."""
    answer: Any = client.get(path)
    if answer.status_code >= 500 and answer.exc_info:
        return answer.status_code, repr(answer.exc_info[1])
    if answer.streaming:
        return answer.status_code, b"".join(answer.streaming_content).decode(errors="replace")
    return answer.status_code, answer.content.decode(errors="replace")
