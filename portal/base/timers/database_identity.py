"""The database's identity. If it differs from the one at the clock's last tick, a backup was restored.

It consists of the cluster's identifier, its timeline, and the numbers of the database and the table. The timeline grows
when a file backup is replayed or a standby takes over. Loading a dump changes at least one of the parts.
"""

from django.db.models import Exists, Func, Q, TextField

from portal.base.timers.models import Lease


class DatabaseIdentity(Func):
    """The identity of the database that runs the statement."""

    template = (
        "(SELECT concat_ws('.', s.system_identifier, c.timeline_id, d.oid, to_regclass('timers_lease')::oid)"
        " FROM pg_control_system() s, pg_control_checkpoint() c, pg_database d WHERE d.datname = current_database())"
    )
    arity = 0
    output_field = TextField()


def is_from_other_database() -> Q:
    """Return a condition for the clock's row: it was written in another database."""
    return ~Q(identity="") & ~Q(identity=DatabaseIdentity())


def is_unchecked_copy() -> Exists:
    """Return a condition: this database is a copy that has not been marked yet. No request may be sent from it."""
    return Exists(Lease.objects.filter(is_from_other_database()))
