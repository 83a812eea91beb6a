"""Explanations of refusals at the desk: what is wrong, and whether the tenant can issue guest codes at all."""

from django.utils.translation import gettext as _

from accessapi.meanings import RefusalCause
from accessapi.operations import Contract
from portal.base.ui.value_words import join_sentences
from portal.domain.intents import refusals
from portal.domain.intents.models import Intent
from portal.domain.intents.refusals import Explanation, service_text_of
from portal.domain.intents.states import Reason
from portal.domain.mirror.fields.guests import AREAS, CODE, KEYS


def is_refused_to_tenant(intent: Intent) -> bool:
    """Return whether the service refuses guest codes to the whole tenant.

    Causes are a missing QR option (also if the contract is unnamed), a missing permission, or an unexplained 403.
    """
    if refusals.missing_contract(intent) == Contract.QR or refusals.is_refused_for(intent, RefusalCause.SCOPE):
        return True
    return intent.http_status == 403 and explain_refusal(intent) is None


def no_codes_text(intent: Intent) -> str:
    """Return the sentence for a refusal that `is_refused_to_tenant`."""
    if refusals.missing_contract(intent) == Contract.QR:
        return _("This tenant’s contract has no QR option, so the service does not issue guest codes.")
    if refusals.is_refused_for(intent, RefusalCause.SCOPE):
        return _("The connection has no permission to issue guest codes. An owner can reconnect to add it.")
    return _("The service does not issue guest codes for this tenant.")


def explain_refusal(intent: Intent) -> Explanation | None:
    """Return the explanation and the inputs that it is about; None for any other refusal."""
    contract = refusals.missing_contract(intent)
    if contract == Contract.DOOR:
        return AREAS.input_names, _("The contract does not include door entry. Issue the code without areas.")
    if contract == Contract.KEY_BOX:
        return KEYS.input_names, _("The contract does not include key boxes. Issue the code without keys.")
    if refusals.is_refused_for(intent, RefusalCause.SETTING) and (intent.body or {}).get(KEYS.name):
        return KEYS.input_names, _("Keys for guests must first be allowed for this key box on the member site.")
    if refusals.is_refused_for(intent, RefusalCause.DUPLICATE, "qr"):
        return CODE.input_names, _("This code is already in use. Send the form again to get another one.")
    return None


def still_active_text(intent: Intent | None) -> str:
    """Return why a code could not be ended: in the service's words if it gave any, otherwise in ours."""
    refused = _("The service refuses every way to deactivate it.")
    if intent is None or not intent.error_detail:
        return refused
    if not refusals.is_service_text(intent):
        ours = Reason(intent.reason).label if intent.reason in Reason.values else ""
        return join_sentences([ours, intent.error_detail])
    return join_sentences([refused, service_text_of(intent)])
