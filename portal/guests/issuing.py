"""Issue codes: one intent and one visit for each guest, and no second code for a name by accident.

Intent and visit are saved together before anything is sent. Codes of the same name with overlapping hours are checked
under a lock, so that two forms cannot both pass.
"""

import base64
import secrets
import uuid
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Case, Q, When
from django.utils import timezone

from accessapi.resources import write_moment
from portal.base.timers.clock import database_now
from portal.domain.budget.priorities import Priority
from portal.domain.intents.actions import dispatch
from portal.domain.intents.models import Intent
from portal.domain.intents.nonces import Nonce, NotSubmitted
from portal.domain.intents.recording import Command, Requester, record_intent
from portal.domain.people.guest_fields import (
    AREAS,
    CODE,
    EMAIL,
    END,
    GRACE,
    GUEST,
    GUEST_NAME,
    KEYS,
    METHOD,
    REMARKS,
    RESERVE,
    START,
)
from portal.domain.people.models import Guest
from portal.domain.people.text_folding import fold, stored_forms
from portal.domain.visits.models import By, Preset, Stage, Visit
from portal.guests.places import Host, Keys
from tenants import audit
from tenants.postgresql.advisory_locks import AdvisoryLock
from tenants.roles import Permission
from tenants.scope import current_tenant_id
from tenants.sentences import coded_sentence

_NAMES_LOCK = AdvisoryLock("guests.names")


@dataclass(frozen=True)
class NamedHours:
    """A guest's name and the hours of the code to be issued."""

    name: str
    start: datetime
    end: datetime

    @property
    def name_key(self) -> str:
        return fold(self.name)


class CodeClash(NotSubmitted):
    """The error raised for codes of the same name with overlapping hours.

    `pending`: visits whose creation is under way or uncertain. Nothing can be issued until the result is known.

    `active`: visits whose code works in these hours. Staff can confirm that the new guest is another person.

    `duplicate_names`: names that the form contains twice. Staff can confirm that these are two people.
    """

    def __init__(self, pending: Sequence[Visit], active: Sequence[Visit], duplicate_names: Sequence[str]) -> None:
        self.pending, self.active, self.duplicate_names = list(pending), list(active), list(duplicate_names)
        super().__init__("codes of the same name for overlapping hours")

    def add_to(self, form: Any) -> None:
        form.clash = self

    @property
    def confirmation_values(self) -> list[str]:
        """Return the values of exactly the clashes to be confirmed. Later clashes are not covered by them."""
        return [*(str(visit.pk) for visit in self.active), *(f"x{name}" for name in self.duplicate_names)]


def lock_names(names: Iterable[str]) -> None:
    """Lock these (folded) names of the tenant until the transaction ends, so that no one else issues codes for them."""
    tenant_id = current_tenant_id()
    for name in sorted(set(names)):
        _NAMES_LOCK.hold_until_commit(tenant_id, name)


def check_clashes(visit_hours: Sequence[NamedHours], confirmed: Collection[str] = ()) -> None:
    """Raise CodeClash unless `confirmed` contains every clash (see `CodeClash.confirmation_values`).

    Call `lock_names` first.
    """
    found = list(overlapping_visits(visit_hours))
    pending = [visit for visit in found if visit.stage == Stage.REQUESTED]
    active = [visit for visit in found if visit.stage == Stage.ISSUED]
    clash = CodeClash(pending, active, _duplicate_names(visit_hours))
    if pending or not set(clash.confirmation_values) <= set(confirmed):
        raise clash


def overlapping_visits(visit_hours: Sequence[NamedHours]) -> Iterable[Visit]:
    """Return visits of these names whose code works, or may work, in these hours and has not ended."""
    if not visit_hours:
        return []
    meets = Q()
    for hours in visit_hours:
        meets |= Q(name_key__in=stored_forms(hours.name), use_date_start__lt=hours.end, use_date_end__gt=hours.start)
    rows = Visit.objects.filter(meets, use_date_end__gt=timezone.now(), gone_at__isnull=True)
    rows = rows.exclude(stage=Stage.NOT_ISSUED).annotate(is_known=Case(When(stage=Stage.REQUESTED, then=0), default=1))
    # Pending visits come first: they block issuing, so the limit must not cut them off.
    return rows.order_by("is_known", "use_date_end", "pk")[:50]


