"""The first steps of `serve`: check the port, prepare the database."""

import socket
from contextlib import closing

from django.core.management import CommandError, call_command
from django.db import OperationalError, connection

from sandbox.seeding.tenants import describe, seed
from sandbox.service.models import Tenant

#: Held by the process that prepares a database. Any number that nothing else uses.
_LOCK = 72_616_001


def check_port(host: str, port: int) -> None:
    """Raise CommandError if the port is in use, or the host is not this machine's."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with closing(socket.socket(family, kind, protocol)) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        reason = f"Port {port} of {host} cannot be used ({error.strerror})"
        raise CommandError(f"{reason}: choose another with --port, or 0 for any that is free.") from None


def migrate() -> None:
    """Migrate the database, one process at a time. Raises CommandError if it is unreachable."""
    try:
        connection.ensure_connection()
    except OperationalError as error:
        reason = " ".join(str(error).split())
        raise CommandError(f"The database of SANDBOX_DATABASE_URL cannot be reached: {reason}") from None
    with connection.cursor() as cursor:
        # Released when the connection closes.
        cursor.execute("SELECT pg_advisory_lock(%s)", [_LOCK])
    call_command("migrate", verbosity=0, skip_checks=True)


def prepare(tenants: int, members: int, number: int) -> list[str]:
    """Migrate, and seed the missing tenants. Return lines with sign-in instructions. Raises CommandError as `migrate`.

    The connection is closed afterwards: forked workers must not share it.
    """
    try:
        migrate()
        seed(tenants, members, number)
        return _greeting()
    finally:
        connection.close()


def _greeting() -> list[str]:
    first = Tenant.objects.order_by("created_at", "pk").first()
    if first is None:
        return ["There are no tenants yet: --tenants and --members make some."]
    known = describe(first)
    login, password = known["admin_login"], known["admin_password"]
    return [f"Member site of {first.name} (one of {Tenant.objects.count():,}): login {login}, password {password}"]
