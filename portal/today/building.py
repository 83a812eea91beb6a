"""Who is in the building, for an evacuation: from the portal's own records alone, so that it works whatever is down."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from portal.core.ui.times import local
from portal.core.visits.models import Visit
from portal.today import queries

ORDERS = {"host": ("host_key", "name_key", "pk"), "name": ("name_key", "pk"), "time": ("arrived_at", "pk")}
_FIELDS = (
    "tenant_id", "guest_id", "guest_name", "company", "host_name", "host_key", "arrived_at", "arrived_by", "left_at",
    "use_date_end", "last_use_at", "last_use_place", "first_use_place", "suggested_leave_at", "erased_at",
)  # fmt: skip


@dataclass(frozen=True)
class Building:
    """`here`: marked as arrived and not as left. `unsure`: their code was used, the desk says they are not here.
    `gone`: of those here, how many went out by a door that leads out, and were not marked as left.
    """

    at: datetime
    here: list[Visit]
    unsure: list[Visit]

    @property
    def gone(self) -> int:
        return sum(visit.suggested_leave_at is not None for visit in self.here)


def building(now: datetime, order: str = "host") -> Building:
    """Everybody, in two queries: a list for an emergency has no pages."""
    return Building(now, _rows(queries.present(), order), _rows(queries.used_unmarked(now), order))


def _rows(visits: QuerySet[Visit], order: str) -> list[Visit]:
    return list(visits.only(*_FIELDS).order_by(*ORDERS.get(order, ORDERS["host"])))


def labels() -> list[tuple[str, str]]:
    """The orders, with their names."""
    return [("host", _("host")), ("name", pgettext("sort", "name")), ("time", _("arrival"))]


def lines(found: Building) -> Iterator[list[str]]:
    """The list as a file: heads, then a line for each guest."""
    yield [
        _("Guest"), _("Company"), _("Host"), _("Arrived"), _("Last seen"), _("Where"), _("Code valid until"),
        _("State"),
    ]  # fmt: skip
    for state, visits in ((_("on site"), found.here), (_("code used, not checked in"), found.unsure)):
        for visit in visits:
            yield [
                str(visit), visit.company, visit.host_name, _moment(visit.arrived_at), _moment(visit.last_use_at),
                visit.last_use_place, _moment(visit.use_date_end), state,
            ]  # fmt: skip


def _moment(at: datetime | None) -> str:
    return f"{local(at):%Y-%m-%d %H:%M}" if at else ""
