"""Assign items to reviewers, find who may not decide about a right, and say why.

Items are assigned by group, by area, or evenly. All rights of one person go to one reviewer. The rules are saved with
the review, because rights that are loaded later also become items.

The person who has a right may not decide about it, nor may people who gave it within the period. Assigning, deciding,
delegating and withdrawing all use this check. An area's period begins with its previous finished review, and at the
latest a year before this review. A person who gave a right may decide again after another person confirmed it in a
finished review. The facts are looked up for many items at once and saved with them, so that lists need no extra
queries. Each decision looks them up again.

A person's own right is found by the account's name, and by the e-mail address of the member's QR code. Rights that were
given directly in the service have no known author.
"""

import zlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.utils.translation import gettext as _

from portal.base.ui.times import local
from portal.base.ui.value_words import join_sentences, join_values
from portal.domain.people.models import Member
from portal.domain.people.text_folding import fold
from portal.reviews import rights
from portal.reviews.models import Decision, Item, Review, State
from portal.reviews.rights import RightKey
from tenants.models import Staff, User
from tenants.roles import TENANT_ROLES, Permission

Rules = Mapping[str, Any]
CONFLICT_PERIOD = timedelta(days=365)
# (user ID, time)
Confirmation = tuple[int | None, datetime | None]
_MAX_NAMES = 5


def reviewer_of(
    rules: Rules, *, member_id: str, area_id: str, group_id: str, excluded: Collection[str] = ()
) -> int | None:
    """Return the reviewer of an item by the review's rules. Rules for groups come before rules for areas.

    If that person is `excluded`, the next reviewer who may decide gets it. If there is none, it stays with that person.
    """
    named: int | None = rules.get("groups", {}).get(group_id) or rules.get("areas", {}).get(area_id)
    even: list[int] = rules.get("even", [])
    first = zlib.crc32(member_id.encode()) % len(even) if even else 0
    turn = [*([named] if named is not None else []), *even[first:], *even[:first]]
    return next((who for who in turn if str(who) not in excluded), turn[0] if turn else None)


def reviewers() -> list[User]:
    """Return the staff who may decide in reviews, by name."""
    may = [role.name for role in TENANT_ROLES if Permission.REVIEWS_DECIDE in role.permissions]
    staff = Staff.objects.filter(role__in=may, is_active=True, user__is_active=True).select_related("user")
    return sorted((each.user for each in staff), key=str)


@dataclass
class ItemConflict:
    """The values of `granted` and `barred` that an item saves."""

    granted: list[list[int | str]] = field(default_factory=list)
    barred: dict[str, str] = field(default_factory=dict)


def is_barred(item: Item, user_id: int | None) -> bool:
    """Check whether this person may not decide about an item, by its saved values."""
    return str(user_id) in item.barred


def conflict_period_starts(review: Review) -> dict[str, datetime]:
    """Return the start of each area's period. Rights that were given after it count."""
    year, found = review.started_at - CONFLICT_PERIOD, dict[str, datetime]()
    ended = Review.objects.filter(state=State.FINISHED, ended_at__lt=review.started_at).order_by("-ended_at", "-pk")
    for areas, started_at in ended.values_list("areas", "started_at"):
        for area in areas:
            found.setdefault(area["id"], min(started_at, year))
    return {area_id: found.get(area_id, year) for area_id in review.area_names}


def find_conflicts(review: Review, keys: Collection[RightKey]) -> dict[RightKey, ItemConflict]:
    """Return who gave each right within the period, and who may not decide about it."""
    granters, own = (
        rights.granted_by(keys, conflict_period_starts(review)),
        _own_rights({member_id for member_id, _area in keys}),
    )
    confirmed = _confirmations(review, {key for key, people in granters.items() if people})
    found = {key: ItemConflict() for key in keys}
    for key, people in granters.items():
        newest = sorted(people.items(), key=lambda one: one[1], reverse=True)
        found[key].granted = [[who, at.isoformat()] for who, at in newest]
        since = confirmed.get(key, ())
        found[key].barred = {
            str(who): at.isoformat() for who, at in newest if not _is_confirmed_by_other(who, at, since)
        }
    for key in keys:
        found[key].barred |= dict.fromkeys(own.get(key[0], ()), "")
    return found


def recheck_conflicts(review: Review, items: Sequence[Item]) -> None:
    """Look up again who may not decide about these items, and save it. Call it within a transaction."""
    found = find_conflicts(review, {(item.member_id, item.area_id) for item in items}) if items else {}
    changed = []
    for item in items:
        conflict = found[item.member_id, item.area_id]
        if (item.granted, item.barred) != (conflict.granted, conflict.barred):
            item.granted, item.barred = conflict.granted, conflict.barred
            item.is_barred = is_barred(item, item.reviewer_id)
            changed.append(item)
    Item.objects.bulk_update(changed, ["granted", "barred", "is_barred"], batch_size=500)


