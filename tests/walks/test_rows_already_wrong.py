"""Pages survive rows with wrong moments, which PostgreSQL can store but Python's dates cannot hold."""

from collections.abc import Callable

import pytest
from django.db import DatabaseError, connection, models, transaction

from portal.domain.history.models import History, HistorySearch
from tenants.scope import tenant_scope
from tests.support.filled_tenants import furnish, pages_of, read
from tests.support.isolation import tenant_models
from tests.support.places import Place

pytestmark = [pytest.mark.django_db, pytest.mark.share]
WRONG = ("infinity", "-infinity", "294276-01-01", "0001-01-01 BC", "0001-01-01", "9999-12-31")
#: Columns whose change moves the row to another partition; their values are limited when they are read.
_IN_PARTS = (History, HistorySearch)


@pytest.fixture
def furnished(make: Callable[..., Place]) -> Place:
    return furnish(make)


def spoil(place: Place, wrong: str) -> int:
    """Set every column of the tenant's rows that accepts it to this moment. Return the number of such columns."""
    done = 0
    for model in set(tenant_models()) - set(_IN_PARTS):
        for field in model._meta.concrete_fields:
            if not isinstance(field, models.DateField) or field.generated:
                continue
            with tenant_scope(place.tenant), connection.cursor() as cursor:
                try:
                    with transaction.atomic():
                        cursor.execute(f"UPDATE {model._meta.db_table} SET {field.column} = %s", [wrong])
                        done += cursor.rowcount > 0
                except DatabaseError:
                    continue  # the database already refuses it
    return done


@pytest.mark.parametrize(
    "wrong", [each if n < 2 else pytest.param(each, marks=pytest.mark.soak) for n, each in enumerate(WRONG)]
)
def test_no_page_breaks_when_every_moment_of_every_row_is_wrong(furnished: Place, wrong: str) -> None:
    client = furnished.client()
    client.raise_request_exception = False
    before = pages_of(client, f"/t/{furnished.tenant.slug}/")
    assert len(before) > 40
    assert not {path: status for path, status in before.items() if status >= 500}
    assert spoil(furnished, wrong) > 60
    after = {path: read(client, path) for path in before}
    assert not {path: told[:300] for path, (status, told) in after.items() if status >= 500}


@pytest.mark.parametrize("wrong", [*WRONG, "1899-12-31", "10000-01-01"])
def test_a_moment_or_day_beyond_the_calendar_is_read_as_its_end(db: None, wrong: str) -> None:
    early = wrong not in ("infinity", "294276-01-01", "9999-12-31", "10000-01-01")
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s::timestamptz, %s::date", [wrong, wrong])
        moment, day = cursor.fetchone()
    assert (moment.year, day.year) == ((1900, 1900) if early else (9998, 9998))
    assert moment.tzinfo is not None
