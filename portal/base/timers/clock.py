"""The database's clock, which all processes share. `Now()` is constant within a transaction; this one is not."""

from datetime import datetime

from django.db import connection
from django.db.models import DateTimeField, Func


class ClockTime(Func):
    """`clock_timestamp()`: the moment at which the statement runs, even after it waited for a lock."""

    function = "clock_timestamp"
    template = "%(function)s()"
    output_field = DateTimeField()


def database_now() -> datetime:
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        now: datetime = cursor.fetchone()[0]
    return now
