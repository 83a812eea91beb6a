"""The effect of a bulk change on each chosen member: the body to send and the former values, or the reason to skip.

The functions only read the mirror. Times are aware, and are written in service time (+09:00).
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
from portal.base.ui.value_words import add_brackets
from portal.domain.jobs.models import Job
from portal.domain.mirror.fields.members import CODE, END, GROUP, NAME
from portal.domain.mirror.models import UNREADABLE, Member
from portal.domain.rights import replacing

Body = dict[str, Any]
# The result for one member: the body and the values that it replaces, or the code of the reason to skip it.
RowOrReason = tuple[Body, Body] | str
# The number of members to name for each reason.
MOST_NAMED = 10
# The shortest use period that the service certainly accepts.
_SHORTEST = timedelta(seconds=1)


@dataclass
class ChangePlan:
    """The rows for `prepare`, the number of skipped members by reason, and the first IDs of each reason."""

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
    """Return the function that ends the use at a moment. Members who have ended are skipped.

    If the use begins later, it ends one second after it begins, because the service may refuse an empty period.
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
    """Return the function that resumes the use.

    `how` is "former" (with the end from before the suspension, if known) or "none" (without an end).
    """

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
    """Remove the end, unless the use has not ended: resuming must not give more than the member had."""
    if member.use_end_key == UNREADABLE:
        return "unreadable"
    if member.use_date_end is None:
        return "same"
    return "goes_on" if member.use_date_end > now else _set_end(member, None)


def extend_to(end: datetime) -> Callable[[Member], RowOrReason]:
    """Return the function that sets the same end for all."""

    def decide(member: Member) -> RowOrReason:
        if member.use_date_start is not None and member.use_date_start >= end:
            return "begins_later"
        if member.use_date_end is not None and member.use_date_end > end:
            return "ends_later"
        return "same" if member.use_date_end == end else _set_end(member, end)

    return decide


def extend_by(days: int) -> Callable[[Member], RowOrReason]:
    """Return the function that moves each end by this number of days."""

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
    """Return the function that moves members into a group."""

    def decide(member: Member) -> RowOrReason:
        if member.membergroup_id == membergroup_id:
            return "same"
        return {GROUP.name: membergroup_id}, {GROUP.name: member.membergroup_id}

    return decide


def rights(body: Mapping[str, Any]) -> Callable[[Member], RowOrReason]:
    """Return the function that replaces the rights. Unknown former rights are read before anything is sent."""

    def decide(member: Member) -> RowOrReason:
        return "same" if replacing.is_same(member, body) else (dict(body), replacing.current_parts(member, body))

    return decide


def delete(member: Member) -> RowOrReason:
    """Return an empty body with the values shown in the preview, to delete only a member who is unchanged."""
    return {}, {field.name: field.written_value(member) for field in (NAME, CODE, GROUP, END)}


def _set_end(member: Member, end: datetime | None) -> tuple[Body, Body]:
    return {END.name: end and write_moment(end)}, {END.name: END.written_value(member)}


def left_out_texts(counts: Mapping[str, int], ids: Mapping[str, list[str]] | None = None) -> list[str]:
    """Return why members are skipped, with their number and the first names for each reason."""
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
    """Return the names for a reason, in brackets."""
    if not names:
        return ""
    text = _(", ").join(names)
    if more := n - len(names):
        text = ngettext("%(list)s and %(n)d more", "%(list)s and %(n)d more", more) % {"list": text, "n": more}
    return " " + add_brackets(text)


def no_change_text(plan: ChangePlan) -> str:
    """Return why there is no preview."""
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
