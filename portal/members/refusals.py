"""The service's refusals, put beside the fields that they are about."""

import re
from collections.abc import Iterator

from django import forms
from django.utils.translation import gettext as _

from accessapi.meanings import Blame
from portal.core.intents import meanings
from portal.core.intents.models import Intent
from portal.core.intents.states import Reason, State
from portal.core.intents.targets import target_of
from portal.core.ui.sentences import joined
from portal.members.queries import holder_of_card
from tenants.access import Access
from tenants.roles import Permission

# Names of the specification, longest first, and the form's field for each.
_FIELDS = {
    "qrcode.email": "qr_email",
    "qrcode.data": "qr_data",
    "use_date_start": "use_date_start",
    "membergroup_id": "membergroup_id",
    "use_date_end": "use_date_end",
    "member_name": "member_name",
    "member_code": "member_code",
    "card_data": "card_data",
    "one_time_qr.timestep": "qr_timestep",
    "one_time_qr.skew": "qr_skew",
    "timestep": "qr_timestep",
    "skew": "qr_skew",
    "one_time_qr": "qr",
    "targets_list": "units",
    "timer": "period",
    "qrcode": "qr",
}
_NAMED = re.compile(r"(?<![A-Za-z0-9_])(" + "|".join(map(re.escape, _FIELDS)) + r")(?![A-Za-z0-9_])")


def show(form: forms.Form, intent: Intent, access: Access) -> None:
    """Add what became of a refused or unsent intent to its form: beside the field it names, else on top."""
    found = False
    for name, text in _problems(intent, access):
        found = name in form.fields
        form.add_error(name if found else None, text if found else joined([_headline(intent), text]))
    if not form.errors:
        form.add_error(None, _headline(intent))


def _headline(intent: Intent) -> str:
    if intent.state == State.FAILED and intent.reason == Reason.REFUSED:
        refused = _("The service refused this. Nothing was changed.")
        return joined([refused, meanings.missing_permission(intent)])
    why = str(Reason(intent.reason).label) if intent.reason in Reason.values else ""
    return joined([why, _("Nothing was changed.")])


def _problems(intent: Intent, access: Access) -> Iterator[tuple[str | None, str]]:
    code = f" ({intent.error_code})" if intent.error_code else ""
    if meanings.is_for_want_of(intent, Blame.DUPLICATE, "card"):
        known = _holder(intent) if access.can(Permission.SECRETS_REVEAL) else ""
        yield "card_data", _("This card is already registered.") + f"{known} {_said(intent.error_detail)}{code}"
        return
    if meanings.is_for_want_of(intent, Blame.DUPLICATE, "qr"):
        yield "qr_data", f"{_('This QR code is already registered.')} {_said(intent.error_detail)}{code}"
        return
    for line in intent.error_detail.splitlines() or ([""] if code else []):
        # The most precise name counts: qrcode.one_time_qr.timestep is about its last part.
        named = min(_NAMED.findall(line), key=list(_FIELDS).index, default=None)
        said = _said(line) if meanings.of_the_service(intent) else line
        yield (_FIELDS[named] if named else None), f"{said}{code}"


def _holder(intent: Intent) -> str:
    """Whose card it is, as far as the portal knows."""
    holder = holder_of_card((intent.body or {}).get("card_data", ""))
    if holder is None or target_of("member", holder.member_id) == intent.target:
        return ""
    return " " + _("As far as the portal knows it belongs to %(name)s.") % {"name": holder}


def _said(words: str) -> str:
    return _("The service said: “%(words)s”") % {"words": words} if words else _("The service gave no reason.")
