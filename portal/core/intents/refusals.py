"""The service's refusals, put beside the inputs of a form that they are about, in its own words and in plain ones."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from portal.core.intents import meanings
from portal.core.intents.models import Intent
from portal.core.intents.states import Reason, State
from portal.core.ui.sentences import joined

# What forms call each name of the service, the likeliest first.
Inputs = Mapping[str, Sequence[str]]
# Of a refusal that an area of work can explain: beside what it stands, and what to say before the service's words.
Explained = tuple[Sequence[str], str]

# A name of the service, or a path of names: `members[0].qrcode.data`.
_PATH = re.compile(r"[A-Za-z_]\w*(?:\.\w+|\[\w*\])*")


def show(form: Any, intent: Intent, inputs: Inputs, explained: Explained | None = None) -> None:
    """Add what became of a refused or unsent intent to its form: beside the input it is about, else on top."""
    for names, text in _problems(form, intent, inputs, explained):
        beside = next((name for name in names if name in form.fields), None)
        form.add_error(beside, text if beside else joined([headline(intent), text]))
    if not form.errors:
        form.add_error(None, headline(intent))


def headline(intent: Intent) -> str:
    """Return what happened, in a sentence, and that nothing was changed."""
    why = str(Reason(intent.reason).label) if intent.reason in Reason.values else ""
    if intent.state == State.FAILED and intent.reason == Reason.REFUSED:
        refused = _("Refused by the service. Nothing was changed.")
        return joined([refused, meanings.missing_permission(intent)])
    return joined([why, _("Nothing was changed.")])


def said(words: str) -> str:
    """Return the service's own words, as such."""
    return _("Response from the service: “%(words)s”") % {"words": words} if words else _("The service gave no reason.")


def told(intent: Intent) -> str:
    """Return what the service said of an intent, with its code."""
    return said(intent.error_detail) + (f" ({intent.error_code})" if intent.error_code else "")


def _problems(
    form: Any, intent: Intent, inputs: Inputs, explained: Explained | None
) -> Iterator[tuple[Sequence[str], str]]:
    code = f" ({intent.error_code})" if intent.error_code else ""
    if explained is not None:
        names, words = explained
        yield names, joined([words, told(intent)])
        return
    for line in intent.error_detail.splitlines() or ([""] if code else []):
        words = said(line) if meanings.of_the_service(intent) else line
        yield _named(line, inputs) or _only(form, intent), f"{words}{code}"


def _named(line: str, inputs: Inputs) -> Sequence[str]:
    """The inputs of the first name in a line; of a path the most precise counts, of `qrcode.data` its end."""
    for path in _PATH.findall(line):
        parts = re.findall(r"\w+", path)
        for end in range(len(parts), 0, -1):
            for begin in range(end):
                if found := inputs.get(".".join(parts[begin:end])):
                    return found
    return ()


def _only(form: Any, intent: Intent) -> Sequence[str]:
    """The one input of a form that has no other, for a refusal that can only be about it."""
    about = intent.reason == Reason.INVALID or (intent.http_status in (400, 409) and meanings.meaning(intent) is None)
    return list(form.fields) if about and len(form.fields) == 1 else ()
