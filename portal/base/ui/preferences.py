"""A person's theme and language: stored in the account when signed in, and always in a cookie (for sign-in pages).

The account's language has priority over the browser's, on every device.
"""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation

THEMES = ("auto", "light", "dark")
THEME_COOKIE = "theme"
_YEAR = 365 * 24 * 3600


def chosen_theme(request: HttpRequest) -> str:
    """Return `light`, `dark` or `auto` (the device's setting)."""
    user = getattr(request, "user", None)
    kept = getattr(user, "theme", "") if user is not None and user.is_authenticated else ""
    chosen = kept or request.COOKIES.get(THEME_COOKIE, "")
    return chosen if chosen in THEMES else "auto"


def save_preferences(request: HttpRequest, response: HttpResponse) -> None:
    """Save the posted theme or language; ignore other values."""
    offered = {
        "theme": (THEMES, THEME_COOKIE),
        "language": (dict(settings.LANGUAGES), settings.LANGUAGE_COOKIE_NAME),
    }
    for name, (known, cookie) in offered.items():
        chosen = request.POST.get(name, "")
        if chosen in known:
            _save_on_account(request, name, chosen)
            response.set_cookie(
                cookie, chosen, max_age=_YEAR, samesite="Lax", secure=settings.SESSION_COOKIE_SECURE, httponly=True
            )


def _save_on_account(request: HttpRequest, field: str, value: str) -> None:
    user = request.user
    if user.is_authenticated and hasattr(user, field):
        setattr(user, field, value)
        user.save(update_fields=[field])


def person_language(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Activate the language of the account, if it has one. Place it after AuthenticationMiddleware."""

    def middleware(request: HttpRequest) -> HttpResponse:
        chosen = getattr(request.user, "language", "") if request.user.is_authenticated else ""
        if chosen in dict(settings.LANGUAGES) and chosen != translation.get_language():
            translation.activate(chosen)
            request.LANGUAGE_CODE = chosen
        return get_response(request)

    return middleware
