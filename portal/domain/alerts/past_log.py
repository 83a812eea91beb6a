"""The log of a past period, in which a person tests a rule."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from portal.domain.history import search
from portal.domain.history.models import History
from portal.domain.history.search import RecordFilter
from tenants.models import Tenant

# The number of records that one search of the past reads.
MAX_RECORDS = 3000


@dataclass
class PastLog:
    """The records of a tenant's period, at these devices or all.

    `is_cut`: a search found more than `MAX_RECORDS` and left out the older ones.
    """

    tenant: Tenant
    since: datetime
    until: datetime
    device_ids: Sequence[str] | None = None
    is_cut: bool = False

    def find(self, **conditions: Any) -> list[History]:
        """Return the newest records of the period with these conditions of `RecordFilter`, newest first."""
        wanted = RecordFilter(since=self.since, until=self.until, device_ids=self.device_ids, **conditions)
        rows = search.filter_records(search.search_rows(), wanted)
        found = list(rows.only("id", "at")[: MAX_RECORDS + 1])
        self.is_cut = self.is_cut or len(found) > MAX_RECORDS
        return search.load_records(found[:MAX_RECORDS])
