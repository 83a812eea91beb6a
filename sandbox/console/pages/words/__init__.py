"""The console's words, in English and Japanese. Both have the same keys."""

from typing import Any

from django.http import HttpRequest

from sandbox.oauth.texts import preferred_language

from .english import ENGLISH
from .japanese import JAPANESE

Words = dict[str, Any]
WORDS: dict[str, Words] = {"en": ENGLISH, "ja": JAPANESE}


def language(request: HttpRequest) -> str:
    """Return en or ja: the person's choice, else the browser's language."""
    chosen = request.COOKIES.get("console_language", "")
    return chosen if chosen in WORDS else preferred_language(request.headers.get("Accept-Language", ""))


def words_for(request: HttpRequest) -> Words:
    """Return the words for this request."""
    return WORDS[language(request)]
