"""Which fields of a log record are asked for (operation 23).

Which names its parameter `fields` takes is not shown. The portal asks for what its environment says, and for nothing
more than the default where that is refused; what was refused is asked for again a day later: services learn.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from accessapi.client import Answer
from accessapi.errors import Invalid
from portal.core.timers.clock import database_now
from tenants.models import current_tenant

_RETRY_REFUSED_AFTER = timedelta(days=1)
_REFUSED_AT = "fields_refused_at"  # in the memory of the log's state


def fields_to_request(memory: dict[str, Any]) -> str:
    """Return what a reading that begins now asks for; "" for the default."""
    refused_at = memory.get(_REFUSED_AT)
    if refused_at is not None and datetime.fromisoformat(refused_at) > database_now() - _RETRY_REFUSED_AFTER:
        return ""
    return current_tenant().environment.catalogue.shapes.history_fields


def read_first_page(call: Callable[[str], Answer], fields: str, memory: dict[str, Any]) -> tuple[Answer, str]:
    """Return a reading's first page, and which fields it was asked for: fewer where the service refuses these.

    It is the fields that were refused where the same is answered without them.
    """
    try:
        return call(fields), fields
    except Invalid:
        if not fields:
            raise
        answer = call("")
        memory[_REFUSED_AT] = database_now().isoformat()
        return answer, ""
