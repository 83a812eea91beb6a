"""The result of the last form, kept until the next page shows it."""

from dataclasses import asdict, dataclass

from django.core import signing
from django.http import HttpRequest, HttpResponse

_COOKIE, _PLACE, _SALT = "console_said", "/console/", "sandbox.console.said"
_SECONDS = 60


@dataclass(frozen=True)
class Message:
    """A message. tone: good, bad or plain; history_id: the record that was written, if any."""

    tone: str
    title: str
    text: str = ""
    history_id: str = ""


def save(response: HttpResponse, message: Message) -> None:
    """Save a message for the next page."""
    value = signing.dumps(asdict(message), salt=_SALT, compress=True)
    response.set_cookie(_COOKIE, value, max_age=_SECONDS, path=_PLACE, httponly=True, samesite="Lax")


def load(request: HttpRequest) -> Message | None:
    """Return the message to show now, if any."""
    try:
        return Message(**signing.loads(request.COOKIES.get(_COOKIE, ""), salt=_SALT, max_age=_SECONDS))
    except (signing.BadSignature, TypeError):
        return None


def clear(response: HttpResponse) -> None:
    """Delete the message that was shown."""
    response.delete_cookie(_COOKIE, path=_PLACE, samesite="Lax")
