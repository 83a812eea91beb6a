"""What a change would do to each of the chosen members: the body to send, the former values, or why it is left out.

Pure but for reading the mirror. Moments are aware, and written as the service takes them (+09:00).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from accessapi.resources import write_moment
from portal.core.mirror.fields.members import CODE, END, GROUP, NAME
from portal.core.mirror.models import UNREADABLE, Member
from portal.core.rights import replacing

Body = dict[str, Any]
# What one member would get: a body with the values it replaces, or the word for being left out.
Outcome = tuple[Body, Body] | str
# Of those who are left out for one reason, so many are named.
MOST_NAMED = 10
# The shortest use that a service surely takes.
_SHORTEST = timedelta(seconds=1)
# The last year that the mirror's clock can hold.
_LAST_YEAR = 9998


@dataclass
class Plan:
    """Rows for `acts.prepare`, and how many of the chosen are left out, by reason; `named`: the first of them by ID."""

    rows: list[tuple[str, Body, Body]] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    named: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, members: Iterable[Member], decide: Callable[[Member], Outcome]) -> "Plan":
        plan = cls()
        for member in members:
            outcome = decide(member)
            if isinstance(outcome, str):
                plan.left_out[outcome] += 1
                if plan.left_out[outcome] <= MOST_NAMED:
                    plan.named.setdefault(outcome, []).append(member.member_id)
            else:
                plan.rows.append((member.member_id, *outcome))
        return plan


def suspend(at: datetime) -> Callable[[Member], Outcome]:
    """End the use at a moment. Whoever begins later ends as soon as they would begin, which is a second after it: a
    service may refuse a use that is empty. Whoever has ended is left out.
    """

    def decide(member: Member) -> Outcome:
        if member.use_end_key == UNREADABLE:
            return "unreadable"
        if member.use_date_end is not None and member.use_date_end <= at:
            return "ended"
        begins_later = member.use_date_start is not None and member.use_date_start >= at
        return _end(member, member.use_date_start + _SHORTEST if begins_later else at)

    return decide


def resume(how: str, former: Mapping[str, datetime | None], now: datetime) -> Callable[[Member], Outcome]:
    """Give the use back: `how` is "former" (the end from before the suspension, where it is known) or "none"."""

    def decide(member: Member) -> Outcome:
        if how == "none":
            return _without_end(member, now)
        if member.member_id not in former:
            return "no_former"
        end = former[member.member_id]
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
        if member.use_date_start is not None and member.use_date_start >= end:
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
        return {GROUP.name: membergroup_id}, {GROUP.name: member.membergroup_id}

    return decide


def rights(body: Mapping[str, Any]) -> Callable[[Member], Outcome]:
    """Give everybody these rights. Former ones that are not known are found out before anything is sent."""

    def decide(member: Member) -> Outcome:
        return "same" if replacing.is_same(member, body) else (dict(body), replacing.old(member, body))

    return decide


def delete(member: Member) -> Outcome:
    """Delete whoever still is who was looked at."""
    return {}, {field.name: field.written(member) for field in (NAME, CODE, GROUP, END)}


def _end(member: Member, end: datetime | None) -> tuple[Body, Body]:
    return {END.name: end and write_moment(end)}, {END.name: END.written(member)}
