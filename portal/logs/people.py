"""Find the people and places of log records, as far as the reader may see them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.http import Http404

from portal.base.ui import command_palette
from portal.base.ui.command_palette import Hit
from portal.base.ui.tables.filters import ListAddress
from portal.base.ui.times import local
from portal.base.ui.url_lookup import url_in_tenant
from portal.domain.log import visibility
from portal.domain.mirror import member_search
from portal.domain.mirror.models import History, KeyBox, Member, PassController
from portal.domain.visits.models import Visit
from portal.domain.visits.queries import find_by_guest_name
from tenants.access import Access
from tenants.roles import Permission


@dataclass(frozen=True)
class NamedSubject:
    """A person or device with a name. `href` is its page; empty if the reader has no access to one.

    `kind` is `member`, `guest`, `door`, `key_box` or empty.
    """

    id: str
    name: str
    href: str = ""
    kind: str = ""

    def __str__(self) -> str:
        return self.name or self.id


def person_of(access: Access, member_id: str, name: str = "") -> NamedSubject:
    """Return the person with this ID: a known member or guest, else the name in the log."""
    slug = access.tenant.slug
    if access.can(Permission.MEMBERS_VIEW):
        member = Member.objects.filter(member_id=member_id).only("tenant_id", "member_name").first()
        if member is not None:
            return NamedSubject(member_id, member.member_name, url_in_tenant("members:page", slug, member_id), "member")
    if access.can(Permission.GUESTS_VIEW):
        visit = Visit.objects.filter(guest_id=member_id, erased_at__isnull=True).only("tenant_id", "guest_name").first()
        if visit is not None:
            return NamedSubject(member_id, visit.guest_name, url_in_tenant("guests:guest", slug, member_id), "guest")
    return NamedSubject(member_id, name)


def place_of(access: Access, device_id: str, name: str = "") -> NamedSubject:
    """Return the door or key box with its present name, else the name in the log."""
    slug, may = access.tenant.slug, access.can(Permission.DEVICES_VIEW)
    door = PassController.objects.filter(device_id=device_id).only("tenant_id", "device_name").first()
    if door is not None:
        return NamedSubject(
            device_id, door.device_name, url_in_tenant("devices:door", slug, device_id) if may else "", "door"
        )
    box = KeyBox.objects.filter(key_device_id=device_id).only("tenant_id", "key_device_name").first()
    if box is not None:
        href = url_in_tenant("keys:box", slug, device_id) if may else ""
        return NamedSubject(device_id, box.key_device_name, href, "key_box")
    return NamedSubject(device_id, name)


def person_or_404(access: Access, member_id: str, seen: Sequence[History]) -> NamedSubject:
    """Return the person of a page, with `seen` as their records. Raises Http404 if nothing is known about the ID."""
    found = person_of(access, member_id, seen[0].member_name if seen else "")
    if found.kind or seen:
        return found
    told = visibility.visible_records(access).filter(member_id=member_id).exclude(member_id="").order_by("-at", "-pk")
    name = told.values_list("member_name", flat=True).first()
    if name is None:
        raise Http404
    return NamedSubject(member_id, name)


def place_or_404(access: Access, device_id: str) -> NamedSubject:
    """Return the door or key box of a page. Raises Http404 if nothing is known about the ID."""
    found = place_of(access, device_id)
    if found.kind:
        return found
    told = visibility.visible_records(access).filter(device_id=device_id).exclude(device_id="").order_by("-at", "-pk")
    name = told.values_list("device_name", flat=True).first()
    if name is None:
        raise Http404
    return NamedSubject(device_id, name)


@dataclass(frozen=True)
class PeopleFound:
    """The people that match a text: members, then guests. Each links to the log of this person."""

    hits: list[Hit]
    has_more: bool


def find_people(access: Access, text: str, asked: ListAddress) -> PeopleFound:
    """Return the first people whose name or code matches, as far as the reader may see them.

    Each links to the list `asked`, filtered by this person.
    """
    hits, has_more = [], False
    for people in (_find_members(access, text), _find_guests(access, text)):
        first = list(people)
        has_more |= len(first) > command_palette.MAX_HITS
        for key, name, icon, hint in first[: command_palette.MAX_HITS]:
            hits.append(Hit(name, asked.with_(person=key, find=None), icon, hint))
    return PeopleFound(hits, has_more)


FoundPerson = tuple[str, str, str, str]  # ID, name, icon, and a text that distinguishes people with the same name


def _find_members(access: Access, text: str) -> Iterator[FoundPerson]:
    if not text or not access.can(Permission.MEMBERS_VIEW):
        return
    for each in member_search.search_for_reader(access, text)[: command_palette.MAX_HITS + 1]:
        hint = " · ".join(filter(None, (each.member_code, each.membergroup_name)))
        yield each.member_id, each.member_name or each.member_id, "user", hint


def _find_guests(access: Access, text: str) -> Iterator[FoundPerson]:
    if not access.can(Permission.GUESTS_VIEW):
        return
    rows = (
        find_by_guest_name(text)
        .exclude(guest_id=None)
        .only("tenant_id", "guest_id", "guest_name", "company", "use_date_start")
    )
    for each in rows[: command_palette.MAX_HITS + 1]:
        hint = " · ".join(filter(None, (each.company, f"{local(each.use_date_start):%Y-%m-%d}")))
        yield str(each.guest_id), str(each), "qrcode", hint
