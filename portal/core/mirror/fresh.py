"""Something read from the service for somebody at a screen, or why that was not possible in words for a page."""

from collections.abc import Callable
from typing import TypeVar

from django.utils.translation import gettext as _

from accessapi.errors import NotFound, ServiceError
from accessapi.resources.members import Member
from portal.core.budget.ledger import BudgetExhausted
from portal.core.budget.priorities import Priority
from portal.core.mirror import reading, reasons
from portal.core.ui.times import local
from tenants.connections.service import current_connection
from tenants.models import Connection

T = TypeVar("T")


class NotRead(Exception):
    """The text says why, for a person. `is_gone`: the service does not know it any more."""

    def __init__(self, why: str, *, is_gone: bool = False) -> None:
        super().__init__(why)
        self.is_gone = is_gone


def read(ask: Callable[[Connection], T], gone: str) -> T:
    """Return what `ask` reads with the tenant's connection. Raises NotRead, with `gone` for what is not there."""
    connection = current_connection()
    if not connection.is_connected:
        raise NotRead(_("The connection to the service is not working. Showing the last loaded data."))
    try:
        return ask(connection)
    except NotFound:
        raise NotRead(gone, is_gone=True) from None
    except BudgetExhausted as exhausted:
        words = _("No API calls left this hour; loading is possible from %(time)s. Showing the last loaded data.")
        raise NotRead(words % {"time": f"{local(exhausted.retry_at):%H:%M}"}) from None
    except ServiceError as error:
        raise NotRead(" ".join([reasons.trouble(error), _("Showing the last loaded data.")])) from None


def read_member(member_id: str) -> Member:
    """Return the member as the service has it now, the mirror's row brought up to date, by one call. Raises NotRead."""
    gone = _("This member no longer exists in the service.")
    return read(lambda connection: reading.read_member(connection, member_id, Priority.PEOPLE), gone)
