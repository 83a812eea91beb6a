"""Replace times and dates that Python cannot handle with the nearest limit.

PostgreSQL holds `infinity` and years up to 294276, which psycopg refuses. Python's own first and last hours overflow in
another time zone. Input is validated, but an invalid row must not break a page.
"""

from datetime import UTC, date, datetime, time
from functools import lru_cache
from typing import Any

from django.db.backends.postgresql.psycopg_any import BaseTzLoader, get_adapters_template
from psycopg import DataError
from psycopg.adapt import AdaptersMap
from psycopg.types.datetime import DateLoader

from accessapi.limits import EARLIEST_YEAR, LATEST_YEAR

FIRST_DAY, LAST_DAY = date(EARLIEST_YEAR, 1, 1), date(LATEST_YEAR, 12, 31)


def _nearest_limit(data: Any) -> date:
    """Return the limit that is nearer to a time or date beyond the limits, in PostgreSQL's format."""
    year, _, _ = bytes(data).partition(b"-")  # empty for -infinity
    is_early = not year or bytes(data).endswith(b"BC") or (year.isdigit() and int(year) < EARLIEST_YEAR)
    return FIRST_DAY if is_early else LAST_DAY


def moment_from_json(text: str | None) -> datetime | None:
    """Return a time from PostgreSQL's JSON."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
        if EARLIEST_YEAR <= found.year <= LATEST_YEAR:
            return found
    except ValueError:
        pass
    return datetime.combine(_nearest_limit(text.encode()), time(), UTC)


def day_from_json(text: str | None) -> date | None:
    """Return a date from PostgreSQL's JSON."""
    if text is None:
        return None
    try:
        return min(max(date.fromisoformat(text), FIRST_DAY), LAST_DAY)
    except ValueError:
        return _nearest_limit(text.encode())


@lru_cache
def adapters(use_tz: bool, timezone: Any) -> AdaptersMap:
    """Return Django's adapters, with loaders that return only times and dates within the limits."""
    known = AdaptersMap(get_adapters_template(use_tz, timezone))

    class MomentLoader(BaseTzLoader):  # type: ignore[misc]  # Django has no types
        def load(self, data: Any) -> datetime:
            try:
                found: datetime = super().load(data)
                if EARLIEST_YEAR <= found.year <= LATEST_YEAR:
                    return found
            except (DataError, OverflowError):
                pass
            return datetime.combine(_nearest_limit(data), time(), timezone)

    MomentLoader.timezone = timezone
    known.register_loader("timestamptz", MomentLoader)
    known.register_loader("date", _DayLoader)
    return known


class _DayLoader(DateLoader):
    def load(self, data: Any) -> date:
        try:
            return min(max(super().load(data), FIRST_DAY), LAST_DAY)
        except DataError:
            return _nearest_limit(data)
