"""Which request of ours a record of the log tells of, and which record tells of a request.

The service keeps the text that a request carries (`info`) in the record of it; where in the record is not shown. A
record with the request's ID, or with the text of one request alone, is surely of that one. What fits by device and time
is only likely.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet

from accessapi.operations import Delivery
from portal.core.intents.models import Intent, target_of
from portal.core.intents.states import Reason, State
from portal.core.mirror.models import History
from tenants.models import current_tenant

# How much earlier and later than the request, by our clock, its record may say that it was.
EARLIER, LATER = timedelta(seconds=5), timedelta(minutes=2)
# For how long the service may work on a request before it writes its record.
_LONGEST = timedelta(minutes=15)
_MOST = 20
# A shorter ID may stand in a text by chance.
_MIN_ID_LENGTH = 6
_NOT_DONE = Q(state__in=[State.EXPIRED, State.CANCELLED]) | Q(state=State.FAILED) & ~Q(reason=Reason.REQUEST_FAILED)


@dataclass(frozen=True)
class RecordContent:
    """What a record says, as far as requests are recognised by it."""

    member_id: str
    device_id: str
    texts: Sequence[str]
    units: frozenset[str] = frozenset()

    @classmethod
    def from_service(cls, told: Mapping[str, Any]) -> "RecordContent":
        """Read a record as the service tells it."""
        ids = [each.get("id") if isinstance(each, dict) else "" for each in (told.get("member"), told.get("device"))]
        device = told.get("device")
        units = device.get("units") if isinstance(device, dict) else ()
        return cls(str(ids[0] or ""), str(ids[1] or ""), list(_texts(told)), _numbers(units))

    @classmethod
    def from_row(cls, record: History) -> "RecordContent":
        """Read a record that the mirror has."""
        words = [record.content, record.member_label, record.member_attribute, record.extra, record.units]
        return cls(record.member_id, record.device_id, list(_texts(words)), _numbers(record.units))

    def contains(self, text: str) -> bool:
        return any(text in each for each in self.texts)


@dataclass(frozen=True)
class MatchingRequest:
    """The request that a record tells of. `is_certain`: the record itself says so."""

    intent: Intent
    is_certain: bool


def is_named_by(said: RecordContent, intent: Intent) -> bool:
    """Whether a record is about the request's device and person, and holds the text that the request carried."""
    info = str((intent.body or {}).get("info") or "")
    return bool(info) and _is_about(said, intent) and said.contains(info)


def request_of(record: History, requests: QuerySet[Intent]) -> MatchingRequest | None:
    """Return the request, one of `requests`, that the record tells of; None where none fits."""
    if not record.device_id:
        return None
    said = RecordContent.from_row(record)
    fitting = [
        each for each in _requests_around(record, requests) if _is_about(said, each) and _is_in_time(each, record.at)
    ]
    by_id = [each for each in fitting if len(each.request_id) >= _MIN_ID_LENGTH and said.contains(each.request_id)]
    by_text = [each for each in fitting if is_named_by(said, each)]
    if found := by_id or by_text:
        return MatchingRequest(_nearest(found, record.at), is_certain=bool(by_id) or len(by_text) == 1)
    is_likely = bool(fitting) and record.category in current_tenant().environment.catalogue.records.operated
    return MatchingRequest(_nearest(fitting, record.at), is_certain=False) if is_likely else None


def record_of(intent: Intent, records: QuerySet[History]) -> History | None:
    """Return the record, one of `records`, that surely tells of the request; None where none does."""
    if intent.sent_at is None or intent.delivery != Delivery.PHYSICAL:
        return None
    since, until = intent.sent_at - EARLIER, (intent.finished_at or intent.sent_at + _LONGEST) + LATER
    for device_id in _devices(intent) - {""}:
        for record in records.filter(device_id=device_id, at__gte=since, at__lte=until).order_by("at", "pk")[:_MOST]:
            cause = request_of(record, Intent.objects.all())
            if cause is not None and cause.is_certain and cause.intent.pk == intent.pk:
                return record
    return None


def _requests_around(record: History, asked: QuerySet[Intent]) -> list[Intent]:
    """The commands for the record's device, and those about its person, that were sent around its time."""
    targets = [target_of(kind, record.device_id) for kind in ("pass_controller", "key_box")]
    targets += [target_of("member", record.member_id)] if record.member_id else []
    rows = asked.filter(target__in=targets, delivery=Delivery.PHYSICAL).exclude(_NOT_DONE)
    sent = rows.filter(sent_at__gte=record.at - _LONGEST, sent_at__lte=record.at + EARLIER)
    return list(sent.select_related("by", "tenant").order_by("-id")[:_MOST])


def _is_about(said: RecordContent, intent: Intent) -> bool:
    here = said.device_id in _devices(intent) and intent.path.get("member_id", said.member_id) == said.member_id
    asked = set((intent.body or {}).get("targets", ()))
    return here and (not asked or not said.units or bool(asked & said.units))


def _numbers(units: Any) -> frozenset[str]:
    """Return the numbers of the keys that a record is about."""
    found = units if isinstance(units, list) else ()
    return frozenset(str(each.get("unit_no")) for each in found if isinstance(each, dict))


def _devices(intent: Intent) -> set[str]:
    boxes = {str(target["device_id"]) for target in (intent.body or {}).get("targets_list", ())}
    return boxes or {str(intent.path.get("device_id") or intent.path.get("key_device_id", ""))}


def _is_in_time(intent: Intent, at: datetime) -> bool:
    ended = intent.finished_at or (at if intent.state in (State.SENDING, State.ACCEPTED) else intent.sent_at)
    return ended is not None and at <= ended + LATER


def _nearest(intents: Sequence[Intent], at: datetime) -> Intent:
    """The one whose end is nearest to the moment; of two that are as near, the newer one."""
    return min(intents, key=lambda intent: abs((intent.finished_at or intent.created_at) - at))


def _texts(value: object) -> Iterator[str]:
    """Every text of a record: where the service keeps our words is not shown, only that it does."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)
