"""The people of a building for its page: found by a search, with their credentials."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sandbox.console.pages.words import Words
from sandbox.engine import recognition, totp
from sandbox.service.models import Guest, Member, Tenant

#: The number of members, and of guests, in a search's result.
MAX_FOUND = 5
_KINDS = {"card": "card", "qr": "qr", "one_time": "code", "face": "face"}


@dataclass(frozen=True)
class ShownCredential:
    """One credential to show to a device. `value` is what the device reads, `text` what a person sees."""

    kind: str
    value: str
    icon: str
    word: str
    text: str


def find(tenant: Tenant, identifier: str) -> Member | Guest | None:
    """Return the member or guest with this identifier."""
    if not identifier:
        return None
    member = Member.objects.select_related("group").filter(tenant=tenant, member_id=identifier).first()
    return member or Guest.objects.select_related("tenant").filter(tenant=tenant, guest_id=identifier).first()


def search(tenant: Tenant, text: str) -> list[dict[str, Any]]:
    """Return the first people with `text` in their name, code or card."""
    return [describe(row) for row in recognition.search(tenant, text, MAX_FOUND)]


def describe(row: Member | Guest) -> dict[str, Any]:
    """Return a person's name, identifier, and details that distinguish people of the same name."""
    person = recognition.Person(row, "", "")
    start, end = person.period
    return {
        "id": person.identifier,
        "name": person.name,
        "is_guest": isinstance(row, Guest),
        "code": row.listed.get("member_code", "") if isinstance(row, Member) else "",
        "group": row.group.name if isinstance(row, Member) else "",
        "start": start,
        "end": end,
    }


def credentials_of(row: Member | Guest, at: datetime, words: Words) -> list[ShownCredential]:
    """Return this person's credentials at `at`; a one-time code is that of this time."""
    pairs = [("qr", row.qr_data)] if isinstance(row, Guest) else recognition.credentials(row, at)
    return [
        ShownCredential(kind, value, _KINDS[kind], words["kinds"][kind], _credential_text(row, kind, value, at, words))
        for kind, value in pairs
    ]


def _credential_text(row: Member | Guest, kind: str, value: str, at: datetime, words: Words) -> str:
    if kind == "face":
        return ""
    if kind != "one_time" or not isinstance(row, Member):
        return value
    ways = row.detail.get("qrcode", {}).get("one_time_qr", {})
    read = totp.read_qr_text(value)
    left = totp.seconds_left(at, ways.get("timestep", 300))
    text: str = words["code_good_for"].format(code=read[1] if read else value, seconds=left)
    return text
