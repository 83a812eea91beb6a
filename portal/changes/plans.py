"""What a change would do to each of the chosen members: the body to send, the former values, or why it is left out, in
words.

Pure but for reading the mirror. Moments are aware, and written as the service takes them (+09:00).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accessapi.limits import LATEST_YEAR
from accessapi.resources import write_moment
from portal.core.jobs.models import Job
from portal.core.mirror.fields.members import CODE, END, GROUP, NAME
from portal.core.mirror.models import UNREADABLE, Member
from portal.core.rights import replacing
from portal.core.ui.value_words import add_brackets

Body = dict[str, Any]
# What one member would get: a body with the values it replaces, or the word for being left out.
RowOrReason = tuple[Body, Body] | str
# Of those who are left out for one reason, so many are named.
MOST_NAMED = 10
# The shortest use that a service surely takes.
_SHORTEST = timedelta(seconds=1)


@dataclass
class ChangePlan:
    """Rows for `acts.prepare`, and how many of the chosen are left out, by reason; `named`: the first of them by ID."""

    rows: list[tuple[str, Body, Body]] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    left_out_ids: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, members: Iterable[Member], decide: Callable[[Member], RowOrReason]) -> "ChangePlan":
        plan = cls()
        for member in members:
            outcome = decide(member)
            if isinstance(outcome, str):
                plan.left_out[outcome] += 1
                if plan.left_out[outcome] <= MOST_NAMED:
                    plan.left_out_ids.setdefault(outcome, []).append(member.member_id)
            else:
                plan.rows.append((member.member_id, *outcome))
        return plan


def suspend(at: datetime) -> Callable[[Member], RowOrReason]:
    """End the use at a moment. Whoever begins later ends as soon as they would begin, which is a second after it: a
    service may refuse a use that is empty. Whoever has ended is left out.
    """

    def decide(member: Member) -> RowOrReason:
        if member.use_end_key == UNREADABLE:
            return "unreadable"
        if member.use_date_end is not None and member.use_date_end <= at:
            return "ended"
        start = member.use_date_start
        return _set_end(member, start + _SHORTEST if start is not None and start >= at else at)

    return decide


def resume(how: str, former: Mapping[str, datetime | None], now: datetime) -> Callable[[Member], RowOrReason]:
    """Give the use back: `how` is "former" (the end from before the suspension, where it is known) or "none"."""

    def decide(member: Member) -> RowOrReason:
        if how == "none":
            return _remove_end(member, now)
        if member.member_id not in former:
            return "no_former"
        end = former[member.member_id]
        if end is not None and end <= now:
            return "former_over"
        return "same" if end == member.use_date_end else _set_end(member, end)

    return decide


def _remove_end(member: Member, now: datetime) -> RowOrReason:
    """Whoever's use goes on keeps its end: to resume is not to give somebody more than they had."""
    if member.use_end_key == UNREADABLE:
        return "unreadable"
    if member.use_date_end is None:
        return "same"
    return "goes_on" if member.use_date_end > now else _set_end(member, None)


def extend_to(end: datetime) -> Callable[[Member], RowOrReason]:
    """Let the use end at one moment for all."""

    def decide(member: Member) -> RowOrReason:
        if member.use_date_start is not None and member.use_date_start >= end:
            return "begins_later"
        if member.use_date_end is not None and member.use_date_end > end:
            return "ends_later"
        return "same" if member.use_date_end == end else _set_end(member, end)

    return decide


def extend_by(days: int) -> Callable[[Member], RowOrReason]:
    """Let each one's use end so many days later than it would."""

    def decide(member: Member) -> RowOrReason:
        if member.use_end_key == UNREADABLE:
            return "unreadable"
        if member.use_date_end is None:
            return "never_ends"
        if member.use_date_end.year + days // 365 + 1 > LATEST_YEAR:
            return "unreadable"
        return _set_end(member, member.use_date_end + timedelta(days=days))

    return decide


def move(membergroup_id: str) -> Callable[[Member], RowOrReason]:
    """Put members into a group."""

    def decide(member: Member) -> RowOrReason:
        if member.membergroup_id == membergroup_id:
            return "same"
        return {GROUP.name: membergroup_id}, {GROUP.name: member.membergroup_id}

    return decide


def rights(body: Mapping[str, Any]) -> Callable[[Member], RowOrReason]:
    """Give everybody these rights. Former ones that are not known are found out before anything is sent."""

    def decide(member: Member) -> RowOrReason:
        return "same" if replacing.is_same(member, body) else (dict(body), replacing.current_parts(member, body))

    return decide


def delete(member: Member) -> RowOrReason:
    """Delete whoever still is who was looked at."""
    return {}, {field.name: field.written_value(member) for field in (NAME, CODE, GROUP, END)}


def _set_end(member: Member, end: datetime | None) -> tuple[Body, Body]:
    return {END.name: end and write_moment(end)}, {END.name: END.written_value(member)}


def left_out_texts(counts: Mapping[str, int], ids: Mapping[str, list[str]] | None = None) -> list[str]:
    """Why so many of the chosen members are not among the rows, and who they are: the first of them by name."""
    ids = ids or {}
    member_ids = {member_id for each in ids.values() for member_id in each}
    members = Member.objects.filter(member_id__in=member_ids) if member_ids else Member.objects.none()
    names = {pk: name or pk for pk, name in members.values_list("member_id", "member_name")}
    said = sorted(((word, n) for word, n in counts.items() if n), key=lambda pair: -pair[1])
    return [
        _reason_text(word, n) + _names_text([names.get(each, each) for each in ids.get(word, [])], n)
        for word, n in said
    ]


def left_out_of_job(job: Job) -> list[str]:
    return left_out_texts(job.options.get("left_out") or {}, job.options.get("left_out_named"))


def _names_text(names: list[str], n: int) -> str:
    """The names behind a reason."""
    if not names:
        return ""
    text = _(", ").join(names)
    if more := n - len(names):
        text = ngettext("%(list)s and %(n)d more", "%(list)s and %(n)d more", more) % {"list": text, "n": more}
    return " " + add_brackets(text)


def no_change_text(plan: ChangePlan) -> str:
    """Why no preview can be made."""
    if not plan.left_out:
        return _("No members are selected: the list has changed.")
    return " ".join([_("Nothing to change."), *left_out_texts(plan.left_out, plan.left_out_ids)])


def _reason_text(word: str, n: int) -> str:
    said = {
        "same": ngettext("%(n)s already has this.", "%(n)s already have this.", n),
        "ended": ngettext("%(n)s already ends earlier.", "%(n)s already end earlier.", n),
        "no_former": ngettext(
            "%(n)s was not suspended here, or was changed since.",
            "%(n)s were not suspended here, or were changed since.",
            n,
        ),
        "former_over": ngettext(
            "The previous end date of %(n)s has passed. Extend access instead.",
            "The previous end dates of %(n)s have passed. Extend access instead.",
            n,
        ),
        "begins_later": ngettext("%(n)s starts after that date.", "%(n)s start after that date.", n),
        "goes_on": ngettext("%(n)s still has access.", "%(n)s still have access.", n),
        "ends_later": ngettext("%(n)s already ends later.", "%(n)s already end later.", n),
        "never_ends": ngettext("%(n)s has no end date.", "%(n)s have no end date.", n),
        "unreadable": ngettext(
            "%(n)s has an end date that cannot be read or is too far away.",
            "%(n)s have end dates that cannot be read or are too far away.",
            n,
        ),
    }
    return said.get(word, f"{word}: %(n)s") % {"n": f"{n:,}"}