def _duplicate_names(visit_hours: Sequence[NamedHours]) -> list[str]:
    """Return names that occur twice in `visit_hours` with overlapping hours."""
    twice = set()
    for place, one in enumerate(visit_hours):
        for other in visit_hours[place + 1 :]:
            if one.name_key == other.name_key and one.start < other.end and other.start < one.end:
                twice.add(one.name_key)
    return sorted(twice)


CODE_LENGTH = 26


def new_code() -> str:
    """Return a new random code."""
    return base64.b32encode(secrets.token_bytes(17)).decode()[:CODE_LENGTH]


# Ends are rounded to minutes, starts are not.
_ROUNDED = timedelta(seconds=60)
# Optional fields of an order.
_OPTIONAL = (EMAIL, GRACE, AREAS, KEYS, RESERVE)
_PARTY = uuid.UUID("a3c1b7de-0b1c-4f43-9d3a-6f2f0f5c9b11")


@dataclass(frozen=True)
class CodeOrder:
    """One code to issue.

    With `mail`, the service makes the code and sends it to `email`, with `remarks` if given. Otherwise the portal makes
    the code and only stores `email`. `keys` is a key_devices_list of the specification. With `checks_in`, the guest is
    at the desk and is checked in as soon as the code exists.
    """

    name: str
    start: datetime
    end: datetime
    area_ids: list[str] = field(default_factory=list)
    keys: Keys = field(default_factory=list)
    grace_minutes: int = 0
    email: str = ""
    mail: bool = False
    remarks: str = ""
    is_for_reserve: bool = False
    checks_in: bool = False
    company: str = ""
    host: Host = field(default_factory=Host)
    preset: Preset | None = None

    def body(self) -> dict[str, Any]:
        """Return the body of operation 20, with a new code."""
        if self.mail:
            method = {EMAIL.name: self.email} | ({REMARKS.name: self.remarks} if self.remarks else {})
        else:
            method = {CODE.name: new_code()}
        body: dict[str, Any] = {
            GUEST_NAME.name: self.name,
            START.name: write_moment(self.start),
            END.name: write_moment(self.end),
            METHOD.name: method,
        }
        more = {each.name: getattr(self, each.input_name) for each in _OPTIONAL if each is not EMAIL or not self.mail}
        return body | {name: value for name, value in more.items() if value}

    @property
    def hours(self) -> NamedHours:
        return NamedHours(self.name, self.start, self.end)


def party_of(by: Requester, nonce: Nonce) -> uuid.UUID:
    """Return the ID of the visit party of a form with this nonce. It stays the same if the form is sent again."""
    return uuid.uuid5(_PARTY, f"{by.tenant.pk}:{nonce.value}")


def issued_before(by: Requester, nonce: Nonce) -> list[Visit]:
    """Return the visits that this form has issued already, in its order."""
    rows = Visit.objects.filter(party=party_of(by, nonce)).select_related("intent__by", "intent__tenant")
    return list(rows.order_by("pk"))


def issue_codes(
    *,
    orders: Sequence[CodeOrder],
    by: Requester,
    nonce: Nonce,
    confirmed: Collection[str] = (),
    priority: Priority = Priority.PEOPLE,
    inline: bool = True,
) -> list[Visit]:
    """Request a code for each order (operation 20), at most once each. The visits hold the results.

    The first is sent at once if `inline` is set and a slot is free, the others by workers. Raises `CodeClash` before
    anything is saved or sent, unless `confirmed` contains all its values. If the nonce was used before, its visits are
    returned unchanged.
    """
    hours_of_orders = [order.hours for order in orders]
    with transaction.atomic():
        lock_names([*(hours.name_key for hours in hours_of_orders), f"nonce {nonce.value}"])
        if before := issued_before(by, nonce):
            return before
        check_clashes(hours_of_orders, confirmed)
        party = party_of(by, nonce)
        recorded = [
            _record(order, by, Nonce(f"{nonce.value}:{number}"[-64:]), party, priority)
            for number, order in enumerate(orders)
        ]
    for number, (intent, _visit) in enumerate(recorded):
        dispatch(intent, inline=inline and number == 0)
    return issued_before(by, nonce)


