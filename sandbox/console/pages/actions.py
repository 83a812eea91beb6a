"""Handle a form of the console: read it, act once, and show the page again."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from pydantic import BaseModel

from sandbox.console.request_bodies import RequestBody
from sandbox.errors import ApiError

from . import messages, words
from .forms import FormState, InvalidForm, rejected_form, typed_values, validate
from .messages import Message

#: Shows the page with these forms, each under its action's name, and this status.
ShowPage = Callable[[dict[str, FormState], int], HttpResponse]


@dataclass(frozen=True)
class FormAction:
    """The action of a form: its fields, its function, and the place on the page to show afterwards."""

    fields: type[BaseModel]
    run: Callable[..., Message]
    anchor: str = ""


def respond(request: HttpRequest, actions: Mapping[str, FormAction], show: ShowPage, *about: Any) -> HttpResponse:
    """Return the page or, after a form, a redirect to it. A form with errors is shown again with its values (422).

    `about` is passed to the action before the form's fields.
    """
    if request.method != "POST":
        return show({}, 200)
    name = request.POST.get("act", "")
    act = actions.get(name, _UNKNOWN_ACTION)
    values = typed_values(act.fields, request.POST)
    try:
        message = act.run(*about, validate(act.fields, values))
    except InvalidForm as wrong:
        return show({name: rejected_form(values, wrong, words.words_for(request)["errors"])}, 422)
    except ApiError as error:
        refusal = InvalidForm.for_field("", "refused", detail=error.detail)
        return show({name: rejected_form(values, refusal, words.words_for(request)["errors"])}, 422)
    response = HttpResponseRedirect(request.get_full_path() + (f"#{act.anchor}" if act.anchor else ""))
    messages.save(response, message)
    return response


def _reject_unknown(*_: Any) -> Message:
    raise InvalidForm.for_field("", "act")


_UNKNOWN_ACTION = FormAction(RequestBody, _reject_unknown)
