"""A tenant's reception desk on its pages: a local copy that was read, a person, and forms as a browser fills them."""

import html
import re
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from portal.domain.events import MirrorKind
from portal.domain.intents.models import Intent
from portal.domain.visits.models import Preset, Visit
from portal.guests.issuing import CodeOrder
from tenants.scope import tenant_scope
from tests.support import cached_places
from tests.support.members import said
from tests.support.places import Place

NAME, UNTIL = "山田 太郎", "+90"


class GuestDesk:
    """A desk and a person at it (by default a receptionist). The service's lists were read, except `unread`."""

    unread: tuple[MirrorKind, ...] = (
        MirrorKind.RIGHTS,
        MirrorKind.GROUPS,
        MirrorKind.PASS_CONTROLLERS,
        MirrorKind.TENANT,
    )

    def __init__(self, place: Place, role: str = "receptionist") -> None:
        self.place = place
        self.url = f"/t/{place.tenant.slug}/guests/"
        cached_places.read(place, unread=self.unread)
        with self.scope():
            # Guests that the service had before this desk was opened.
            self.others = set(Visit.objects.filter(intent__isnull=True).values_list("guest_id", flat=True))
        self.user = place.staff(role)
        self.client = place.client(self.user)

    def scope(self) -> Any:
        return tenant_scope(self.place.tenant)

    def preset(self, name: str = "Visitor", **values: Any) -> Preset:
        with self.scope():
            given = {"minutes": 120, "is_default": not Preset.objects.exists(), **values}
            return Preset.objects.create(tenant=self.place.tenant, name=name, **given)

    def get(self, rest: str = "", **query: Any) -> str:
        answer = self.client.get(self.url + rest, query)
        assert answer.status_code == 200, answer.content
        return str(answer.content.decode())

    def fields(self, rest: str = "new/", action: str = "") -> dict[str, Any]:
        """Return the values that a page's form would send unchanged; the form that posts to `action`, if given."""
        return fields_of(self.get(rest), action)

    def issue(self, fields: dict[str, Any] | None = None, **values: Any) -> Any:
        """Type the walk-in's fields and press Enter; follow the redirect."""
        given = (self.fields() if fields is None else fields) | {"name": NAME, "until": UNTIL} | values
        return self.client.post(self.url + "new/", given, follow=True)

    def issued(self, **values: Any) -> Visit:
        """Issue a code and return the guest's visit."""
        answer = self.issue(**values)
        visit = self.visits()[-1]
        assert visit.guest_id, said(answer)
        return visit

    def act(self, visit: Visit, what: str, **values: Any) -> Any:
        """Press one of the buttons of a guest's page (extend, cut)."""
        page = self.get(f"{visit.guest_id}/")
        given = {name: value for name, value in fields_of(page, f"/{what}/").items() if name != "until"}
        return self.client.post(f"{self.url}{visit.guest_id}/{what}/", given | values, follow=True)

    def edit(self, visit: Visit, **values: Any) -> Any:
        rest = f"{visit.guest_id}/edit/"
        return self.client.post(self.url + rest, self.fields(rest) | values, follow=True)

    def visits(self) -> list[Visit]:
        with self.scope():
            rows = Visit.objects.prefetch_related("intent", "cut_intent", "by", "cut_by", "tenant__environment")
            return list(rows.exclude(guest_id__in=self.others).order_by("pk"))

    def visit(self, visit: Visit) -> Visit:
        return next(each for each in self.visits() if each.pk == visit.pk)

    def intents(self) -> list[Intent]:
        with self.scope():
            return list(Intent.objects.select_related("by", "tenant__environment").order_by("pk"))

    def at_service(self, guest_id: str | None) -> dict[str, Any]:
        """Return the guest as read directly from the service."""
        answer = self.place.sandbox.api("GET", f"/v1/guests/{guest_id}", token=self.place.service.token)
        return dict(answer.json()) if answer.status_code == 200 else {}

    def end_at_service(self, visit: Visit) -> datetime:
        """Return the end of the code's validity at the service."""
        return datetime.fromisoformat(self.at_service(visit.guest_id)["use_date_end"])

    def all_at_service(self) -> list[dict[str, Any]]:
        """Return the guests created since this desk was opened, as the service lists them."""
        query = {"limit": "1000", "fields": "email,use_date_start,use_date_end"}
        answer = self.place.sandbox.api("GET", "/v1/guests", params=query, token=self.place.service.token)
        return [guest for guest in answer.json()["guests"] if guest["guest_id"] not in self.others]

    def fault(self, kind: str, operation: str, **values: Any) -> None:
        self.place.sandbox.fault(kind, operation, self.place.service.tenant_id, **values)

    def calls(self, since: int = 0) -> list[int]:
        """Return the operations that were called at the service, oldest first, after the first `since`."""
        return [int(str(call["operation"])) for call in self.place.calls()][since:]


def order(name: str = NAME, minutes: int = 60, **values: Any) -> CodeOrder:
    """Return an order of a code that is valid from now on for so many minutes."""
    start = timezone.now()
    return CodeOrder(name=name, start=start, end=start + timedelta(minutes=minutes), **values)


def fields_of(page: str, action: str = "") -> dict[str, Any]:
    """Return the values of a page's form, as a browser would send them."""
    forms = re.findall(r"<form[^>]*>.*?</form>", page, re.DOTALL)
    wanted = [form for form in forms if (action in form.partition(">")[0] if action else 'name="nonce"' in form)]
    form = wanted[0]
    found: dict[str, Any] = {}
    for tag in re.findall(r"<input[^>]*>", form):
        name, value = _attribute(tag, "name"), _attribute(tag, "value")
        kind = _attribute(tag, "type") or "text"
        if not name or name == "confirmed" or (kind in ("checkbox", "radio") and not re.search(r"\schecked\b", tag)):
            continue
        if kind == "checkbox":
            found.setdefault(name, []).append(value or "on")
        else:
            found[name] = value
    for name, text in re.findall(r'<textarea[^>]*name="(\w+)"[^>]*>(.*?)</textarea>', form, re.DOTALL):
        found[name] = html.unescape(text).strip()
    found.pop("csrfmiddlewaretoken", None)
    return found


def _attribute(tag: str, name: str) -> str:
    found = re.search(rf'\b{name}="([^"]*)"', tag)
    return html.unescape(found[1]) if found else ""


__all__ = ["NAME", "UNTIL", "GuestDesk", "fields_of", "order", "said"]
