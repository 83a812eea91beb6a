"""What a change would do to each of the chosen members: the body to send, the former values, or why it is left out.

Pure but for reading the mirror. Moments are aware, and written as the service takes them (+09:00).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from accessapi.resources import write_moment
from portal.bulk.models import Row
from portal.bulk.states import Action, RowState
from portal.changes.rightsets import normal
from portal.mirror.models import UNREADABLE, Member

Body = dict[str, Any]
# What one member would get: a body with the values it replaces, or the word for being left out.
Outcome = tuple[Body, Body] | str
# The last year that the mirror's clock can hold.
_LAST_YEAR = 9998


@dataclass
class Plan:
    """Rows for `jobs.open`, and how many of the chosen are left out, by reason."""

    rows: list[tuple[str, Body, Body]] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, members: Iterable[Member], decide: Callable[[Member], Outcome]) -> "Plan":
        plan = cls()
        for member in members:
            outcome = decide(member)
            if isinstance(outcome, str):
                plan.left_out[outcome] += 1
            else:
                plan.rows.append((member.member_id, *outcome))
        return plan


@dataclass(frozen=True)
class Former:
    """The end of use that a suspension set, and the one from before it."""

    ours: datetime
    end: datetime | None


def suspend(at: datetime) -> Callable[[Member], Outcome]:
    """End the use at a moment. Whoever begins later ends when they would begin; whoever has ended is left out."""

    def decide(member: Member) -> Outcome:
        if member.use_end_key == UNREADABLE:
            return "unreadable"
        if member.use_date_end is not None and member.use_date_end <= at:
            return "ended"
        return _end(member, max(at, member.use_date_start or at))

    return decide


def resume(how: str, former: Mapping[str, Former], now: datetime) -> Callable[[Member], Outcome]:
    """Give the use back: `how` is "former" (the end from before the suspension, where it is known) or "none"."""

    def decide(member: Member) -> Outcome:
        if how == "none":
            return _without_end(member, now)
        known = former.get(member.member_id)
        if known is None or known.ours != member.use_date_end:
            return "no_former"
        end = known.end
        if end is not None and end <= now:
            return "former_over"
        return "same" if end == member.use_date_end else _end(member, end)

    return decide


def _without_end(member: Member, now: datetime) -> Outcome:
    """Whoever's use goes on keeps its end: to resume is not to give somebody more than they had."""
    if member.use_end_key == UNREADABLE:
        return "unreadable"
    if member.use_date_end is None:
        return "same"
    return "goes_on" if member.use_date_end > now else _end(member, None)


def extend_to(end: datetime) -> Callable[[Member], Outcome]:
    """Let the use end at one moment for all."""

    def decide(member: Member) -> Outcome:
        if member.use_date_start is not None and member.use_date_start > end:
            return "begins_later"
        if member.use_date_end is not None and member.use_date_end > end:
            return "ends_later"
        return "same" if member.use_date_end == end else _end(member, end)

    return decide


def extend_by(days: int) -> Callable[[Member], Outcome]:
    """Let each one's use end so many days later than it would."""

    def decide(member: Member) -> Outcome:
        if member.use_end_key == UNREADABLE:
            return "unreadable"
        if member.use_date_end is None:
            return "never_ends"
        if member.use_date_end.year + days // 365 + 1 > _LAST_YEAR:
            return "unreadable"
        return _end(member, member.use_date_end + timedelta(days=days))

    return decide


def move(membergroup_id: str) -> Callable[[Member], Outcome]:
    """Put members into a group."""

    def decide(member: Member) -> Outcome:
        if member.membergroup_id == membergroup_id:
            return "same"
        return {"membergroup_id": membergroup_id}, {"membergroup_id": member.membergroup_id}

    return decide


def rights(body: Mapping[str, Any]) -> Callable[[Member], Outcome]:
    """Give everybody these rights. Former ones that are not known are found out before anything is sent."""

    def decide(member: Member) -> Outcome:
        known = member.rights
        old = {} if known is None else {name: known.get(name) or {} for name in body}
        if known is not None and all(normal(name, old[name]) == normal(name, value) for name, value in body.items()):
            return "same"
        return dict(body), old

    return decide


def delete(member: Member) -> Outcome:
    """Delete whoever still is who was looked at."""
    return {}, {
        "member_name": member.member_name,
        "member_code": member.member_code,
        "membergroup_id": member.membergroup_id,
        "use_date_end": _written(member.use_date_end),
    }


def _end(member: Member, end: datetime | None) -> tuple[Body, Body]:
    return {"use_date_end": _written(end)}, {"use_date_end": _written(member.use_date_end)}


def _written(moment: datetime | None) -> str | None:
    return None if moment is None else write_moment(moment)


def former_ends(member_ids: Iterable[str]) -> dict[str, Former]:
    """What the last suspension that the portal carried out replaced, for each of the members that had one."""
    done = Row.objects.filter(
        job__kind="suspend", job__undo_of__isnull=True, state=RowState.SUCCEEDED, action=Action.UPDATE
    )
    done = done.filter(part__isnull=False, member_id__in=list(member_ids))
    found: dict[str, Former] = {}
    for row in done.order_by("job_id", "line").iterator(chunk_size=2000):
        ours, end = row.content["body"].get("use_date_end"), row.content["old"].get("use_date_end")
        if ours:
            found[row.member_id] = Former(datetime.fromisoformat(ours), datetime.fromisoformat(end) if end else None)
    return found
