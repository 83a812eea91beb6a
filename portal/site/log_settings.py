"""The log: its format, its levels, and processors that keep secrets out of it.

Addresses are logged without their query, which may have OAuth codes and states.
Addresses of guests' codes, webhooks, invitations and password resets are secret. Only their kind is logged.
"""

import re
from collections.abc import Mapping, MutableMapping
from typing import Any

import structlog

from tenants import client_addresses

_ADDRESSES = ("request", "path", "url", "referer")
_SECRET_ADDRESS = re.compile(r"/(g|hooks|invitations|reset/key)/[^/\s]+")


def add_address(logger: Any, method: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
    """Add the client's address to a log event. This is a structlog processor."""
    address = client_addresses.current()
    if address is not None:
        event.setdefault("ip", address)
    return event


def remove_queries(logger: Any, method: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
    """Remove queries and secret paths of addresses from a log event. This is a structlog processor."""
    for name in _ADDRESSES:
        value = event.get(name)
        if isinstance(value, str):
            event[name] = _SECRET_ADDRESS.sub(r"/\1/…", value.partition("?")[0])
    text = event.get("event")
    if isinstance(text, str):  # Django's own lines about requests have the address in their text
        event["event"] = _SECRET_ADDRESS.sub(r"/\1/…", text)
    return event


# What every line of the log goes through, ours and those of libraries.
_LINES: list[structlog.typing.Processor] = [
    structlog.contextvars.merge_contextvars,
    add_address,
    remove_queries,
    structlog.processors.TimeStamper(fmt="iso"),
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
]


def configure_logging(level: str) -> dict[str, Any]:
    """Configure structlog. Return Django's LOGGING, for lines of JSON."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_LINES,
            structlog.stdlib.PositionalArgumentsFormatter(),
            structlog.processors.format_exc_info,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "json": {
                "()": "structlog.stdlib.ProcessorFormatter",
                "processor": structlog.processors.JSONRenderer(),
                "foreign_pre_chain": [*_LINES, structlog.processors.format_exc_info],
            }
        },
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "json"}},
        "root": {"handlers": ["console"], "level": level},
        "loggers": {
            # Addresses of the service carry ids of people; the wire itself is never logged.
            "httpx2": {"level": "WARNING"},
            "httpcore2": {"level": "WARNING"},
            "django_structlog": {"level": "WARNING"},
            # They name the characters that a PDF has, and those that the font has not: names of people.
            "fpdf": {"level": "ERROR"},
            "fontTools": {"level": "ERROR"},
        },
    }
