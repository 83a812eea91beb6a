"""The question of an access check: person, place and time.

All are in the address, so that a link repeats the question.
"""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.http import Http404
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext as _

from accessapi.limits import JST
from accessapi.permissions import AreaPlace, KeyPlace
from portal.base.ui.times import local, parse_moment
from portal.domain.people import queries
from portal.domain.people.models import Member
from portal.domain.rights.words import PlaceNames, load_place_names
from tenants.access import TenantRequest

MOST_MEMBERS = 12


@dataclass(frozen=True)
class CheckedPlace:
    """An area, or one key of a key box, with its name. `value` identifies it in addresses."""

    value: str
    name: str
    access_place: AreaPlace | KeyPlace

    @property
    def is_key(self) -> bool:
        return isinstance(self.access_place, KeyPlace)

    @property
    def area_id(self) -> str:
        return self.access_place.area_id if isinstance(self.access_place, AreaPlace) else ""


class Question:
    """The question in a request's address. IDs that the tenant does not have lead to 404."""

    def __init__(self, request: TenantRequest) -> None:
        self.request, self.query = request, request.GET
        self.trouble = ""
        self.text = self.query.get("q", "").strip()[:200]

    @cached_property
    def places(self) -> PlaceNames:
        return load_place_names()

    @cached_property
    def member(self) -> Member | None:
        member_id = self.query.get("member", "")
        if not member_id:
            return None
        rows = Member.objects.filter(gone_at__isnull=True).defer("card_data", "qrcode")
        found = rows.filter(member_id=member_id).first()
        if found is None:
            raise Http404
        return found

    @cached_property
    def place(self) -> CheckedPlace | None:
        """Return the place from `place=area:<id>`, `place=key:<unit>:<box>`, `area=<id>` or `box=<id>&unit=<no>`."""
        kind, _colon, identifier = self.query.get("place", "").partition(":")
        if kind == "area" or self.query.get("area"):
            return self._area(identifier or self.query.get("area", ""))
        if kind == "key":
            unit_no, _colon, box = identifier.partition(":")
            return self._key(box, unit_no)
        if self.query.get("box"):
            return self._key(self.query.get("box", ""), self.query.get("unit", ""))
        if kind:
            raise Http404
        return None

    @cached_property
    def chosen_at(self) -> datetime | None:
        """Return the requested moment, None for now. An unreadable one counts as now and sets `trouble`."""
        text = self.query.get("at", "").strip()
        found = parse_moment(text) if text else None
        if text and found is None:
            self.trouble = _("“%(text)s” is not a date and time. Showing the result for now.") % {"text": text[:40]}
        return found

    @cached_property
    def at(self) -> datetime:
        return self.chosen_at or local(timezone.now())

    @property
    def chosen_at_text(self) -> str:
        if self.chosen_at is None:
            return ""
        return f"{self.chosen_at:%Y-%m-%dT%H:%M:%S}" if self.chosen_at.second else f"{self.chosen_at:%Y-%m-%dT%H:%M}"

    @property
    def monday(self) -> date:
        return self.at.astimezone(JST).date() - timedelta(days=self.at.astimezone(JST).weekday())

    @cached_property
    def found_members(self) -> list[Member]:
        """Return the first members that match the typed text, and one more than the page shows."""
        if not self.text or self.member is not None:
            return []
        return list(queries.search_for_reader(self.request.access, self.text)[: MOST_MEMBERS + 1])

    def address(self, view: str = "explain:index", **changes: str | None) -> str:
        """Return the address of this question with some parts changed; None removes a part."""
        place = self.place.value if self.place else ""
        member = self.member.member_id if self.member else ""
        parts: dict[str, Any] = {"member": member, "place": place, "at": self.chosen_at_text} | changes
        query = urlencode({name: value for name, value in parts.items() if value})
        page_url = reverse(view, args=[self.request.tenant.slug])
        return f"{page_url}?{query}" if query else page_url

    @property
    def member_links(self) -> list[tuple[Member, str]]:
        """Return the found members, each with the address that selects them."""
        return [(hit, self.address(member=hit.member_id)) for hit in self.found_members[:MOST_MEMBERS]]

    @property
    def has_more_members(self) -> bool:
        return len(self.found_members) > MOST_MEMBERS

    @property
    def address_without_member(self) -> str:
        return self.address(member=None)

    @property
    def now_address(self) -> str:
        return self.address(at=None)

    def address_at(self, moment: datetime) -> str:
        """Return the address of the same question for another moment."""
        return self.address(at=f"{local(moment):%Y-%m-%dT%H:%M:%S}")

    @property
    def previous_week_url(self) -> str:
        return self.address_at(self.at - timedelta(days=7))

    @property
    def next_week_url(self) -> str:
        return self.address_at(self.at + timedelta(days=7))

    def _area(self, area_id: str) -> CheckedPlace:
        if area_id not in self.places.areas:
            raise Http404
        return CheckedPlace(f"area:{area_id}", self.places.area_name(area_id), AreaPlace(area_id))

    def _key(self, box: str, unit_no: str) -> CheckedPlace:
        found = self.places.boxes.get(box)
        if found is None or unit_no not in found.units:
            raise Http404
        name = _key_name(found.name, unit_no, found.units[unit_no])
        return CheckedPlace(f"key:{unit_no}:{box}", name, KeyPlace(box, unit_no))

    @property
    def place_choices(self) -> list[tuple[str, list[tuple[str, str]]]]:
        """Return the places to choose from: areas, then each key box with its keys."""
        areas = [(f"area:{area_id}", name) for area_id, name in self.places.areas.items()]
        boxes = [
            (box.name, [(f"key:{no}:{box_id}", _key_name(box.name, no, name)) for no, name in box.units.items()])
            for box_id, box in self.places.boxes.items()
        ]
        return [(_("Areas"), areas), *boxes]


def _key_name(box: str, unit_no: str, name: str) -> str:
    values = {"box": box, "unit": unit_no, "name": name}
    return (_("%(box)s, key %(unit)s (%(name)s)") if name else _("%(box)s, key %(unit)s")) % values
