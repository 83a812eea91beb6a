"""The database's clock: the one that every process shares."""

from datetime import datetime

from django.db import connection
from django.db.models import DateTimeField, Func


class ClockNow(Func):
    """The moment of the statement, also late in a transaction (Django's Now() is the transaction's beginning)."""

    template = "clock_timestamp()"
    output_field = DateTimeField()


def now() -> datetime:
    """The database's time."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        moment: datetime = cursor.fetchone()[0]
        return moment