def match_orders(visits: Sequence[Visit], orders: Sequence[CodeOrder]) -> bool:
    """Return whether these visits match the orders."""
    return len(visits) == len(orders) and all(map(_matches_order, visits, orders))


def _matches_order(visit: Visit, order: CodeOrder) -> bool:
    """Return whether guest, delivery and hours match. Either the end or the length of the period must be the same."""
    ordered = (fold(order.name), order.company, order.host.name)
    if (fold(visit.guest_name), visit.company, visit.host_name) != ordered:
        return False
    ends = order.end - visit.use_date_end
    length = (order.end - order.start) - (visit.use_date_end - visit.use_date_start)
    if min(abs(ends), abs(length)) > _ROUNDED:
        return False
    old = visit.intent.body if visit.intent is not None else None
    if old is None:  # checked in without a code, or its details were deleted
        return True
    new = order.body()
    old_method, new_method = (body["qrcode_issuing_method"] for body in (old, new))
    is_same_way = all(old_method.get(each.name) == new_method.get(each.name) for each in (EMAIL, REMARKS))
    return is_same_way and all(old.get(each.name) == new.get(each.name) for each in _OPTIONAL)


def receive_without_code(*, orders: Sequence[CodeOrder], by: Requester, nonce: Nonce) -> list[Visit]:
    """Check in these visitors without a code. Nothing is sent to the service."""
    # It needs a separate nonce: the same form may have requested a code before, which was refused.
    nonce = Nonce(f"without:{nonce.value}"[-64:])
    with transaction.atomic():
        lock_names([f"nonce {nonce.value}"])
        if before := issued_before(by, nonce):
            return before
        visits = [_visit_of(order, by, party_of(by, nonce), stage=Stage.NOT_ISSUED) for order in orders]
        for visit in visits:
            visit.arrived_at, visit.arrived_by = database_now(), By.DESK
            visit.save()
            audit.record(
                **by.audit_author,
                action="guest.received_without_code",
                target=f"visit:{visit.pk}",
                summary=coded_sentence("guest.received_without_code"),
            )
    return visits


def _record(
    order: CodeOrder, by: Requester, nonce: Nonce, party: uuid.UUID, priority: Priority
) -> tuple[Intent, Visit]:
    body = order.body()
    intent, _is_new = record_intent(
        Command(
            permission=Permission.GUESTS_DESK,
            operation="create_guest",
            title=coded_sentence("guest.issue", guest=order.name),
            body=body,
            snapshot={"known": known_guest_ids(order.name)},
            after=GUEST.audit_values(body),
            priority=priority,
        ),
        by=by,
        nonce=nonce,
    )
    visit = _visit_of(order, by, party, stage=Stage.REQUESTED, intent=intent)
    visit.save()
    return intent, visit


def _visit_of(order: CodeOrder, by: Requester, party: uuid.UUID, **more: Any) -> Visit:
    return Visit(
        guest_name=order.name,
        name_key=fold(order.name),
        use_date_start=order.start,
        use_date_end=order.end,
        email_used=order.mail,
        company=order.company,
        host_member_id=order.host.member_id,
        host_name=order.host.name,
        host_key=fold(order.host.name),
        party=party,
        preset=order.preset,
        arrives=order.checks_in,
        by=by.user,
        **more,
    )


def known_guest_ids(name: str) -> list[str]:
    """Return the IDs of guests of this name that exist already, so that the new one can be recognised."""
    same = {"name_key__in": stored_forms(name)}
    known_ids = Guest.objects.filter(**same).values_list("guest_id", flat=True)
    visits = Visit.objects.filter(**same).values_list("guest_id", flat=True)
    return sorted({*known_ids, *filter(None, visits)})
