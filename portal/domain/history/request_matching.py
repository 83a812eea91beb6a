"""Match log records with the portal's requests that caused them.

The service copies a request's text (`info`) into its record, but not always into the same field. A record with the
request's ID, or with the text of one request only, certainly belongs to that request. A match by device and time is
only likely.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet

from accessapi.operations import Delivery
from portal.domain.history.models import History
from portal.domain.intents.models import Intent, Reason, State, target_of
from tenants.models import current_tenant

# How much earlier and later than the request, by our clock, the record's time may be.
EARLIER, LATER = timedelta(seconds=5), timedelta(minutes=2)
# How long the service may work on a request before it writes its record.
_LONGEST = timedelta(minutes=15)
_MOST = 20
# A shorter ID may be in a text by chance.
_MIN_ID_LENGTH = 6
_NOT_DONE = Q(state__in=[State.EXPIRED, State.CANCELLED]) | Q(state=State.FAILED) & ~Q(reason=Reason.REQUEST_FAILED)


@dataclass(frozen=True)
class RecordContent:
    """The content of a record that is compared with requests."""

    member_id: str
    device_id: str
    texts: Sequence[str]
    units: frozenset[str] = frozenset()

    @classmethod
    def from_service(cls, values: Mapping[str, Any]) -> "RecordContent":
        """Return the content of a record from the service."""
        ids = [
            each.get("id") if isinstance(each, dict) else "" for each in (values.get("member"), values.get("device"))
        ]
        device = values.get("device")
        units = device.get("units") if isinstance(device, dict) else ()
        return cls(str(ids[0] or ""), str(ids[1] or ""), list(_texts(values)), _numbers(units))

    @classmethod
    def from_row(cls, record: History) -> "RecordContent":
        """Return the content of a record in the mirror."""
        words = [record.content, record.member_label, record.member_attribute, record.extra, record.units]
        return cls(record.member_id, record.device_id, list(_texts(words)), _numbers(record.units))

    def contains(self, text: str) -> bool:
        return any(text in each for each in self.texts)


@dataclass(frozen=True)
class MatchingRequest:
    """The request of a record. `is_certain`: the record names it."""

    intent: Intent
    is_certain: bool


def is_named_by(content: RecordContent, intent: Intent) -> bool:
    """Return True if a record is about the request's device and person, and contains the request's text."""
    info = str((intent.body or {}).get("info") or "")
    return bool(info) and _is_about(content, intent) and content.contains(info)


def request_of(record: History, requests: QuerySet[Intent]) -> MatchingRequest | None:
    """Return which of `requests` caused the record; None if none fits."""
    if not record.device_id:
        return None
    content = RecordContent.from_row(record)
    fitting = [
        each for each in _requests_around(record, requests) if _is_about(content, each) and _is_in_time(each, record.at)
    ]
    by_id = [each for each in fitting if len(each.request_id) >= _MIN_ID_LENGTH and content.contains(each.request_id)]
    by_text = [each for each in fitting if is_named_by(content, each)]
    if found := by_id or by_text:
        return MatchingRequest(_nearest(found, record.at), is_certain=bool(by_id) or len(by_text) == 1)
    is_likely = bool(fitting) and record.category in current_tenant().environment.catalogue.records.operated
    return MatchingRequest(_nearest(fitting, record.at), is_certain=False) if is_likely else None


def record_of(intent: Intent, records: QuerySet[History]) -> History | None:
    """Return which of `records` certainly belongs to the request; None if none does."""
    if intent.sent_at is None or intent.delivery != Delivery.PHYSICAL:
        return None
    since, until = intent.sent_at - EARLIER, (intent.finished_at or intent.sent_at + _LONGEST) + LATER
    for device_id in _devices(intent) - {""}:
        for record in records.filter(device_id=device_id, at__gte=since, at__lte=until).order_by("at", "pk")[:_MOST]:
            cause = request_of(record, Intent.objects.all())
            if cause is not None and cause.is_certain and cause.intent.pk == intent.pk:
                return record
    return None


def _requests_around(record: History, requests: QuerySet[Intent]) -> list[Intent]:
    """Return the commands for the record's device and its person that were sent around its time."""
    targets = [target_of(kind, record.device_id) for kind in ("pass_controller", "key_box")]
    targets += [target_of("member", record.member_id)] if record.member_id else []
    rows = requests.filter(target__in=targets, delivery=Delivery.PHYSICAL).exclude(_NOT_DONE)
    sent = rows.filter(sent_at__gte=record.at - _LONGEST, sent_at__lte=record.at + EARLIER)
    return list(sent.select_related("by", "tenant").order_by("-id")[:_MOST])


def _is_about(content: RecordContent, intent: Intent) -> bool:
    is_same_target = (
        content.device_id in _devices(intent) and intent.path.get("member_id", content.member_id) == content.member_id
    )
    targets = set((intent.body or {}).get("targets", ()))
    return is_same_target and (not targets or not content.units or bool(targets & content.units))


def _numbers(units: Any) -> frozenset[str]:
    """Return the numbers of a record's keys."""
    found = units if isinstance(units, list) else ()
    return frozenset(str(each.get("unit_no")) for each in found if isinstance(each, dict))


def _devices(intent: Intent) -> set[str]:
    boxes = {str(target["device_id"]) for target in (intent.body or {}).get("targets_list", ())}
    return boxes or {str(intent.path.get("device_id") or intent.path.get("key_device_id", ""))}


def _is_in_time(intent: Intent, at: datetime) -> bool:
    ended = intent.finished_at or (at if intent.state in (State.SENDING, State.ACCEPTED) else intent.sent_at)
    return ended is not None and at <= ended + LATER


def _nearest(intents: Sequence[Intent], at: datetime) -> Intent:
    """Return the request whose end is nearest to the moment."""
    return min(intents, key=lambda intent: abs((intent.finished_at or intent.created_at) - at))


def _texts(value: object) -> Iterator[str]:
    """Yield every text of a record, because the field with the request's text varies."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)
