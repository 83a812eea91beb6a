"""Read a guest's code, record downloads, and create links for the guest's phone, with their secrets.

Each guest has at most one working link.
"""

import base64
import binascii
import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from accessapi.errors import NotFound, ServiceError
from portal.base.timers.clock import ClockTime
from portal.base.ui.times import local
from portal.base.ui.value_words import join_sentences
from portal.domain.budget.ledger import BudgetExhausted
from portal.domain.budget.priorities import Priority
from portal.domain.intents.models import target_of
from portal.domain.intents.recording import Requester
from portal.domain.people.models import Guest
from portal.domain.sync import failure_reasons, single_reads
from portal.domain.visits import queries
from portal.domain.visits.models import CodeLink, Visit
from tenants import audit
from tenants.connections.service_clients import current_connection
from tenants.scope import tenant_scope
from tenants.sentences import coded_sentence

_SALT = "portal.codes.link"
# The parts of a token, in bytes.
_TENANT_LENGTH, _RANDOM_LENGTH, _TAG_LENGTH = 8, 16, 16


@dataclass(frozen=True)
class Token:
    """The secret of a link: `text` is in the address, `digest` finds its row.

    `text` has the encrypted tenant ID and 128 random bits; only their digest is stored. It uses AES-SIV with a key of
    the site. Without the key, no one can create a token, read its tenant, or see whether two tokens have the same
    tenant. So the tenant is known before any query.
    """

    text: str
    tenant_id: int
    digest: bytes


# The token for invalid texts. No tenant has this ID, so nothing is found after the same number of steps.
NO_TOKEN = Token("", 0, hashlib.sha256(b"").digest())


def create_token(tenant_id: int) -> Token:
    plain = tenant_id.to_bytes(_TENANT_LENGTH, "big") + secrets.token_bytes(_RANDOM_LENGTH)
    return _token(plain, AESSIV(_token_keys()[0]).encrypt(plain, None))


def parse_token(text: str) -> Token:
    """Return the token in an address, or NO_TOKEN if this site did not create it."""
    try:
        sealed = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return NO_TOKEN
    if len(sealed) != _TENANT_LENGTH + _RANDOM_LENGTH + _TAG_LENGTH:
        return NO_TOKEN
    for key in _token_keys():
        try:
            plain = AESSIV(key).decrypt(sealed, None)
        except InvalidTag:
            continue
        found = _token(plain, sealed)
        return found if found.text == text else NO_TOKEN
    return NO_TOKEN


def _token(plain: bytes, sealed: bytes) -> Token:
    text = base64.urlsafe_b64encode(sealed).rstrip(b"=").decode()
    return Token(text, int.from_bytes(plain[:_TENANT_LENGTH], "big"), hashlib.sha256(plain).digest())


def _token_keys() -> list[bytes]:
    names = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return [salted_hmac(_SALT, "", secret=name, algorithm="sha256").digest() for name in names]


# The service deletes guests a week after their end, so even an extended code works no longer.
_LONGEST_AFTER = timedelta(days=7)


@dataclass(frozen=True)
class CreatedLink:
    """A new link. Its address is only known at this moment."""

    link: CodeLink
    url: str


@dataclass(frozen=True)
class OpenedCode:
    """The data that a working link shows, and nothing else."""

    data: str
    start: datetime
    end: datetime


def create_link(*, visit: Visit, by: Requester, base: str) -> CreatedLink:
    """Create a new link to this visit's code and revoke earlier ones. `base` is the site's address ("https://…")."""
    token = create_token(visit.tenant_id)
    with transaction.atomic():
        Visit.objects.select_for_update(of=("self",)).get(pk=visit.pk)  # with two desks at once, only one link remains
        _open_links(visit).update(revoked_at=ClockTime())
        link = CodeLink.objects.create(
            visit=visit, digest=token.digest, by=by.user, expires_at=_expiry(visit, timezone.now())
        )
        record(visit, by, "code_linked")
    return CreatedLink(link, base.rstrip("/") + reverse("guest_code", args=[token.text]))


def revoke_link(*, visit: Visit, by: Requester) -> bool:
    """Revoke the link of this visit. Return False if none was working."""
    with transaction.atomic():
        if not _open_links(visit).update(revoked_at=ClockTime()):
            return False
        record(visit, by, "code_unlinked")
        return True


def current_link(visit: Visit) -> CodeLink | None:
    """Return the working link, if any."""
    return _open_links(visit).filter(expires_at__gt=timezone.now()).order_by("-pk").first()


def open_link(text: str) -> OpenedCode | None:
    """Return what the link with this secret shows; None if it does not work.

    Both cases run the same queries, so the time reveals nothing.
    """
    token = parse_token(text)
    with tenant_scope(token.tenant_id):
        rows = CodeLink.objects.filter(_is_working(), digest=token.digest)
        rows.update(opened=F("opened") + 1, opened_at=ClockTime())
        link = rows.select_related("visit").first()
        guest = Guest.objects.filter(guest_id=link.visit.guest_id if link else "", gone_at=None)
        code_row = guest.only("id", "tenant_id", "guest_id", "qrcode_data").first()
        if link is None or code_row is None or not code_row.qrcode_data:
            return None
        return OpenedCode(code_row.qrcode_data, link.visit.use_date_start, link.visit.use_date_end)


def _is_working() -> Q:
    """Return the condition for working links: not revoked, not expired, and of an active code.

    A deactivated code is shown again only with a later end.
    """
    now = timezone.now()
    alive = Q(visit__gone_at=None, visit__erased_at=None, visit__use_date_end__gt=now)
    later = Q(visit__ended_confirmed_at__isnull=False, visit__use_date_end__gt=F("visit__must_end_at"))
    return Q(revoked_at=None, expires_at__gt=now) & alive & (Q(visit__must_end_at=None) | later)


def _open_links(visit: Visit) -> QuerySet[CodeLink]:
    return CodeLink.objects.filter(visit=visit, revoked_at=None)


def _expiry(visit: Visit, now: datetime) -> datetime:
    """Return the tenant's limit for links, otherwise the longest possible time of the code.

    Its end ends the link anyway.
    """
    minutes = queries.desk_settings().link_minutes
    return now + timedelta(minutes=minutes) if minutes else visit.use_date_end + _LONGEST_AFTER


def read_code(visit: Visit, by: Requester) -> str:
    """Read the code from the service (operation 21, one call).

    Return the reason if that failed, otherwise an empty text.
    """
    connection = current_connection()
    if not connection.is_connected:
        return _("The code was not loaded: there is no connection. Try again later or contact an owner.")
    try:
        guest = single_reads.read_guest(connection, visit.guest_id or "", Priority.PEOPLE)
    except NotFound:
        return _("This guest was deleted, so there is no code.")
    except BudgetExhausted as exhausted:
        text = _("No API calls left this hour. The code can be loaded from %(time)s.")
        return text % {"time": f"{local(exhausted.retry_at):%H:%M}"}
    except ServiceError as error:
        return join_sentences(
            [failure_reasons.describe_error(error), _("The code is not loaded yet. Try again in a minute.")]
        )
    record(visit, by, "code_shown")
    return "" if guest.qrcode_data else _("There is no code for this guest.")


def record(visit: Visit, by: Requester, action: str, **facts: object) -> None:
    """Record that a person viewed or downloaded a code. The code itself is not recorded."""
    with transaction.atomic():
        audit.record(
            **by.audit_author,
            action=f"guest.{action}",
            target=target_of("guest", visit.guest_id),
            summary=coded_sentence(f"guest.{action}"),
            after=dict(facts) or None,
        )
