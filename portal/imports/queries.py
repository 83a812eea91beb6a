"""Imports as pages ask for them, of the tenant in scope."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from portal.imports.models import Import, ImportRow
from portal.imports.states import NOT_APPLIED, Action, JobState, RowState
from portal.imports.storing import opened


@dataclass(frozen=True)
class Counts:
    """Rows of an import: by what the dry run found, and by how far they have come."""

    actions: dict[str, int]
    states: dict[str, int]
    noted: int = 0

    @property
    def rows(self) -> int:
        return sum(self.actions.values())

    def action(self, name: str) -> int:
        return self.actions.get(name, 0)

    def state(self, name: str) -> int:
        return self.states.get(name, 0)

    @property
    def to_send(self) -> int:
        return self.action(Action.CREATE) + self.action(Action.UPDATE)

    @property
    def settled(self) -> int:
        """Rows to be sent about which something final is known, "uncertain" included."""
        return sum(self.state(s) for s in (RowState.SUCCEEDED, RowState.FAILED, RowState.UNCERTAIN))


def all_of_tenant() -> QuerySet[Import]:
    return Import.objects.select_related("file", "by", "tenant").defer("file__headings", "file__sample")


def under_way() -> QuerySet[Import]:
    """Imports that somebody may be waiting for: dry runs and running ones, oldest first."""
    return all_of_tenant().filter(state__in=[JobState.MAPPED, JobState.RUNNING]).order_by("id")


def counts(job: Import) -> Counts:
    """One pass over the import's rows, from an index alone."""
    found = ImportRow.objects.filter(job=job).order_by().values_list("action", "state").annotate(n=Count("pk"))
    actions: dict[str, int] = {}
    states: dict[str, int] = {}
    for action, state, n in found:
        actions[action] = actions.get(action, 0) + n
        states[state] = states.get(state, 0) + n
    return Counts(actions, states)


def noted(job: Import) -> int:
    """Rows that would be sent although something about them is worth knowing."""
    return ImportRow.objects.filter(job=job, action__in=[Action.CREATE, Action.UPDATE]).exclude(notes=[]).count()


def not_applied(job: Import) -> QuerySet[ImportRow]:
    """Rows that were surely not applied and that no other import has sent again: refused here or there, or not sent."""
    mine = ImportRow.objects.filter(job=job, retried_in__isnull=True)
    return mine.filter(Q(state__in=NOT_APPLIED) | Q(action=Action.REFUSED))


def same_file(job: Import) -> Import | None:
    """The last import that was started with this very file, if there was one; retries aside."""
    started = all_of_tenant().filter(
        file__fingerprint=bytes(job.file.fingerprint), started_at__isnull=False, retry_of__isnull=True
    )
    return started.exclude(pk=job.pk).exclude(file_id=job.file_id).order_by("-started_at").first()


def cells_of(job: Import, lines: set[int]) -> Iterator[tuple[int, list[str]]]:
    """The headings (line 0) and the named lines of the file as they were uploaded."""
    headings, rows = opened(job.file)
    yield 0, headings
    for line, cells in rows:
        if line in lines:
            yield line, cells
