"""Read environment variables with their types. A missing or malformed one fails at start, with its name.

Each variable is declared in `portal.site.variables`; an undeclared name is an error.
"""

import os
import sys
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any, NoReturn
from urllib.parse import unquote, urlsplit

import psycopg
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from psycopg.conninfo import conninfo_to_dict

from portal.site.variables import BY_NAME

# The exit code after which gunicorn does not restart a process again and again.
_EXIT_CODE = 3


def exit_with(*sentences: str) -> NoReturn:
    """End this process at start, with what is wrong."""
    print("The portal does not start.", *sentences, sep="\n", file=sys.__stderr__, flush=True)
    raise SystemExit(_EXIT_CODE)


def read_settings() -> None:
    """Read the settings now. A variable that is missing or malformed ends the process with a sentence that names it."""
    try:
        str(settings.PORTAL_URL)
    except ImproperlyConfigured as error:
        exit_with(str(error))


def text(name: str) -> str:
    """Return the variable as text. Raises ImproperlyConfigured, with its name, if it is missing and required."""
    value = os.environ.get(name, BY_NAME[name].default)
    if value is None:
        raise ImproperlyConfigured(f"{name} is not set. docs/configuration.md says what it is for.")
    return value


def _value(name: str) -> str:
    """Return the variable, or its default where it is missing or empty."""
    return os.environ.get(name) or BY_NAME[name].default or ""


def flag(name: str) -> bool:
    """Return the variable as yes or no: 1/true/yes/on or 0/false/no/off."""
    value = _value(name)
    if value.lower() in {"1", "true", "yes", "on"}:
        return True
    if value.lower() in {"0", "false", "no", "off"}:
        return False
    raise ImproperlyConfigured(f"{name} must be 1 or 0, not {value!r}.")


def number(name: str, default: int = 0) -> int:
    """Return the variable as a whole number; `default` where its default depends on another variable."""
    value = _value(name) or str(default)
    try:
        return int(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name} must be a whole number, not {value!r}.") from None


def fraction(name: str, least: float) -> float:
    """Return the variable as a number from `least` to 1."""
    value = _value(name)
    try:
        found = float(value)
    except ValueError:
        found = -1.0
    if not least <= found <= 1:
        raise ImproperlyConfigured(f"{name} must be a number from {least} to 1, not {value!r}.")
    return found


def rate(name: str) -> tuple[int, int]:
    """Return a rate such as 60/m (s, m or h) as a count and seconds. Text after another slash is ignored."""
    value = _value(name)
    count, _, rest = value.partition("/")
    unit = {"s": 1, "m": 60, "h": 3600}.get(rest.partition("/")[0])
    if not count.isdigit() or unit is None:
        raise ImproperlyConfigured(f"{name} must look like 60/m (s, m or h), not {value!r}.")
    return int(count), unit


def choice(name: str, allowed: tuple[str, ...]) -> str:
    """Return the variable, which must be one of a few words."""
    value = _value(name)
    if value not in allowed:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(allowed)}, not {value!r}.")
    return value


def names(name: str) -> list[str]:
    """Return a comma-separated list, without blanks."""
    return [item.strip() for item in text(name).split(",") if item.strip()]


def networks(name: str) -> list[IPv4Network | IPv6Network]:
    """Return a comma-separated list of networks, such as 10.1.0.0/16."""
    try:
        return [ip_network(item) for item in names(name)]
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}: {error}") from None


def database(name: str, engine: str, session: str) -> dict[str, Any]:
    """Return Django's database settings from a postgresql:// address, which PostgreSQL's own library reads.

    The address may use all its options: several hosts, sockets, sslmode, target_session_attrs. `session` is added to
    the options of each session.
    """
    address = text(name)
    if not address.startswith(("postgres://", "postgresql://")):
        raise ImproperlyConfigured(f"{name} must look like postgresql://user:password@host:5432/name.")
    try:
        parts = conninfo_to_dict(address)
    except psycopg.ProgrammingError as error:
        unknown = str(error).partition('invalid URI query parameter: "')[2].partition('"')[0]
        what = f"has an unknown option {unknown!r}" if unknown else "cannot be read by PostgreSQL's library"
        raise ImproperlyConfigured(f"{name} {what}.") from None  # its message may show the password
    if not parts.get("dbname"):
        raise ImproperlyConfigured(f"{name} names no database: it must look like postgresql://user:password@host/name.")
    if not all(port.isdigit() for port in str(parts.get("port", "5432")).split(",")):
        raise ImproperlyConfigured(f"{name} has a port that is not a number.")
    parts["options"] = f"{parts.get('options', '')} {session}".strip()
    account = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host", "PORT": "port"}
    found = {key: str(parts.pop(part, "")) for key, part in account.items()}
    return {"ENGINE": engine, **found, "OPTIONS": parts}


def mail(name: str) -> dict[str, object]:
    """Return Django's mail settings from smtp://, smtps://, console: or folder:<path>."""
    url = urlsplit(text(name))
    backend = "django.core.mail.backends."
    if url.scheme == "console":
        return {"EMAIL_BACKEND": backend + "console.EmailBackend"}
    if url.scheme == "folder":
        return {"EMAIL_BACKEND": backend + "filebased.EmailBackend", "EMAIL_FILE_PATH": unquote(url.path)}
    if url.scheme not in {"smtp", "smtps"}:
        raise ImproperlyConfigured(f"{name} must begin with smtp://, smtps://, console: or folder:.")
    return {
        "EMAIL_BACKEND": backend + "smtp.EmailBackend",
        "EMAIL_HOST": url.hostname or "localhost",
        "EMAIL_PORT": url.port or (465 if url.scheme == "smtps" else 587),
        "EMAIL_HOST_USER": unquote(url.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(url.password or ""),
        "EMAIL_USE_SSL": url.scheme == "smtps",
        "EMAIL_USE_TLS": url.scheme == "smtp" and bool(url.username),
    }
