"""Which database this is: another one than the clock last ticked in means that it was restored from a backup.

The cluster's identifier, its timeline (which grows when a backup of files is replayed or a standby takes over), the
database's and the table's number: a dump that is read into any database gets at least another one of these.
"""

from django.db.models import Exists, Func, Q, TextField

from portal.core.timers.models import Lease


class DatabaseIdentity(Func):
    """The identity of the database that runs the statement."""

    template = (
        "(SELECT concat_ws('.', s.system_identifier, c.timeline_id, d.oid, to_regclass('timers_lease')::oid)"
        " FROM pg_control_system() s, pg_control_checkpoint() c, pg_database d WHERE d.datname = current_database())"
    )
    arity = 0
    output_field = TextField()


def is_from_other_database() -> Q:
    """Return a condition for the clock's row: it was written in another database than this."""
    return ~Q(identity="") & ~Q(identity=DatabaseIdentity())


def is_unchecked_copy() -> Exists:
    """Return whether this database is a copy that nobody has looked through yet: nothing may leave it."""
    return Exists(Lease.objects.filter(is_from_other_database()))
