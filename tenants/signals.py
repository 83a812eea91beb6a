"""Signals for other apps. Sent after commit, inside the tenant's scope."""

from django.dispatch import Signal

# A tenant was connected or reconnected. Arguments: connection (tenants.models.Connection), first (bool).
connected = Signal()
