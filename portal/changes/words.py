"""Sentences of this area: why members are left out, and what a change brings about."""

from collections.abc import Mapping

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.bulk.models import Job
from portal.changes.plans import Plan


def left_out(counts: Mapping[str, int]) -> list[str]:
    """Why so many of the chosen members are not among the rows."""
    return [_reason(word, n) for word, n in sorted(counts.items(), key=lambda pair: -pair[1]) if n]


def of_job(job: Job) -> list[str]:
    return left_out(job.options.get("left_out") or {})


def nothing(plan: Plan) -> str:
    """Why no preview can be made."""
    if not plan.left_out:
        return _("Nobody is selected any more: the list has changed meanwhile.")
    return " ".join([_("Nothing would change."), *left_out(plan.left_out)])


def _reason(word: str, n: int) -> str:
    said = {
        "same": ngettext("%(n)s has it already.", "%(n)s have it already.", n),
        "ended": ngettext("The use of %(n)s ends earlier already.", "The use of %(n)s ends earlier already.", n),
        "no_former": ngettext(
            "%(n)s was not suspended here, or was changed since.",
            "%(n)s were not suspended here, or were changed since.",
            n,
        ),
        "former_over": ngettext(
            "The former end of %(n)s is past: extend the use instead.",
            "The former ends of %(n)s are past: extend the use instead.",
            n,
        ),
        "begins_later": ngettext(
            "The use of %(n)s begins only after that day.", "The use of %(n)s begins only after that day.", n
        ),
        "goes_on": ngettext("The use of %(n)s goes on still.", "The use of %(n)s goes on still.", n),
        "ends_later": ngettext("The use of %(n)s ends later already.", "The use of %(n)s ends later already.", n),
        "never_ends": ngettext("The use of %(n)s has no end.", "The use of %(n)s has no end.", n),
        "unreadable": ngettext(
            "The end of use of %(n)s cannot be read or is too far away.",
            "The end of use of %(n)s cannot be read or is too far away.",
            n,
        ),
    }
    return said.get(word, f"{word}: %(n)s") % {"n": f"{n:,}"}
