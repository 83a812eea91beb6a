"""The service's ids in our addresses: strings of the service's choosing, and any of them must give a working link."""

from functools import lru_cache
from urllib.parse import quote, unquote

from django.urls import register_converter, reverse
from django.urls.converters import get_converters


@lru_cache(maxsize=16_384)
def within(name: str, slug: str, *more: str) -> str:
    """The address of `name` in the tenant `slug`. Remembered: every page asks for the same few."""
    return reverse(name, args=[slug, *more])


class ServiceId:
    """`<sid:member_id>`: an id as one path segment. Whatever is not plain is written as ~XX, byte by byte."""

    regex = "[^/]+"

    def to_python(self, value: str) -> str:
        return "" if value == "~" else unquote(value.replace("~", "%"), errors="replace")

    def to_url(self, value: str) -> str:
        text = str(value)
        if text.isascii() and text.isalnum():  # nearly always, and lists ask hundreds of times
            return text
        if not text:
            return "~"
        if not text.strip("."):  # a segment of dots alone would be walked, not read
            return "~2E" * len(text)
        return quote(text, safe="").replace("~", "%7E").replace("%", "~")


def register() -> None:
    """Before any address is resolved; again is harmless."""
    if "sid" not in get_converters():
        register_converter(ServiceId, "sid")
