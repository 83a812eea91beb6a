"""Refusals of members that the portal can explain."""

from django.utils.translation import gettext as _

from accessapi.meanings import Blame
from portal.core.intents import refusals
from portal.core.intents.models import Intent, target_of
from portal.core.intents.refusals import Explained
from portal.core.mirror.fields.members import CARD
from portal.members.queries import holder_of_card
from tenants.access import Access
from tenants.roles import Permission


def explained(intent: Intent, access: Access) -> Explained | None:
    """Say whose card it is to whoever may see it, and that a code is taken; None for any other refusal."""
    if refusals.is_for_want_of(intent, Blame.DUPLICATE, "card"):
        holder = _holder(intent) if access.can(Permission.SECRETS_REVEAL) else ""
        return (CARD.name,), _("This card is already registered.") + holder
    if refusals.is_for_want_of(intent, Blame.DUPLICATE, "qr"):
        return ("qr_data",), _("This QR code is already registered.")
    return None


def _holder(intent: Intent) -> str:
    """Whose card it is, as far as the portal knows."""
    holder = holder_of_card((intent.body or {}).get(CARD.name, ""))
    if holder is None or target_of("member", holder.member_id) == intent.target:
        return ""
    return " " + _("According to the portal, it belongs to %(name)s.") % {"name": holder}
