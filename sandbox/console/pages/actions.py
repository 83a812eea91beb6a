"""Handle a form of the console: read it, act once, answer with the page again."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from pydantic import BaseModel

from sandbox.console.requests import Control
from sandbox.errors import ApiError

from . import messages, words
from .forms import Form, Wrong, read, refused, typed
from .messages import Message

#: Shows the page with these forms, each under its action's name, and this status.
Show = Callable[[dict[str, Form], int], HttpResponse]


@dataclass(frozen=True)
class Act:
    """What a form does: its fields, the function called with them, and where on the page its reader is led."""

    fields: type[BaseModel]
    do: Callable[..., Message]
    anchor: str = ""


def answered(request: HttpRequest, acts: Mapping[str, Act], show: Show, *about: Any) -> HttpResponse:
    """Return the page or, after a form, a redirect to it. A form with errors comes back as it was typed (422).

    `about` is passed to the action before the fields that were read.
    """
    if request.method != "POST":
        return show({}, 200)
    name = request.POST.get("act", "")
    act = acts.get(name, _UNKNOWN)
    values = typed(act.fields, request.POST)
    try:
        message = act.do(*about, read(act.fields, values))
    except Wrong as wrong:
        return show({name: refused(values, wrong, words.of(request)["errors"])}, 422)
    except ApiError as error:
        refusal = Wrong.at("", "refused", detail=error.detail)
        return show({name: refused(values, refusal, words.of(request)["errors"])}, 422)
    response = HttpResponseRedirect(request.get_full_path() + (f"#{act.anchor}" if act.anchor else ""))
    messages.keep(response, message)
    return response


def _unknown(*_: Any) -> Message:
    raise Wrong.at("", "act")


_UNKNOWN = Act(Control, _unknown)
