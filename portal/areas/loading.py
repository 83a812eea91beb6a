"""Of whose rights the portal knows nothing yet: said beside every count, and loaded by a job for whoever asks.

The service tells rights of one member at a time. The mirror loads them with calls left over; somebody who needs the
whole list now spends calls on it, as a job within the budget of jobs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.core.budget.outlook import Outlook
from portal.core.intents.record import Asker
from portal.core.jobs import acts, bulk, costs, kinds
from portal.core.jobs.models import Job, Row
from portal.core.jobs.states import ALIVE
from portal.core.mirror.models import Member
from tenants.roles import Permission
from tenants.wording import say

KIND = "read_rights"


@dataclass(frozen=True)
class Loaded:
    """Of how many members the rights are loaded, and how many members there are, as far as their list was read."""

    known: int
    everybody: int
    is_listed: bool = True

    @property
    def missing(self) -> int:
        return max(self.everybody - self.known, 0)

    @property
    def is_partial(self) -> bool:
        """Whether there may be more than any count says."""
        return not self.is_listed or self.missing > 0

    @property
    def note(self) -> str:
        """What has to be said beside a count; empty when everything is loaded."""
        if not self.is_listed:
            return _("list of members not loaded")
        if not self.missing:
            return ""
        words = ngettext("rights of %(n)s member not loaded", "rights of %(n)s members not loaded", self.missing)
        return words % {"n": _n(self.missing)}

    def count(self, n: int, *, is_doubtful: bool = False) -> str:
        """A number of members who may enter: at least so many, while somebody may be missing (`is_doubtful`: for
        another reason).
        """
        return _("at least %(n)s") % {"n": _n(n)} if self.is_partial or is_doubtful else _n(n)

    def cell(self, n: int, *, is_doubtful: bool = False) -> int | str:
        """The same for a list and its file, where a number without a doubt stays a number."""
        return self.count(n, is_doubtful=True) if self.is_partial or is_doubtful else n

    def sentence(self, n: int | None = None) -> str:
        """Both in one, for the head of a list and the last line of its file; without a number where that means nothing.

        Empty when everything is loaded.
        """
        if not self.is_partial:
            return ""
        note = self.note if n is None else _("%(count)s: %(note)s") % {"count": self.count(n), "note": self.note}
        return note[:1].upper() + note[1:]


def _n(n: int) -> str:
    return number_format(n, force_grouping=True)


@dataclass(frozen=True)
class Offer:
    """What loading the rest would cost, or the job that does it already."""

    reads: int
    cost: costs.Cost
    running: Job | None

    @property
    def href(self) -> str:
        return kinds.page(self.running) if self.running else ""


def offer(loaded: Loaded, hour: Outlook | None) -> Offer | None:
    """None when there is nothing to load. `hour`: what is left of the calls."""
    if not loaded.missing:
        return None
    reads = min(loaded.missing, acts.MOST_ROWS)
    return Offer(reads, costs.of_reads(reads, hour), _running())


def load(*, by: Asker) -> Job | None:
    """Start loading what is missing, or find the job that does. None: everything is loaded."""
    running = _running()
    if running is not None:
        return running
    wanted = list(_missing().order_by("name_key", "pk").values_list("member_id", flat=True)[: acts.MOST_ROWS])
    if not wanted:
        return None
    job = acts.prepare(kind=KIND, by=by, rows=((member_id, {}, {}) for member_id in wanted), quiet=True)
    acts.start(by=by, job=job)
    return job


def _running() -> Job | None:
    return Job.objects.select_related("tenant").filter(kind=KIND, state__in=ALIVE).order_by("-pk").first()


def _missing() -> QuerySet[Member]:
    return Member.objects.filter(gone_at__isnull=True, rights__isnull=True)


def _unread(job: Job, rows: Sequence[Row]) -> set[int]:
    """Those whom nobody has read meanwhile, the mirror among them."""
    missing = set(_missing().filter(member_id__in=[row.member_id for row in rows]).values_list("member_id", flat=True))
    return {row.pk for row in rows if row.member_id in missing}


def _fresh(job: Job, rows: Sequence[Row]) -> Mapping[int, kinds.Fresh]:
    """Nothing is ever sent: a row is done once the rights are known."""
    found = Member.objects.filter(member_id__in=[row.member_id for row in rows], gone_at__isnull=True)
    known = dict(found.values_list("member_id", "rights_read_at"))
    return {row.pk: _one(row, known) for row in rows}


def _one(row: Row, known: Mapping[str, object]) -> kinds.Fresh:
    if row.member_id not in known:
        return kinds.Skip("gone")
    return kinds.Already("loaded") if known[row.member_id] is not None else kinds.Skip("unreadable")


def register() -> None:
    kinds.register(
        kinds.Kind(
            name=KIND,
            permission=Permission.RIGHTS_EDIT,
            carrier=bulk,
            titled=lambda job: say("job.load_rights", n=job.size),
            fresh=_fresh,
            unread=_unread,
            changes=lambda _row: [],
            words={"loaded": lambda facts: _("Rights loaded.")},
            sends=False,
        )
    )  # fmt: skip
