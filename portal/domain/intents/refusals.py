"""Explain the service's refusals: the cause of each, and its text beside the form inputs that it is about."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from accessapi.meanings import RefusalCause, RefusalMeaning
from accessapi.operations import Contract
from portal.base.ui.value_words import add_brackets, join_sentences, service_response
from portal.domain.intents.models import Intent, Reason, State
from tenants.models import current_tenant

# For these reasons the detail is the service's text; for all others it is the portal's.
_SERVICE_REASONS = {Reason.REFUSED, Reason.REQUEST_FAILED, Reason.CONNECTION, Reason.UNFOLLOWED}


def meaning_of(intent: Intent) -> RefusalMeaning | None:
    """Return the meaning of the service's error code; None when there is no code or its meaning is unknown."""
    return current_tenant().environment.catalogue.errors.meaning(intent.error_code)


def is_refused_for(intent: Intent, cause: RefusalCause, subject: str = "") -> bool:
    """Return whether the intent was refused for this cause, and about this subject if given."""
    known = meaning_of(intent)
    return known is not None and known.cause is cause and (not subject or subject in known.subjects)


def missing_contract(intent: Intent) -> Contract | None:
    """Return the missing contract; None when that is not the cause, or the contract is not clear."""
    catalogue = current_tenant().environment.catalogue
    operation = catalogue.find(intent.operation)
    return catalogue.errors.contract_of(intent.error_code, intent.error_detail, operation)


def missing_permission_text(intent: Intent) -> str:
    """Return a sentence about the API permission that the connection lacks, or "" for other causes."""
    if not is_refused_for(intent, RefusalCause.SCOPE):
        return ""
    scope = current_tenant().environment.catalogue.find(intent.operation).scope or ""
    return _("The connection lacks the permission %(name)s.") % {"name": scope}


def is_service_text(intent: Intent) -> bool:
    """Return whether the detail of an intent is the service's own text."""
    return bool(intent.error_code) or intent.reason in _SERVICE_REASONS


# The names of form inputs for each name of the service, the likeliest first.
InputNames = Mapping[str, Sequence[str]]
# An area's explanation of a refusal: the inputs that it is about, and the text before the service's text.
Explanation = tuple[Sequence[str], str]

# A name of the service, or a path of names: `members[0].qrcode.data`.
_PATH = re.compile(r"[A-Za-z_]\w*(?:\.\w+|\[\w*\])*")


def show_in_form(form: Any, intent: Intent, inputs: InputNames, explained: Explanation | None = None) -> None:
    """Add the reason of a refused or unsent intent to its form: beside the input it is about, else on top."""
    for names, text in _problems(form, intent, inputs, explained):
        field_name = next((name for name in names if name in form.fields), None)
        form.add_error(field_name, text if field_name else join_sentences([headline(intent), text]))
    if not form.errors:
        form.add_error(None, headline(intent))


def headline(intent: Intent) -> str:
    """Return what happened, in a sentence, and that nothing was changed."""
    why = str(Reason(intent.reason).label) if intent.reason in Reason.values else ""
    if intent.state == State.FAILED and intent.reason == Reason.REFUSED:
        refused = _("Refused by the service. Nothing was changed.")
        return join_sentences([refused, missing_permission_text(intent)])
    return join_sentences([why, _("Nothing was changed.")])


def quote_service(text: str) -> str:
    """Return the service's own text as a quotation."""
    return service_response(text) or _("The service gave no reason.")


def service_text_of(intent: Intent) -> str:
    """Return the service's text about an intent, with its code."""
    return join_sentences([quote_service(intent.error_detail), _code_text(intent)])


def _code_text(intent: Intent) -> str:
    return add_brackets(intent.error_code) if intent.error_code else ""


def _problems(
    form: Any, intent: Intent, inputs: InputNames, explained: Explanation | None
) -> Iterator[tuple[Sequence[str], str]]:
    code = _code_text(intent)
    if explained is not None:
        names, text = explained
        yield names, join_sentences([text, service_text_of(intent)])
        return
    for line in intent.error_detail.splitlines() or ([""] if code else []):
        text = quote_service(line) if is_service_text(intent) else line
        yield _inputs_named_in(line, inputs) or _only_input(form, intent), join_sentences([text, code])


def _inputs_named_in(line: str, inputs: InputNames) -> Sequence[str]:
    """Return the inputs of the first name in a line.

    Of a path, the most precise part counts; of `qrcode.data`, its end.
    """
    for path in _PATH.findall(line):
        parts = re.findall(r"\w+", path)
        for end in range(len(parts), 0, -1):
            for begin in range(end):
                if names := inputs.get(".".join(parts[begin:end])):
                    return names
    return ()


def _only_input(form: Any, intent: Intent) -> Sequence[str]:
    """Return the one input of a form that has no other, for a refusal that can only be about it."""
    about = intent.reason == Reason.INVALID or (intent.http_status in (400, 409) and meaning_of(intent) is None)
    return list(form.fields) if about and len(form.fields) == 1 else ()
