"""Send the messages that a tenant's outbox has, as the workers do."""

from portal.domain.notifications import outbox
from portal.domain.notifications.models import OutgoingMessage


def send_messages() -> None:
    """Try to send each message of the tenant in scope."""
    for pk in OutgoingMessage.objects.order_by("pk").values_list("pk", flat=True):
        outbox.send(pk)
