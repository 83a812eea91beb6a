"""The language of the account wins over the browser's, on any machine that a person signs in from."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation


def person_language(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Place after AuthenticationMiddleware. Without a language on the account, LocaleMiddleware's choice stands."""

    def middleware(request: HttpRequest) -> HttpResponse:
        chosen = getattr(request.user, "language", "") if request.user.is_authenticated else ""
        if chosen in dict(settings.LANGUAGES) and chosen != translation.get_language():
            translation.activate(chosen)
            request.LANGUAGE_CODE = chosen
        return get_response(request)

    return middleware
