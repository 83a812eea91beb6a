"""The line to the service of the tenant in scope."""

from tenants.models import Connection


def connection() -> Connection | None:
    return Connection.objects.select_related("tenant__environment").first()
