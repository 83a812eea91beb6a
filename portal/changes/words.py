"""Sentences of this area: why members are left out, and what a change brings about."""

from collections.abc import Mapping

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.changes.plans import Plan
from portal.core.jobs.models import Job
from portal.core.mirror.models import Member


def left_out(counts: Mapping[str, int], named: Mapping[str, list[str]] | None = None) -> list[str]:
    """Why so many of the chosen members are not among the rows, and who they are: the first of them by name."""
    named = named or {}
    ids = {member_id for each in named.values() for member_id in each}
    found = Member.objects.filter(member_id__in=ids).values_list("member_id", "member_name") if ids else ()
    names = {member_id: name or member_id for member_id, name in found}
    said = sorted(((word, n) for word, n in counts.items() if n), key=lambda pair: -pair[1])
    return [_reason(word, n) + _who([names.get(each, each) for each in named.get(word, [])], n) for word, n in said]


def of_job(job: Job) -> list[str]:
    return left_out(job.options.get("left_out") or {}, job.options.get("left_out_named"))


def _who(names: list[str], n: int) -> str:
    """The names behind a reason."""
    if not names:
        return ""
    text = _(", ").join(names)
    if more := n - len(names):
        text = ngettext("%(list)s and %(n)d more", "%(list)s and %(n)d more", more) % {"list": text, "n": more}
    return " " + _("(%(names)s)") % {"names": text}


def nothing(plan: Plan) -> str:
    """Why no preview can be made."""
    if not plan.left_out:
        return _("No members are selected: the list has changed.")
    return " ".join([_("Nothing to change."), *left_out(plan.left_out, plan.named)])


def _reason(word: str, n: int) -> str:
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
