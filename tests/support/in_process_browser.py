"""A browser whose requests the site answers in the test's own process: only the server is missing."""

from functools import cache

import httpx2
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.utils.crypto import get_random_string

from tenants.models import User
from tests.support.browser import Browser
from tests.support.places import signed_in

URL = "http://testserver"
#: The domain that a cookie jar uses for a host name without dots.
_DOMAIN = "testserver.local"


@cache
def _site() -> WSGIHandler:
    return WSGIHandler()


class Inside(Browser):
    """A browser in which this person has just signed in, or no one. An error of the site becomes an answer of 500."""

    def __init__(self, user: User | None = None) -> None:
        super().__init__(URL, httpx2.WSGITransport(_site()))
        self.http.cookies.set(settings.CSRF_COOKIE_NAME, get_random_string(32), domain=_DOMAIN)
        if user is not None:
            session = signed_in(user).cookies[settings.SESSION_COOKIE_NAME].value
            self.http.cookies.set(settings.SESSION_COOKIE_NAME, session, domain=_DOMAIN)

    def __enter__(self) -> "Inside":
        """Keep the connection of the test, as Django's own client does, until this browser is closed."""
        request_started.disconnect(close_old_connections)
        request_finished.disconnect(close_old_connections)
        return self

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        request_started.connect(close_old_connections)
        request_finished.connect(close_old_connections)
