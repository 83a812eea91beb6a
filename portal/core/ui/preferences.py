"""Theme and language of a person: kept on the account when signed in, in a cookie always (for the sign-in pages)."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation

THEMES = ("auto", "light", "dark")
THEME_COOKIE = "theme"
_YEAR = 365 * 24 * 3600


def theme(request: HttpRequest) -> str:
    """`light`, `dark` or `auto` (what the device prefers)."""
    user = getattr(request, "user", None)
    kept = getattr(user, "theme", "") if user is not None and user.is_authenticated else ""
    chosen = kept or request.COOKIES.get(THEME_COOKIE, "")
    return chosen if chosen in THEMES else "auto"


def keep_theme(request: HttpRequest, response: HttpResponse, chosen: str) -> None:
    """Remember `chosen`, one of THEMES; anything else is left alone."""
    if chosen in THEMES:
        _on_account(request, "theme", chosen)
        _cookie(response, THEME_COOKIE, chosen)


def keep_language(request: HttpRequest, response: HttpResponse, chosen: str) -> None:
    """Remember `chosen`, one of settings.LANGUAGES; anything else is left alone."""
    if chosen in dict(settings.LANGUAGES):
        _on_account(request, "language", chosen)
        _cookie(response, settings.LANGUAGE_COOKIE_NAME, chosen)
        translation.activate(chosen)


def _on_account(request: HttpRequest, field: str, value: str) -> None:
    user = request.user
    if user.is_authenticated and hasattr(user, field):
        setattr(user, field, value)
        user.save(update_fields=[field])


def _cookie(response: HttpResponse, name: str, value: str) -> None:
    response.set_cookie(
        name, value, max_age=_YEAR, samesite="Lax", secure=settings.SESSION_COOKIE_SECURE, httponly=True
    )
