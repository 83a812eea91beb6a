"""Places that are read once: the result of the first reading is restored for each later place of the same kind.

Reading a tenant's lists takes a third of a second, and hundreds of tests begin with it. Places of a kind are connected
to identical copies of one tenant of the service. They have the same number here, so that data encrypted for one can be
read for the others. They get the rows that the first reading wrote.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.db import connection
from django.db.models import Model
from django.utils import timezone
from psycopg import sql

from portal.base.ui.times import TOKYO
from portal.domain.events import MirrorKind
from portal.domain.sync import schedule, tasks
from portal.domain.sync.models import MirrorState, SharedReading
from tenants.models import Connection
from tenants.scope import tenant_scope
from tests.support.effort import SOAK

if TYPE_CHECKING:
    from tests.support.places import Place

#: Far from the numbers of sequences.
_FIRST_NUMBER = 1_000_000_000
#: The apps that store the result of a reading.
_APPS = ("people", "places", "sync", "history", "areas", "visits")
#: Times at which the portal did something. All other times are the service's and are restored unchanged.
_OURS = {
    "as_of", "due_at", "woken_at", "lease_until", "error_at", "started_at", "finished_at", "read_at", "detail_read_at",
    "first_hand_at", "rights_read_at", "status_as_of", "state_since", "known_at", "look_at", "created_at", "gone_at",
}  # fmt: skip
#: Fields of the connection that calls change.
_HEARD = (
    "last_call_at", "last_call_operation", "last_call_status", "last_success_at", "scopes_refused", "contracts_refused",
    "refusals", "limits_learned",
)  # fmt: skip


@dataclass
class Written:
    """The result of a reading: rows as SQL, the connection's changed fields, and when it ended."""

    rows: sql.Composed
    heard: dict[str, Any]
    ended: datetime


@dataclass
class Alike:
    """Places of one kind: their number here, and the result of each reading."""

    number: int
    written: dict[Sequence[MirrorKind], Written] = field(default_factory=dict)


def alike(number: int, **wanted: Any) -> Alike | None:
    """Return the kind of a test's place of this number; None where each must differ from the others.

    Another day is another kind, because the sandbox's records depend on the day.
    """
    if SOAK:
        return None
    return _alike(json.dumps(wanted, sort_keys=True), number, timezone.now().astimezone(TOKYO).date())


@cache
def _alike(_wanted: str, number: int, _day: date) -> Alike:
    return Alike(_FIRST_NUMBER + number)


def read(place: "Place", *, unread: Sequence[MirrorKind]) -> None:
    """Read a place's lists except `unread`. If the kind was read before, restore the result instead."""
    with tenant_scope(place.tenant):
        if place.alike is None or not _untouched(place):
            read_anew(place, unread=unread)
        elif unread in place.alike.written:
            _put_back(place.alike.written[unread])
        else:
            read_anew(place, unread=unread)
            ended = timezone.now()
            heard = Connection.objects.values(*_HEARD).get()
            place.alike.written[unread] = Written(sql.SQL(";").join(_rows(ended)), heard, ended)


def read_anew(place: "Place", *, unread: Sequence[MirrorKind]) -> None:
    """Read a place's lists except `unread`, within its tenant."""
    schedule.schedule_all(place.tenant)
    MirrorState.objects.filter(kind__in=unread).update(due_at=None)
    tasks.read_due()


def _untouched(place: "Place") -> bool:
    """Check that place and service are unchanged: otherwise the test has prepared something else to be read."""
    as_made = Connection.objects.filter(state=Connection.State.CONNECTED, last_call_at=None).exists()
    return as_made and place.touched == place.sandbox.touched and not any(each.objects.exists() for each in _models())


def _put_back(written: Written) -> None:
    with connection.cursor() as cursor:
        cursor.execute(written.rows)
    ago = timezone.now() - written.ended
    heard = {name: value + ago if isinstance(value, datetime) else value for name, value in written.heard.items()}
    Connection.objects.update(**heard)


def _rows(ended: datetime) -> Iterator[sql.Composed]:
    """Yield statements that restore the tenant's rows in all tables that a reading writes."""
    for model in _models():
        table = sql.Identifier(model._meta.db_table)
        columns = [each.column for each in model._meta.local_fields if not each.generated]
        with connection.cursor() as cursor:
            cursor.execute(sql.SQL("SELECT json_agg(to_json(t))::text FROM {} t").format(table))
            rows = cursor.fetchone()[0]
        if rows:
            yield sql.SQL("INSERT INTO {0} ({1}) SELECT {2} FROM json_populate_recordset(null::{0}, {3})").format(
                table, _joined(map(sql.Identifier, columns)), _joined(_value(each, ended) for each in columns), rows
            )


def _value(column: str, ended: datetime) -> sql.Composable:
    """Return a column's value. The portal's own times are moved, so that they are as long ago as they were then."""
    name = sql.Identifier(column)
    return sql.SQL("{} + (statement_timestamp() - {})").format(name, ended) if column in _OURS else name


def _joined(parts: Any) -> sql.Composed:
    return sql.SQL(",").join(parts)


@cache
def _models() -> tuple[type[Model], ...]:
    models = [model for app in _APPS for model in apps.get_app_config(app).get_models() if model is not SharedReading]
    return tuple(each for each in models if any(one.column == "tenant_id" for one in each._meta.local_fields))
