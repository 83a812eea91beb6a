"""Members whose rights are not loaded yet: the texts beside counts, and the job that loads them on request.

The service returns rights of one member at a time. The mirror loads them with unused calls. Staff who need the whole
list now can spend calls on it, within the budget of jobs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.domain.budget.quota import Quota
from portal.domain.intents.recording import Requester
from portal.domain.jobs import actions, bulk_executor, costs, kinds
from portal.domain.jobs.models import Job, Row
from portal.domain.jobs.states import ALIVE
from portal.domain.mirror.models import Member
from tenants.roles import Permission
from tenants.wording import coded_sentence

KIND = "read_rights"


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
    reads = min(loaded.missing, actions.MAX_JOB_ROWS)
    return LoadOffer(reads, costs.cost_of_reads(reads, hour), _running())


def start_loading(*, by: Requester) -> Job | None:
    """Start loading the missing rights, or return the job that is running already. None if all are loaded."""
    running = _running()
    if running is not None:
        return running
    wanted = list(
        _unread_members().order_by("name_key", "pk").values_list("member_id", flat=True)[: actions.MAX_JOB_ROWS]
    )
    if not wanted:
        return None
    job = actions.prepare(
        kind=KIND, by=by, rows=((member_id, {}, {}) for member_id in wanted), is_audited_elsewhere=True
    )
    actions.start(by=by, job=job)
    return job


def _running() -> Job | None:
    return Job.objects.select_related("tenant").filter(kind=KIND, state__in=ALIVE).order_by("-pk").first()


def _unread_members() -> QuerySet[Member]:
    return Member.objects.filter(gone_at__isnull=True, rights__isnull=True)


def _unread(job: Job, rows: Sequence[Row]) -> set[int]:
    """Return the rows whose member's rights are still not loaded."""
    missing = set(
        _unread_members().filter(member_id__in=[row.member_id for row in rows]).values_list("member_id", flat=True)
    )
    return {row.pk for row in rows if row.member_id in missing}


def _fresh(job: Job, rows: Sequence[Row]) -> Mapping[int, kinds.RowDecision]:
    """Return the result of each row. Nothing is sent: a row is done once the rights are loaded."""
    found = Member.objects.filter(member_id__in=[row.member_id for row in rows], gone_at__isnull=True)
    known = dict(found.values_list("member_id", "rights_read_at"))
    return {row.pk: _check_row(row, known) for row in rows}


def _check_row(row: Row, known: Mapping[str, object]) -> kinds.RowDecision:
    if row.member_id not in known:
        return kinds.Skip("gone")
    return kinds.AlreadyApplied("loaded") if known[row.member_id] is not None else kinds.Skip("unreadable")


def register() -> None:
    kinds.register(
        kinds.JobKind(
            name=KIND,
            permission=Permission.RIGHTS_EDIT,
            executor=bulk_executor,
            title_of=lambda job: coded_sentence("job.load_rights", n=job.size),
            decide_rows=_fresh,
            rows_to_read=_unread,
            changes=lambda _row: [],
            reason_texts={"loaded": lambda facts: _("Rights loaded.")},
            has_requests=False,
        )
    )  # fmt: skip
