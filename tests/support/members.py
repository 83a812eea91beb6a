"""A tenant's members on the pages: a local copy that was read, a signed-in person, forms as a browser fills them."""

import html
import re
from typing import Any

from portal.base.timers.clock import database_now
from portal.domain.events import MirrorKind
from portal.domain.intents import tracking
from portal.domain.intents.models import Intent, State
from portal.domain.people.models import Group, Member
from tenants.scope import tenant_scope
from tests.support import cached_places
from tests.support.places import Place


class MembersDesk:
    """A tenant and a person at its pages. The service's lists were read, except `unread`."""

    unread: tuple[MirrorKind, ...] = (MirrorKind.RIGHTS, MirrorKind.GUESTS, MirrorKind.HISTORIES)

    def __init__(self, place: Place, role: str = "facility manager") -> None:
        self.place = place
        self.url = f"/t/{place.tenant.slug}/members/"
        cached_places.read(place, unread=self.unread)
        with self.scope():
            self.user = place.staff(role)
        self.client = place.client(self.user)

    def scope(self) -> Any:
        return tenant_scope(self.place.tenant)

    @property
    def group(self) -> Group:
        with self.scope():
            return Group.objects.order_by("pk")[0]

    def members(self) -> list[Member]:
        with self.scope():
            return list(Member.objects.filter(gone_at__isnull=True).order_by("name_key"))

    def get(self, rest: str = "", **query: Any) -> str:
        answer = self.client.get(self.url + rest, query)
        assert answer.status_code == 200, answer.content
        return answer.content.decode()

    def names(self, **query: Any) -> list[str]:
        """Return the names in the list, in its order."""
        found = re.findall(r'<a class="row-link" href="[^"]*">([^<]*)</a>', self.get(**query))
        return [html.unescape(name) for name in found]

    def fields(self, rest: str) -> dict[str, str]:
        """Return the values that the form of a page would send unchanged."""
        page = self.get(rest)
        form = page[page.index('<form class="form') :]
        text = r'<input type="(?:hidden|text|email|number|datetime-local)" name="(\w+)" value="([^"]*)"'
        found = dict(re.findall(text, form))
        found |= dict(re.findall(r'<input type="radio" name="(\w+)" value="([^"]*)"[^>]*\schecked', form))
        found |= dict.fromkeys(re.findall(r'<input type="checkbox" name="(\w+)"[^>]*\schecked', form), "on")
        picked = re.search(r'<option value="([^"]*)" selected', form)
        found |= {"membergroup_id": picked[1]} if picked else {}
        return {name: html.unescape(value) for name, value in found.items()}

    def send(self, rest: str, fields: dict[str, str] | None = None, **values: Any) -> Any:
        """POST a page's form with these values changed; follow the redirect."""
        given = (self.fields(rest) if fields is None else fields) | values
        return self.client.post(self.url + rest, given, follow=True)

    def at_service(self, member_id: str) -> dict[str, Any]:
        """Return the member as read directly from the service."""
        token = self.place.service.token
        return dict(self.place.sandbox.api("GET", f"/v1/members/{member_id}", token=token).json())

    def intent(self) -> Intent:
        with self.scope():
            return Intent.objects.order_by("-pk")[0]


def later(desk: MembersDesk, seconds: int = 5) -> None:
    """Let time pass at the service, and let the portal follow its requests."""
    desk.place.sandbox.move_clock(desk.place.service.tenant_id, seconds=seconds)
    with desk.scope():
        for intent in Intent.objects.filter(state=State.ACCEPTED):
            Intent.objects.filter(pk=intent.pk).update(due_at=database_now())
            tracking.poll(intent)


def tight(page: str) -> str:
    """Return the page without the spaces at the edges of its elements, which come from the template."""
    return re.sub(r"\s+(?=<)|(?<=>)\s+", "", page)


def said(answer: Any) -> str:
    """Return a page's words without tags, as a person reads them: see `as_read`."""
    without_icons = re.sub(r"(?s)<svg.*?</svg>", "", answer.content.decode())
    return as_read(html.unescape(re.sub(r"<[^>]+>", " ", without_icons)))


def as_read(words: str) -> str:
    """Return words with one space between them: half of the Japanese names contain a wide one."""
    return " ".join(words.split())
