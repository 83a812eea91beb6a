"""Members whose rights are not loaded yet: the texts beside counts, and the offer to load them.

The service returns rights of one member at a time. The mirror loads them with unused calls. Staff who need the whole
list now can spend calls on it, within the budget of jobs.
"""

from dataclasses import dataclass

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.areas import edit_jobs
from portal.domain.budget.quota import Quota
from portal.domain.jobs import actions as job_actions
from portal.domain.jobs import costs, kinds
from portal.domain.jobs.models import Job


@dataclass(frozen=True)
class LoadedRights:
    """The number of members with loaded rights, and the number of all members if their list is loaded."""

    known: int
    total: int
    is_list_loaded: bool = True

    @property
    def missing(self) -> int:
        return max(self.total - self.known, 0)

    @property
    def is_partial(self) -> bool:
        """Return whether counts may be too low."""
        return not self.is_list_loaded or self.missing > 0

    @property
    def missing_text(self) -> str:
        """Return the note beside a count; empty when everything is loaded."""
        if not self.is_list_loaded:
            return _("list of members not loaded")
        if not self.missing:
            return ""
        words = ngettext("rights of %(n)s member not loaded", "rights of %(n)s members not loaded", self.missing)
        return words % {"n": _formatted(self.missing)}

    def count_text(self, n: int, *, is_doubtful: bool = False) -> str:
        """Return a number of members as text, as "at least" if some may be missing.

        `is_doubtful` marks the number for another reason.
        """
        return _("at least %(n)s") % {"n": _formatted(n)} if self.is_partial or is_doubtful else _formatted(n)

    def cell_value(self, n: int, *, is_doubtful: bool = False) -> int | str:
        """Return the value of a table cell or file: the number, or a text if it is incomplete."""
        return self.count_text(n, is_doubtful=True) if self.is_partial or is_doubtful else n

    def summary(self, n: int | None = None) -> str:
        """Return count and note in one text, for the head of a list and the last line of its file.

        Empty when everything is loaded. Without `n`, only the note.
        """
        if not self.is_partial:
            return ""
        note = (
            self.missing_text
            if n is None
            else _("%(count)s: %(note)s") % {"count": self.count_text(n), "note": self.missing_text}
        )
        return note[:1].upper() + note[1:]


def _formatted(n: int) -> str:
    return number_format(n, force_grouping=True)


@dataclass(frozen=True)
class LoadOffer:
    """The cost of loading the missing rights, or the job that does it already."""

    reads: int
    cost: costs.Cost
    running: Job | None

    @property
    def href(self) -> str:
        return kinds.page_address(self.running) if self.running else ""


def make_offer(loaded: LoadedRights, hour: Quota | None) -> LoadOffer | None:
    """Return the offer to load missing rights; None if nothing is missing. `hour` is the remaining budget."""
    if not loaded.missing:
        return None
    reads = min(loaded.missing, job_actions.MAX_JOB_ROWS)
    return LoadOffer(reads, costs.cost_of_reads(reads, hour), edit_jobs.running_load())
