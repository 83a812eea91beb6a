"""Refuse to start web, workers and the clock with settings that would break a promise of the site.

It needs no Django apps, so that a process ends before they are loaded. `manage.py check --database default` runs the
same checks. If a service is not available, the readiness probe reports it. The database is checked in each process's
first session (`tenants/postgresql/server_checks.py`).
"""

from collections.abc import Iterator, Sequence
from typing import Any

import psycopg
from django.conf import settings
from django.core import checks
from django.core.exceptions import ImproperlyConfigured
from django.db import connections
from django.http.request import split_domain_port, validate_host
from redis.exceptions import RedisError

from portal.base.timers import celery_app
from portal.site import env
from tenants import vault
from tenants.postgresql import server_checks

_FEWEST_CHARACTERS = 32


def exit_if_misconfigured() -> None:
    """End this process with an error for each setting that would break a promise."""
    if wrong := [*_setting_problems(), *_service_problems()]:
        env.exit_with(*wrong)


@checks.register
def check_startup(databases: Sequence[str] | None = None, **kwargs: Any) -> list[checks.CheckMessage]:
    """Check that the site would start. Services are asked only if `databases` allows it."""
    wrong = [*_setting_problems(), *(_service_problems() if databases else ())]
    return [checks.Error(sentence, id="portal.E001") for sentence in wrong]


def _setting_problems() -> Iterator[str]:
    name, _port = split_domain_port(settings.PORTAL_HOST)
    if not settings.PORTAL_URL.startswith(("https://", "http://")) or not name:
        yield "PORTAL_URL must be the whole address of the site: https://portal.example.com."
    else:
        if not validate_host(name, settings.ALLOWED_HOSTS):
            yield "ALLOWED_HOSTS does not hold the host of PORTAL_URL, so that no page would be answered. Add it."
        yield from () if settings.INSECURE else _insecure_settings()
    if len(settings.SECRET_KEY) < _FEWEST_CHARACTERS:
        yield f"SECRET_KEY is too short: sessions could be forged. Use at least {_FEWEST_CHARACTERS} random characters."
    try:
        vault.key_ring()
    except ImproperlyConfigured as error:
        yield str(error)


def _insecure_settings() -> Iterator[str]:
    trial = "Only a trial without real data may do this: PORTAL_INSECURE=1."
    if not settings.HTTPS:
        yield f"PORTAL_URL does not begin with https://: passwords and sessions would travel unencrypted. {trial}"
    if not settings.EMAIL_BACKEND.endswith(".smtp.EmailBackend"):
        yield f"EMAIL_URL leads to no mail server: invitations and alerts would reach no one. {trial}"
    if settings.DEBUG:
        yield f"PORTAL_DEBUG is on: error pages would show secrets. {trial}"


def _service_problems() -> Iterator[str]:
    try:
        yield from server_checks.find_problems(connections["default"].get_connection_params())
    except psycopg.OperationalError as error:  # the readiness probe reports a service that is not available
        if "startup parameter" in str(error):
            yield (
                "DATABASE_URL leads to a connection pooler that refuses what the portal sets for its sessions. In "
                "PgBouncer, set ignore_startup_parameters = options."
            )
    try:
        policy = celery_app.broker_eviction_policy()
    except (RedisError, OSError):
        return
    if policy != celery_app.NO_EVICTION:
        yield (
            f"REDIS_URL leads to a server that removes what waits there when its memory is full ({policy}). Set its "
            f"maxmemory-policy to {celery_app.NO_EVICTION}."
        )
