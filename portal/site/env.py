"""The environment variables of the site, and reading them with their types.

A missing or malformed one fails at start, with its name; an undeclared name is an error. `make docs` writes
docs/configuration.md from the table here (`python -m portal.site.env`).
"""

import os
import sys
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any, NoReturn
from urllib.parse import unquote, urlsplit

import psycopg
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from psycopg.conninfo import conninfo_to_dict


@dataclass(frozen=True)
class Variable:
    """An environment variable. `default` is None where the site does not start without it.

    `shown_default`: the default in words, where it depends on another variable.
    """

    name: str
    help: str
    default: str | None = ""
    shown_default: str = ""

    @property
    def default_text(self) -> str:
        """Return the default as docs/configuration.md shows it."""
        if self.default is None:
            return "required"
        return self.shown_default or (f"`{self.default}`" if self.default else "none")


DEVELOPMENT = "Development and tests only"

GROUPS: dict[str, tuple[Variable, ...]] = {
    "Services and secrets": (
        Variable(
            "DATABASE_URL",
            "PostgreSQL, as the role that owns no table: `postgresql://user:password@host:5432/name`, with any option "
            "of PostgreSQL (`?sslmode=verify-full`). PgBouncer works only with `pool_mode = session` and "
            "`ignore_startup_parameters = options`",
            None,
        ),
        Variable(
            "DATABASE_OWNER_URL",
            "PostgreSQL, as the owner of the tables. Only for `migrate` and `rotate_vault_keys`; no other process may "
            "have it",
        ),
        Variable("PORTAL_DB_POOL", "1 in web processes: keep a pool of database connections", "0"),
        Variable("PORTAL_DB_POOL_SIZE", "The most connections in the pool of a web process", "16"),
        Variable("REDIS_URL", "Redis or Valkey, with `maxmemory-policy noeviction`", None),
        Variable("SECRET_KEY", "Signs sessions and forms", None),
        Variable(
            "VAULT_KEYS",
            "Keys that encrypt secrets in the database: `id:base64,id:base64`, newest first. "
            "`manage.py rotate_vault_keys` encrypts with the newest",
            None,
        ),
    ),
    "Address and proxy": (
        Variable(
            "PORTAL_URL",
            "The address of the site, with `https://`. The redirect URI for the service is "
            "`PORTAL_URL/oauth/<environment>/callback/`",
            None,
        ),
        Variable(
            "ALLOWED_HOSTS", "Host names that the site answers to, separated by commas", "127.0.0.1,localhost,[::1]"
        ),
        Variable("PORTAL_BEHIND_PROXY", "1 to trust `X-Forwarded-Proto` of the proxy in front of the site", "0"),
        Variable(
            "PORTAL_TRUSTED_PROXIES",
            "How many proxies add to `X-Forwarded-For`. Limits, logs and the audit log then know the client's address",
            "",
            "1 behind a proxy, else 0",
        ),
        Variable("PORTAL_SSL_REDIRECT", "0 to answer `http://` requests without a redirect to `https://`", "1"),
        Variable(
            "PORTAL_HSTS_SUBDOMAINS",
            "1 for HSTS on all hosts below this one, too. Only if every one of them has HTTPS",
            "0",
        ),
        Variable("PORTAL_HSTS_PRELOAD", "1 to allow the site on the HSTS list that browsers ship with", "0"),
    ),
    "Mail": (
        Variable(
            "EMAIL_URL",
            "The mail server for invitations, passwords, account notices, alerts and reports: `smtp://…` or `smtps://…`",
            None,
        ),
        Variable("MAIL_FROM", "The sender of mails", "Access portal <no-reply@localhost>"),
    ),
    "Sign-in": (
        Variable(
            "PORTAL_REQUIRE_MFA",
            "Require a second factor of platform staff and of each role that opens doors, exports personal data or "
            "decides who has access",
            "1",
        ),
        Variable(
            "PORTAL_SIGN_IN_RATE",
            "Wrong passwords from one address by browsers that have not signed in before (s, m or h)",
            "60/m",
        ),
        Variable(
            "PORTAL_REAUTHENTICATION_SECONDS",
            "How long a password or second factor counts before doors, secrets, files of personal data, safety rules, "
            "evidence, staff and the connection",
            "300",
        ),
        Variable(
            "PORTAL_LONG_PROOF_SECONDS",
            "The same before members, rights, imports, bulk changes, reviews and cameras",
            "3600",
        ),
    ),
    "Evidence": (
        Variable(
            "PORTAL_EVIDENCE_FILES",
            "The folder of stored files, encrypted: evidence, reports and exports. All processes must share it",
            ".evidence",
        ),
        Variable("PORTAL_EVIDENCE_BUCKET", "An S3 bucket for stored files, instead of the folder"),
        Variable("PORTAL_EVIDENCE_S3_URL", "The address of the S3 store, if it is not AWS"),
        Variable("PORTAL_EVIDENCE_S3_REGION", "The region of the S3 store"),
        Variable("PORTAL_EVIDENCE_S3_KEY", "The access key of the S3 store"),
        Variable("PORTAL_EVIDENCE_S3_SECRET", "The secret key of the S3 store"),
        Variable(
            "PORTAL_TIME_STAMP_URL",
            "A time stamp authority (RFC 3161) for exports of evidence. Without it, exports have no time stamp",
        ),
    ),
    "Operation": (
        Variable("LOG_LEVEL", "How much is logged", "INFO"),
        Variable("PORTAL_METRICS_TOKEN", "The bearer token that `/metrics` requires. Without it, `/metrics` is closed"),
        Variable(
            "PORTAL_ALERT_NETWORKS",
            "Private networks, such as `10.1.0.0/16`, to which alerts may be posted, on any port",
        ),
        Variable(
            "PORTAL_INLINE_SENDS",
            "How many web threads of one process may wait for the service. Beyond that, workers send",
            "6",
        ),
        Variable("STATIC_ROOT", "The folder that `collectstatic` fills for browsers", "staticfiles"),
    ),
    DEVELOPMENT: (
        Variable(
            "PORTAL_INSECURE",
            "1 for a trial on one machine: allows `http://` in `PORTAL_URL`, and `console:` in `EMAIL_URL`, which "
            "prints mails",
            "0",
        ),
        Variable("PORTAL_DEBUG", "1 for Django's debug pages", "0"),
        Variable(
            "PORTAL_STATIC",
            "How static files are served: `manifest` (after `collectstatic`), `finders` (from the checkout) or `none`",
            "manifest",
        ),
        Variable("PORTAL_PREPARING_FILE", "While this file exists, `/readyz` reports that the site is being prepared"),
        Variable("PORTAL_PAUSES", "A fraction of the usual pauses between two tries, such as `0.1`", "1"),
    ),
}
BY_NAME = {each.name: each for group in GROUPS.values() for each in group}


def describe() -> str:
    """Return docs/configuration.md."""
    lines = [
        "# Configuration",
        "",
        "The site reads these environment variables at start. It does not start with a missing or malformed value: it",
        "names the variable. `make docs` writes this page from `portal/site/env.py`.",
    ]
    for title, group in GROUPS.items():
        lines += ["", f"## {title}", "", "| Variable | For | Default |", "|---|---|---|"]
        lines += [f"| `{each.name}` | {each.help} | {each.default_text} |" for each in group]
    return "\n".join([*lines, ""])


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
    count, _, period = value.partition("/")
    unit = {"s": 1, "m": 60, "h": 3600}.get(period.partition("/")[0])
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


if __name__ == "__main__":
    print(describe(), end="")
