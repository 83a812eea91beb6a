"""What a refusal is for want of, as the tenant's environment describes its codes, and which words are the service's."""

from django.utils.translation import gettext as _

from accessapi.meanings import Blame, Meaning
from accessapi.operations import Contract
from portal.core.intents.models import Intent
from portal.core.intents.states import Reason
from tenants.models import current_tenant

# Of these the detail is what the service said; of all others it is ours.
_THE_SERVICES = {Reason.REFUSED, Reason.REQUEST_FAILED, Reason.CONNECTION, Reason.UNFOLLOWED}


def meaning(intent: Intent) -> Meaning | None:
    """What the service's code means; None for one that nobody described, and for none."""
    return current_tenant().environment.catalogue.errors.meaning(intent.error_code)


def is_for_want_of(intent: Intent, blame: Blame, of: str = "") -> bool:
    """Whether it was refused for this, or for this one of them."""
    known = meaning(intent)
    return known is not None and known.blame is blame and (not of or of in known.of)


def contract(intent: Intent) -> Contract | None:
    """The contract that is missing; None when that is not why it was refused, or does not become clear."""
    catalogue = current_tenant().environment.catalogue
    operation = catalogue.operation(intent.operation)
    return catalogue.errors.contract_of(intent.error_code, intent.error_detail, operation)


def missing_permission(intent: Intent) -> str:
    """In a sentence that the connection lacks the permission, if that is why it was refused; else nothing."""
    if not is_for_want_of(intent, Blame.SCOPE):
        return ""
    scope = current_tenant().environment.catalogue.operation(intent.operation).scope or ""
    return _("The connection lacks the permission %(name)s.") % {"name": scope}


def of_the_service(intent: Intent) -> bool:
    """Whether what an intent keeps as its detail are the service's own words."""
    return bool(intent.error_code) or intent.reason in _THE_SERVICES
