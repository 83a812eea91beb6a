"""The service's refusals, put beside the fields that they are about, in its own words and in plain ones."""

import re
from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _

from accessapi.meanings import Blame
from portal.core.intents import meanings
from portal.core.intents.models import Intent
from portal.core.intents.states import Reason, State
from portal.core.ui.sentences import joined

# Names of the specification, longest first, and the forms' fields for each, in the order of preference.
_FIELDS = {
    "qrcode_issuing_method.email": ("email",),
    "qrcode_issuing_method": ("delivery",),
    "return_grace_period": ("grace_minutes",),
    "key_devices_list": ("keys",),
    "use_date_start": ("start",),
    "use_date_end": ("until", "end"),
    "area_id_list": ("area_ids",),
    "guest_name": ("name",),
    "qrcode_data": ("new_code", "delivery"),
    "remarks": ("remarks",),
    "email": ("email",),
}
_NAMED = re.compile(r"(?<![A-Za-z0-9_])(" + "|".join(map(re.escape, _FIELDS)) + r")(?![A-Za-z0-9_])")


def is_contract(intent: Intent, contract: str) -> bool:
    """Whether the service refused for want of this contract (qr, door, key_box). An unnamed one is the QR option."""
    return meanings.contract(intent) == contract


def is_of_the_desk(intent: Intent) -> bool:
    """Whether the service refuses codes to this tenant altogether, whatever a form says: for want of the QR option or
    of a permission, or by a 403 that nobody can explain.
    """
    if is_contract(intent, "qr") or meanings.is_for_want_of(intent, Blame.SCOPE):
        return True
    return intent.http_status == 403 and _known(intent) is None


def why_no_codes(intent: Intent) -> str:
    """The one sentence for a refusal `is_of_the_desk`."""
    if is_contract(intent, "qr"):
        return _("This tenant’s contract has no QR option: the service issues no codes to guests.")
    if meanings.is_for_want_of(intent, Blame.SCOPE):
        return _("The connection lacks the permission to issue codes to guests. An owner can reconnect with it.")
    return _("The service issues no codes to guests of this tenant.")


def show(form: Any, intent: Intent) -> None:
    """Add what became of a refused or unsent intent to its form: beside the field it names, else on top.

    What keeps the tenant from codes altogether is no fault of the form: the page says it by itself.
    """
    if intent.operation == "create_guest" and is_of_the_desk(intent):
        return
    for names, text in _problems(intent):
        field = next((name for name in names if name in form.fields), None)
        form.add_error(field, text if field else joined([headline(intent), text]))
    if not form.errors:
        form.add_error(None, headline(intent))


def headline(intent: Intent) -> str:
    """What happened, in one sentence, and that nothing was changed."""
    if intent.state == State.FAILED and intent.reason == Reason.REFUSED:
        return _("The service refused this. Nothing was changed.")
    why = str(Reason(intent.reason).label) if intent.reason in Reason.values else ""
    return joined([why, _("Nothing was changed.")])


def _problems(intent: Intent) -> Iterator[tuple[tuple[str, ...], str]]:
    code = f" ({intent.error_code})" if intent.error_code else ""
    known = _known(intent)
    if known is not None:
        yield known[0], joined([known[1], f"{said(intent.error_detail)}{code}"])
        return
    for line in intent.error_detail.splitlines() or ([""] if code else []):
        named = _NAMED.search(line)
        words = said(line) if meanings.of_the_service(intent) else line
        yield (_FIELDS[named[1]] if named else ()), f"{words}{code}"


def _known(intent: Intent) -> tuple[tuple[str, ...], str] | None:
    """Refusals that the desk can explain: the fields they stand beside, and what to do."""
    if is_contract(intent, "door"):
        return ("area_ids",), _("The contract has no door entry. Issue the code without areas.")
    if is_contract(intent, "key_box"):
        return ("keys",), _("The contract has no key boxes. Issue the code without keys.")
    if meanings.is_for_want_of(intent, Blame.SETTING) and (intent.body or {}).get("key_devices_list"):
        words = _("Keys for guests must first be allowed for this key box on the member site.")
        return ("keys",), words
    if meanings.is_for_want_of(intent, Blame.DUPLICATE, "qr"):
        return ("new_code", "delivery"), _("Somebody has this very code already. Send the form again for another one.")
    return None


def why_it_lives(intent: Intent | None) -> str:
    """Why a code could not be ended in any way: in the service's words where it said something, else in ours."""
    refused = _("The service refuses every way of ending it.")
    if intent is None or not intent.error_detail:
        return refused
    if not meanings.of_the_service(intent):
        ours = Reason(intent.reason).label if intent.reason in Reason.values else ""
        return joined([ours, intent.error_detail])
    code = f" ({intent.error_code})" if intent.error_code else ""
    return joined([refused, f"{said(intent.error_detail)}{code}"])


def said(words: str) -> str:
    """The service's own words, as such."""
    return _("The service said: “%(words)s”") % {"words": words} if words else _("The service gave no reason.")
