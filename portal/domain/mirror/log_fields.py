"""The fields of log records that are requested (operation 23).

The specification does not say which names the parameter `fields` accepts. The portal requests the fields that its
environment configures, and the default if the service refuses them. It requests them again a day later.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from accessapi.client import Answer
from accessapi.errors import Invalid
from portal.base.timers.clock import database_now
from tenants.models import current_tenant

_RETRY_REFUSED_AFTER = timedelta(days=1)
_REFUSED_AT = "fields_refused_at"  # in the memory of the log's state


def fields_to_request(memory: dict[str, Any]) -> str:
    """Return the fields for a reading that begins now; "" for the default."""
    refused_at = memory.get(_REFUSED_AT)
    if refused_at is not None and datetime.fromisoformat(refused_at) > database_now() - _RETRY_REFUSED_AFTER:
        return ""
    return current_tenant().environment.catalogue.shapes.history_fields


def read_first_page(call: Callable[[str], Answer], fields: str, memory: dict[str, Any]) -> tuple[Answer, str]:
    """Return a reading's first page, and the fields that were requested; "" if the service refuses `fields`.

    If the same call succeeds without `fields`, the fields were the reason for the refusal.
    """
    try:
        return call(fields), fields
    except Invalid:
        if not fields:
            raise
        answer = call("")
        memory[_REFUSED_AT] = database_now().isoformat()
        return answer, ""
