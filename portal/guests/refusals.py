"""The service's refusals, put beside the fields that they are about, in its own words and in plain ones."""

import re
from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _

from portal.intents.models import Intent
from portal.intents.states import Reason, State

CONTRACT_MISSING, SETTING_OFF, QR_TAKEN = "40302", "40304", "40903"
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
    if intent.error_code != CONTRACT_MISSING:
        return False
    named = [each for each in ("door", "key_box", "qr") if re.search(rf"\b{each}\b", intent.error_detail)]
    return named[0] == contract if named else contract == "qr"


def show(form: Any, intent: Intent) -> None:
    """Add what became of a refused or unsent intent to its form: beside the field it names, else on top.

    A contract without the QR option is no fault of the form: the page says it by itself.
    """
    if is_contract(intent, "qr"):
        return
    for names, text in _problems(intent):
        field = next((name for name in names if name in form.fields), None)
        form.add_error(field, text if field else f"{headline(intent)} {text}")
    if not form.errors:
        form.add_error(None, headline(intent))


def headline(intent: Intent) -> str:
    """What happened, in one sentence, and that nothing was changed."""
    if intent.state == State.FAILED and intent.reason == Reason.REFUSED:
        return _("The service refused this. Nothing was changed.")
    why = str(Reason(intent.reason).label) if intent.reason in Reason.values else ""
    return f"{why} {_('Nothing was changed.')}".strip()


def _problems(intent: Intent) -> Iterator[tuple[tuple[str, ...], str]]:
    code = f" ({intent.error_code})" if intent.error_code else ""
    known = _known(intent)
    if known is not None:
        yield known[0], f"{known[1]} {said(intent.error_detail)}{code}"
        return
    for line in intent.error_detail.splitlines() or ([""] if code else []):
        named = _NAMED.search(line)
        yield (_FIELDS[named[1]] if named else ()), f"{said(line)}{code}"


def _known(intent: Intent) -> tuple[tuple[str, ...], str] | None:
    """Refusals that the desk can explain: the fields they stand beside, and what to do."""
    if is_contract(intent, "door"):
        return ("area_ids",), _("The contract has no door entry. Issue the code without areas.")
    if is_contract(intent, "key_box"):
        return ("keys",), _("The contract has no key boxes. Issue the code without keys.")
    if intent.error_code == SETTING_OFF and (intent.body or {}).get("key_devices_list"):
        words = _("Keys for guests must first be allowed for this key box on the member site.")
        return ("keys",), words
    if intent.error_code == QR_TAKEN:
        return ("new_code", "delivery"), _("Somebody has this very code already. Send the form again for another one.")
    return None


def said(words: str) -> str:
    """The service's own words, as such."""
    return _("The service said: “%(words)s”") % {"words": words} if words else _("The service gave no reason.")
