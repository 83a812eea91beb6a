"""Decide who may not decide about a right: the person who has it, and people who gave it within the period.

Assigning, deciding, delegating and withdrawing all use this check. An area's period begins with its previous finished
review, and at the latest a year before this review. A person who gave a right may decide again after another person
confirmed it in a finished review. The facts are looked up for many items at once and saved with them, so that lists
need no extra queries. Each decision looks them up again.

A person's own right is found by the account's name, and by the e-mail address of the member's QR code. Rights that were
given directly in the service have no known author.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from portal.domain.mirror.models import Member
from portal.domain.mirror.text_folding import fold
from portal.reviews import access_history, assigning
from portal.reviews.models import Decision, Item, Review, State
from portal.reviews.rights import RightKey
from tenants.models import User

CONFLICT_PERIOD = timedelta(days=365)
# (user ID, time)
Confirmation = tuple[int | None, datetime | None]


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
    given, own = (
        access_history.granted_by(keys, conflict_period_starts(review)),
        _own_rights({member_id for member_id, _area in keys}),
    )
    confirmed = _confirmations(review, {key for key, people in given.items() if people})
    found = {key: ItemConflict() for key in keys}
    for key, people in given.items():
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
    other = []
    for item in items:
        told = found[item.member_id, item.area_id]
        if (item.granted, item.barred) != (told.granted, told.barred):
            item.granted, item.barred = told.granted, told.barred
            item.is_barred = is_barred(item, item.reviewer_id)
            other.append(item)
    Item.objects.bulk_update(other, ["granted", "barred", "is_barred"], batch_size=500)


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
    people = {str(user.pk): (_names(user), user.email.lower()) for user in assigning.reviewers()}
    rows = Member.objects.filter(member_id__in=member_ids).only("tenant", "member_id", "name_key", "has_qr", "qrcode")
    return {member.member_id: [pk for pk, one in people.items() if _is_same_person(member, *one)] for member in rows}


def _is_same_person(member: Member, names: Collection[str], email: str) -> bool:
    code = member.qrcode if member.has_qr else None
    address = str(code.get("email") or "").strip().lower() if isinstance(code, dict) else ""
    return member.name_key in names or (address != "" and address == email)


def _names(user: User) -> set[str]:
    """Return an account's name as it may be in the list of members, also with the words in reverse order."""
    words = user.name.split()
    return {fold("".join(words)), fold("".join(reversed(words)))} - {""}
