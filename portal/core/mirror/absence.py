"""Why nothing is known of a kind, in one sentence, and who can change that: what an empty list says instead of "none".

A list is empty because there is nothing, because nothing matches, or because nobody may know: the tenant is not
connected, the service refused, or nobody has read it yet. The last three are told here.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accessapi.operations import Operation
from portal.core.mirror import reasons
from portal.core.mirror.kinds import Kind
from portal.core.ui.tables.columns import Empty
from portal.core.ui.vocabulary import join_sentences
from tenants.connections.calls import LICENCE
from tenants.connections.service import current_connection
from tenants.connections.texts import CONTRACTS
from tenants.models import Connection, current_tenant

Text = str | Promise

_LISTS = {
    Kind.MEMBERS: "list_members",
    Kind.GROUPS: "list_membergroups",
    Kind.AREAS: "list_areas",
    Kind.PASS_CONTROLLERS: "list_pass_controllers",
    Kind.KEY_BOXES: "list_key_boxes",
    Kind.GUESTS: "list_guests",
    Kind.HISTORIES: "list_histories",
}
_OWNER_CONNECTS = _("An owner can reconnect it on the connection page.")
_OWNER_ADDS_SCOPE = _("An owner can reconnect the tenant once the vendor has registered the permission.")
_ANYBODY_ASKS = _("Once it is added, use “Refresh” to load the list.")
_VENDOR_ADDS = _("The vendor can add it to the contract.")


@dataclass(frozen=True)
class Absence:
    """`sentence` says why, `remedy` who can change it. `refused`: waiting alone brings nothing."""

    sentence: Text
    remedy: Text = ""
    refused: bool = False
    icon: str = "lock"

    @property
    def text(self) -> str:
        return join_sentences([self.sentence, self.remedy])


class Known(Protocol):
    """How far a kind was read: a MirrorState, or its freshness."""

    @property
    def as_of(self) -> datetime | None: ...
    @property
    def error(self) -> str: ...


def of(kind: Kind, known: Known | None, operation: str = "") -> Absence | None:
    """Why nothing, or nothing new, is known of a kind of the entered tenant; None when it is read as it should be.

    With `operation` (an act that belongs to the kind) what the service refused of that one counts as well.
    """
    tenant = current_tenant()
    line = current_connection()
    if not line.is_connected:
        return Absence(
            _("This tenant is not connected to the service."), _OWNER_CONNECTS, refused=True, icon="plug-off"
        )
    catalogue = tenant.environment.catalogue
    named = [catalogue.operation(name) for name in (_LISTS.get(kind), operation) if name]
    refusals = (_refused(line, each) for each in named)
    return next(filter(None, refusals), None) or _unread(kind, known)


def _refused(line: Connection, operation: Operation) -> Absence | None:
    """What the last answers said is missing for an operation."""
    if operation.contract in line.contracts_refused:
        words = _("The contract with the service does not include this: %(name)s.")
        return Absence(_filled(words, CONTRACTS[str(operation.contract)]), _VENDOR_ADDS, refused=True)
    if operation.scope in line.scopes_refused:
        words = _("The connection lacks the permission %(name)s.")
        return Absence(_filled(words, operation.scope), _OWNER_ADDS_SCOPE, refused=True)
    if operation.licence and LICENCE in line.contracts_refused:
        words = _("The service refuses this: the remote-operation licence is missing.")
        return Absence(words, _VENDOR_ADDS, refused=True)
    return None


def _unread(kind: Kind, known: Known | None) -> Absence | None:
    if known is not None and known.error:
        refused = reasons.is_lasting(known.error)
        remedy = _ANYBODY_ASKS if refused else _("Retries automatically.")
        return Absence(reasons.sentence(known.error, kind), remedy, refused=refused)
    if known is None or known.as_of is None:
        return Absence(_("This list has not been loaded from the service yet."), icon="loader")
    return None


def empty(usual: Empty | None, kind: Kind, known: Known, operation: str = "") -> Empty | None:
    """What an empty list says: why nobody may know, if that is so, else `usual`. `operation` as in `of`."""
    absence = of(kind, known, operation)
    if absence is None:
        return usual
    title = _("Not available") if absence.refused else _("Not loaded yet")
    return Empty(title, absence.text, absence.icon)


def _filled(words: Text, name: object) -> str:
    return str(words) % {"name": name}
