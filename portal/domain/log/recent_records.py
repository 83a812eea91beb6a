"""The newest log records of a person, a door or an area, for their pages.

Templates draw it with `{% happened … %}`. An open page polls for updates.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import cached_property

from portal.base.ui import batching, live_updates
from portal.base.ui.times import local
from portal.domain.log import filters, visibility
from portal.domain.log.lists import Links
from portal.domain.mirror import freshness, log_search
from portal.domain.mirror.freshness import KindFreshness
from portal.domain.mirror.kinds import MirrorKind
from portal.domain.mirror.models import History
from tenants.access import TenantRequest
from tenants.roles import Permission

MAX_RECORDS = 8
# The possible subjects, by the names of the log's filters.
SUBJECTS = ("person", "device", "area")


def prefetch_recent_records(request: TenantRequest) -> None:
    """Load the data that the newest records need with the page's common query."""
    batching.prefetch(request, filters.DEVICES)


@dataclass(frozen=True)
class RecentRecords:
    """The newest records of a subject. `subject` is one of SUBJECTS; `values` are its values."""

    request: TenantRequest
    subject: str
    values: Sequence[str]
    is_polling: bool = True  # the panel polls for updates; False on a page that polls already

    def __post_init__(self) -> None:
        prefetch_recent_records(self.request)

    @property
    def may_view(self) -> bool:
        return visibility.may_view_log(self.request.access)

    @property
    def is_today_only(self) -> bool:
        return not self.request.access.can(Permission.LOGS_VIEW)

    @cached_property
    def records(self) -> list[History]:
        if not self.may_view:
            return []
        asked = QueryDict(mutable=True)
        asked.setlist(self.subject, list(self.values))
        found = filters.apply_filters(visibility.visible_search_rows(self.request.access), asked)
        return log_search.load_records(found.only("id", "at")[: MAX_RECORDS + 1])

    @cached_property
    def rows(self) -> list[tuple[History, str, str]]:
        """Return each record with the addresses of its person and its place; empty for the page's own subject."""
        links = Links(self.request, self.records[:MAX_RECORDS], people=self.shows_person, places=self.shows_place)
        return [(row, links.person(row), links.place(row)) for row in self.records[:MAX_RECORDS]]

    @property
    def has_more(self) -> bool:
        return len(self.records) > MAX_RECORDS

    @property
    def log_freshness(self) -> KindFreshness:
        """Return how far the log is loaded."""
        return freshness.freshness_for(self.request)[MirrorKind.HISTORIES]

    @property
    def version(self) -> str:
        newest = self.records[0].pk if self.records else 0
        known = self.log_freshness
        told = (known.as_of, known.known_from, known.error, known.next_at if known.error else None)
        return live_updates.version_of(newest, visibility.visible_since(self.request.access), *told)

    @property
    def _query(self) -> str:
        return urlencode([(self.subject, value) for value in self.values])

    @property
    def list_url(self) -> str:
        return f"{reverse('logs:index', args=[self.request.tenant.slug])}?{self._query}"

    @property
    def day_url(self) -> str:
        """Return the address of today's chart of a person or a device."""
        name = {"person": "logs:person_day", "device": "logs:door_day"}.get(self.subject)
        today = local(timezone.now()).date().isoformat()
        return reverse(name, args=[self.request.tenant.slug, self.values[0], today]) if name else ""

    @property
    def poll_url(self) -> str:
        return f"{reverse('logs:happened', args=[self.request.tenant.slug])}?{self._query}"

    @property
    def shows_person(self) -> bool:
        return self.subject != "person"

    @property
    def shows_place(self) -> bool:
        return self.subject != "device"
