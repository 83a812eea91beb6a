"""Replace the rights of many members: the rows to load first, and the check before each is sent."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from portal.base.ui.value_words import join_groups
from portal.domain.jobs.kinds import AlreadyApplied, FieldChange, RowDecision, Send, Skip
from portal.domain.jobs.models import Job, Row
from portal.domain.people.member_fields import MEMBER
from portal.domain.people.models import Member
from portal.domain.rights import words

# Rights that were loaded within this time are taken as current.
FRESH_FOR = timedelta(minutes=15)


def rows_to_read(job: Job, rows: Sequence[Row]) -> set[int]:
    """Return the rows whose member's rights are unknown, or were loaded too long ago."""
    known = Member.objects.filter(
        member_id__in=[row.member_id for row in rows],
        rights_read_at__gte=timezone.now() - FRESH_FOR,
        rights__isnull=False,
    )
    fresh = set(known.values_list("member_id", flat=True))
    gone = Member.objects.filter(member_id__in=[row.member_id for row in rows], gone_at__isnull=False)
    fresh |= set(gone.values_list("member_id", flat=True))
    return {row.pk for row in rows if row.member_id not in fresh}


def check_again(job: Job, rows: Sequence[Row]) -> Mapping[int, RowDecision]:
    """Send rows whose rights have not changed since the preview or were unknown then; skip the others with a reason."""
    found = Member.objects.filter(member_id__in=[row.member_id for row in rows]).only("member_id", "rights", "gone_at")
    members = {member.member_id: member for member in found}
    return {row.pk: _decide(row, members.get(row.member_id)) for row in rows}


def current_parts(member: Member, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the member's current values of the parts in `body`; empty if they are unknown."""
    return {} if member.rights is None else {name: member.rights.get(name) or {} for name in body}


def is_same(member: Member, body: Mapping[str, Any]) -> bool:
    """Return True if it is certain that sending `body` would change nothing."""
    now = current_parts(member, body)
    return bool(now) and all(MEMBER.is_same(name, value, now[name]) for name, value in body.items())


def _decide(row: Row, member: Member | None) -> RowDecision:
    if member is None or member.gone_at is not None:
        return Skip("gone")
    if member.rights is None:
        return Skip("unreadable")
    body, before, now = row.content["body"], row.content["old"], current_parts(member, row.content["body"])
    if is_same(member, body):
        return AlreadyApplied()
    changed = [name for name, value in before.items() if not MEMBER.is_same(name, value, now[name])]
    return Skip("meanwhile", field=changed[0]) if changed else Send(body, now)


def describe_changes(row: Row) -> list[FieldChange]:
    """Return old and new rights in words; "not loaded yet" for unknown ones."""
    content, known = row.content, place_names(row.job)
    changes = []
    for name, value in content["body"].items():
        had = content["old"].get(name)
        before = _("not loaded yet") if had is None else _rights_text(name, had, known)
        changes.append((MEMBER.label_of(name), before, _rights_text(name, value, known)))
    return changes


def _rights_text(name: str, rights: Any, known: words.PlaceNames) -> str:
    lines = words.device_lines(rights or {}, known) if name == "devices_pass" else words.key_lines(rights or {}, known)
    return join_groups(words.group_by_time(lines))


def place_names(job: Job) -> words.PlaceNames:
    """Return the names of areas and keys, loaded once for all rows of a page."""
    found: words.PlaceNames | None = job.__dict__.get("_places")
    if found is None:
        found = job.__dict__["_places"] = words.load_place_names()
    return found
