"""Settings of the sandbox, from the environment. An error names the missing or wrong variable."""

import gc
import hashlib
import os
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

# With Python's default, garbage collection takes a tenth of the start. `serve` collects more often once it is loaded.
gc.set_threshold(500_000, 20, 100)

BASE_DIR = Path(__file__).resolve().parent


def database(variable: str) -> dict[str, object]:
    """Return the PostgreSQL address in `variable` as a Django database.

    Raises ImproperlyConfigured with the variable's name.
    """
    address = os.environ.get(variable, "")
    parts = urlsplit(address)
    if parts.scheme not in {"postgres", "postgresql"} or not parts.path.strip("/"):
        raise ImproperlyConfigured(f"{variable} must be a PostgreSQL address, such as postgresql://user@host:5432/name")
    options = dict(parse_qsl(parts.query))
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.strip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": unquote(parts.hostname or options.pop("host", "")),
        "PORT": str(parts.port or options.pop("port", "")),
        "CONN_MAX_AGE": None,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": options,
    }


def flag(variable: str, default: bool) -> bool:
    """Return a switch: 1 or 0. Raises ImproperlyConfigured with the variable's name."""
    value = os.environ.get(variable, "1" if default else "0")
    if value not in {"0", "1"}:
        raise ImproperlyConfigured(f"{variable} must be 0 or 1, not {value!r}")
    return value == "1"


DATABASES = {"default": database("SANDBOX_DATABASE_URL")}
# Only signs page cursors and the member site's sessions, so one stable key per database is enough.
SECRET_KEY = (
    os.environ.get("SANDBOX_SECRET_KEY")
    or hashlib.sha256(b"sandbox|" + os.environ["SANDBOX_DATABASE_URL"].encode()).hexdigest()
)
DEBUG = False
ALLOWED_HOSTS = os.environ.get("SANDBOX_HOSTS", "localhost,127.0.0.1,[::1]").split(",")
# Hosts that may receive notifications, besides this machine.
WEBHOOK_HOSTS = [
    host for host in os.environ.get("SANDBOX_WEBHOOK_HOSTS", "").lower().replace(" ", "").split(",") if host
]
# A service with the opposite choice wherever the specification leaves one: docs/sandbox.md, "Contrary".
CONTRARY = flag("SANDBOX_CONTRARY", False)
# An overrides file (TOML): other methods, paths and words for what the specification does not show.
OPERATIONS_FILE = os.environ.get("SANDBOX_OPERATIONS", "") or (str(BASE_DIR / "contrary.toml") if CONTRARY else "")
# The control API for tests and demonstrations; `serve` switches it on unless it is set.
CONSOLE = flag("SANDBOX_CONSOLE", False)

ROOT_URLCONF = "sandbox.urls"
INSTALLED_APPS = ["django.contrib.sessions", "sandbox.service", "sandbox.commands"]
MIDDLEWARE = ["sandbox.api.error_handling.ErrorMiddleware", "django.contrib.sessions.middleware.SessionMiddleware"]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "oauth" / "templates", BASE_DIR / "console" / "templates"],
        "OPTIONS": {
            "context_processors": ["django.template.context_processors.csrf"],
            "libraries": {"console": "sandbox.console.pages.tags"},
        },
    }
]
# Cookies are shared between ports: these names keep the sandbox's apart from a portal's on the same host.
SESSION_ENGINE = "django.contrib.sessions.backends.signed_cookies"
SESSION_COOKIE_NAME = "membersite_session"
CSRF_COOKIE_NAME = "membersite_csrf"
SESSION_COOKIE_AGE = 3600
CSRF_FAILURE_VIEW = "sandbox.oauth.pages.forged"

USE_TZ = True
TIME_ZONE = "Asia/Tokyo"
USE_I18N = False
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
# For forms and the console only: the API reads its bodies itself and answers 413 with the service's error body.
DATA_UPLOAD_MAX_MEMORY_SIZE = 1 << 20
AUTHLIB_OAUTH2_PROVIDER = {"token_expires_in": {"authorization_code": 0}}
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"stderr": {"class": "logging.StreamHandler"}},
    # Refused calls are not logged.
    "loggers": {"django.request": {"level": "CRITICAL"}, "django.security": {"level": "CRITICAL"}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
}
# Authlib refuses plain HTTP unless this variable shows that it is not production, which the sandbox never is.
os.environ.setdefault("AUTHLIB_INSECURE_TRANSPORT", "1")