def decidable(review: Review, items: Sequence[Item], user: User) -> list[Item]:
    """Return the items that this person may decide, looked up again. Call it within a transaction."""
    recheck_conflicts(review, items)
    return [item for item in items if not is_barred(item, user.pk)]


def _is_confirmed_by_other(who: int, at: datetime, confirmed: Iterable[Confirmation]) -> bool:
    """Check whether another person confirmed the right after this person gave it."""
    return any(by != who and then is not None and then > at for by, then in confirmed)


def _confirmations(review: Review, keys: Collection[RightKey]) -> Mapping[RightKey, list[Confirmation]]:
    """Return who confirmed these rights in finished reviews, and when."""
    found: dict[RightKey, list[Confirmation]] = defaultdict(list)
    members, areas = {member_id for member_id, _area in keys}, {area_id for _member, area_id in keys}
    rows = Item.objects.filter(review__state=State.FINISHED, member_id__in=members, area_id__in=areas)
    rows = rows.filter(decision=Decision.CONFIRM, is_open=False, decided_at__isnull=False).exclude(review=review)
    for member_id, area_id, by, at in rows.values_list("member_id", "area_id", "decided_by", "decided_at"):
        found[member_id, area_id].append((by, at))
    return found


def _own_rights(member_ids: Collection[str]) -> Mapping[str, list[str]]:
    """Return the IDs of reviewers who are probably the same person as each of these members."""
    people = {str(user.pk): (_names(user), user.email.lower()) for user in reviewers()}
    rows = Member.objects.filter(member_id__in=member_ids).only(
        "tenant", "member_id", "member_name", "has_qr", "qrcode"
    )
    return {member.member_id: [pk for pk, one in people.items() if _is_same_person(member, *one)] for member in rows}


def _is_same_person(member: Member, names: Collection[str], email: str) -> bool:
    code = member.qrcode if member.has_qr else None
    address = str(code.get("email") or "").strip().lower() if isinstance(code, dict) else ""
    return fold(member.member_name) in names or (address != "" and address == email)


def _names(user: User) -> set[str]:
    """Return an account's name as it may be in the list of members, also with the words in reverse order."""
    words = user.name.split()
    return {fold("".join(words)), fold("".join(reversed(words)))} - {""}


def add_granters(rows: Sequence[Item]) -> None:
    """Set on items who gave the right and when (`given`), and who can decide instead (`deciders`)."""
    people = User.objects.in_bulk({who for row in rows for who, _at in row.granted})
    deciders = reviewers() if any(row.barred for row in rows) else []
    for row in rows:
        vars(row)["given"] = [(people[who], datetime.fromisoformat(at)) for who, at in row.granted if who in people]
        vars(row)["deciders"] = [str(user) for user in deciders if not is_barred(row, user.pk)]


def barred_reviewer_text(row: Any) -> str:
    """Return the text for the reviewer about why they may not decide; empty if they may."""
    return " ".join(barred_reviewer_texts(row))


def barred_reviewer_texts(row: Any) -> tuple[str, ...]:
    """Return the same as two sentences: the reason, and who can decide."""
    if not is_barred(row, row.reviewer_id):
        return ()
    return _barred_text(row.barred[str(row.reviewer_id)]), _deciders_text(row.deciders)


def barred_manager_text(row: Any) -> str:
    """Return the same text for the review's manager."""
    if not is_barred(row, row.reviewer_id):
        return ""
    granted_at, who = row.barred[str(row.reviewer_id)], row.reviewer
    if granted_at:
        values = {"who": who, "day": _day_text(granted_at)}
        text = _("%(who)s granted this access on %(day)s and cannot decide. Assign another reviewer.") % values
    else:
        text = _("%(who)s cannot decide about their own access. Assign another reviewer.") % {"who": who}
    return join_sentences([text, _deciders_text(row.deciders)])


def _barred_text(granted_at: str) -> str:
    if granted_at:
        return _("You granted this access on %(day)s. Another reviewer decides.") % {"day": _day_text(granted_at)}
    return _("This is your own access, by your name or e-mail address. Another reviewer decides.")


def _deciders_text(deciders: Sequence[str]) -> str:
    if not deciders:
        return _("There is no other reviewer. An owner can invite one.")
    return _("Reviewers who can decide: %(names)s") % {
        "names": join_values([*deciders[:_MAX_NAMES], *["…"][: len(deciders) > _MAX_NAMES]])
    }


def _day_text(at: str) -> str:
    return local(datetime.fromisoformat(at)).date().isoformat()
