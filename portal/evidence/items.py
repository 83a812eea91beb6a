"""The items of incidents: copies of data as it was when they were added, and their texts.

Each item keeps what was known when it was added, independent of language. The texts are for the incident's page and its
exports, in one language.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from accessapi.limits import HISTORY_RETENTION_DAYS, VIDEO_RETENTION_DAYS
from accessapi.permissions import AreaPlace, Holidays, KeyPlace
from accessapi.resources.tenants import HolidaySettings
from portal.base.ui import value_words
from portal.base.ui.times import local
from portal.domain.cameras.models import Camera
from portal.domain.cameras.pictures import trouble_text
from portal.domain.history import event_words
from portal.domain.history.models import History
from portal.domain.intents.models import Intent, State
from portal.domain.people.models import Member
from portal.domain.places.queries import load_tenant_record
from portal.evidence.models import Incident, Item
from portal.explain.answers import AccessAnswer
from portal.explain.changes_since import ChangesSince
from portal.explain.questions import CheckedPlace
from tenants.models import Connection, current_tenant

_RECORD_FIELDS = (
    *("status", "category", "content", "member_id", "member_name", "member_type", "member_label", "member_attribute"),
    *("device_id", "device_name", "device_module", "units", "extra", "notified"),
)
_MEMBER_FIELDS = (
    *("member_id", "member_name", "has_card", "has_qr", "has_face", "rights", "use_end_key", "extra"),
    *("use_date_start", "use_date_end", "rights_read_at"),
)
KIND_TEXTS: dict[str, str | Promise] = {
    Item.Kind.RECORD: gettext_lazy("Log record"),
    Item.Kind.CLIP: pgettext_lazy("evidence", "Video"),
    Item.Kind.SNAPSHOT: pgettext_lazy("evidence", "Camera picture"),
    Item.Kind.REQUEST: pgettext_lazy("evidence", "Request"),
    Item.Kind.RIGHTS: gettext_lazy("Access check"),
    Item.Kind.NOTE: pgettext_lazy("evidence", "Note"),
}
_TROUBLE_TEXTS: dict[str, str | Promise] = {
    "gone": gettext_lazy("The service has deleted it."),
    "no_video": gettext_lazy("There is no video of this record."),
    "no_camera": gettext_lazy("The camera was removed from the portal."),
    "store": gettext_lazy("The evidence store is not responding. Retrying."),
}
_VERDICT_TEXTS: dict[str, str | Promise] = {
    "yes": gettext_lazy("Access allowed"),
    "no": gettext_lazy("Access not allowed"),
    "unknown": gettext_lazy("Access unknown"),
}


def item_of_record(record: History) -> Item:
    """Return a copy of a record of the activity log."""
    facts = {name: getattr(record, name) for name in _RECORD_FIELDS}
    expires_at = record.at + timedelta(days=HISTORY_RETENTION_DAYS)
    return Item(kind=Item.Kind.RECORD, reference=record.history_id, at=record.at, facts=facts, expires_at=expires_at)


def item_of_video(record: History) -> Item:
    """Return the item of a record's video, to be fetched later."""
    facts = {"device_id": record.device_id, "device_name": record.device_name}
    expires_at = record.at + timedelta(days=VIDEO_RETENTION_DAYS)
    return _item_to_fetch(Item.Kind.CLIP, record.history_id, record.at, facts, expires_at)


def item_of_picture(camera: Camera, at: datetime) -> Item:
    """Return the item of a camera's picture at a moment, to be fetched later."""
    facts = {"camera_id": camera.camera_id, "name": camera.name}
    expires_at = at + timedelta(days=VIDEO_RETENTION_DAYS)
    return _item_to_fetch(Item.Kind.SNAPSHOT, f"{camera.camera_id} {local(at).isoformat()}", at, facts, expires_at)


def _item_to_fetch(kind: Item.Kind, reference: str, at: datetime, facts: dict[str, Any], expires_at: datetime) -> Item:
    return Item(kind=kind, reference=reference, at=at, facts=facts, media=Item.Media.THERE, expires_at=expires_at)


def item_of_request(intent: Intent) -> Item:
    """Return a copy of a request by staff, with its result so far."""
    facts = {
        "by": "" if intent.automatic else str(intent.by),
        "operation": intent.operation,
        "target": intent.target,
        "state": intent.state,
        "reason": intent.reason,
        "request_id": intent.request_id,
        "request_status": intent.request_status,
        "error_code": intent.error_code,
        "sent_at": _iso(intent.sent_at),
        "finished_at": _iso(intent.finished_at),
    }
    values = {"title": intent.summary, "at": intent.created_at, "facts": facts}
    return Item(kind=Item.Kind.REQUEST, reference=str(intent.pk), **values)


def item_of_access_check(answer: AccessAnswer, since: ChangesSince | None) -> Item:
    """Return the data of an access check, so that its answer can be computed again in any language."""
    member, record = answer.member, load_tenant_record()
    facts = {
        "member": {name: _to_json(getattr(member, name)) for name in _MEMBER_FIELDS},
        "place": {"value": answer.place.value, "name": answer.place.name},
        "has_contract": answer.has_contract,
        "holiday": record.holiday if record else None,
        "verdict": answer.state,
        "changes": [{"at": _iso(each.at), "by": each.by} for each in (since.changes if since else ())],
    }
    reference = f"{member.member_id} {answer.place.value} {local(answer.at).isoformat()}"
    return Item(kind=Item.Kind.RIGHTS, reference=reference, at=answer.at, facts=facts)


def answer_of(item: Item) -> AccessAnswer:
    """Return the access check of an item, computed from its stored data."""
    stored = item.facts["member"]
    moments = ("use_date_start", "use_date_end", "rights_read_at")
    times = {name: datetime.fromisoformat(stored[name]) if stored[name] else None for name in moments}
    member = Member(**{name: stored[name] for name in _MEMBER_FIELDS if name not in moments}, **times)
    kind, _colon, identifier = item.facts["place"]["value"].partition(":")
    unit_no, _colon, box = identifier.partition(":")
    place = CheckedPlace(
        item.facts["place"]["value"],
        item.facts["place"]["name"],
        AreaPlace(identifier) if kind == "area" else KeyPlace(box, unit_no),
    )
    rules = current_tenant().environment.catalogue.rules
    settings = HolidaySettings.model_validate(item.facts["holiday"]) if item.facts["holiday"] else None
    holidays = Holidays.from_settings(settings, weekdays_apply=rules.weekdays_on_holidays)
    refused = [] if item.facts["has_contract"] else ["door", "key_box"]
    return AccessAnswer(member, place, item.at, holidays, Connection(contracts_refused=refused))


def items_with_videos(records: Iterable[History], cameras_at: set[str]) -> Iterator[Item]:
    """Yield records, each followed by its video if a camera covers its door or the record names a camera."""
    for record in records:
        yield item_of_record(record)
        if record.device_id and (record.device_id in cameras_at or record.extra.get("camera_id")):
            yield item_of_video(record)


def _to_json(value: Any) -> Any:
    return _iso(value) if isinstance(value, datetime) else value


def _iso(moment: datetime | None) -> str | None:
    return local(moment).isoformat() if moment is not None else None


@dataclass(frozen=True)
class ItemWords:
    """An item in words: its kind, headline, further lines, and the problem with its picture or video.

    On a page, `videos` of a record are shown with it (`group_videos`).
    """

    item: Item
    kind: str
    headline: str
    lines: list[str] = field(default_factory=list)
    problem: str = ""
    videos: list["ItemWords"] = field(default_factory=list)

    @property
    def is_record(self) -> bool:
        return self.item.kind == Item.Kind.RECORD

    @property
    def is_stored(self) -> bool:
        return self.item.media == Item.Media.STORED

    @property
    def is_loading(self) -> bool:
        return self.item.media == Item.Media.WANTED

    @property
    def can_be_fetched(self) -> bool:
        return self.item.media in Item.NOT_SAVED

    @property
    def is_video(self) -> bool:
        return self.item.file is not None and self.item.file.content_type.startswith("video/")

    @property
    def is_picture(self) -> bool:
        return self.item.file is not None and self.item.file.content_type.startswith("image/")


def words_of(item: Item) -> ItemWords:
    """Return an item in the reader's language. Unknown facts must not prevent this."""
    headline, lines = _WORDS[Item.Kind(item.kind)](item)
    wrong = str(_TROUBLE_TEXTS.get(item.trouble) or trouble_text(item.trouble))
    return ItemWords(item, str(KIND_TEXTS[item.kind]), headline, [line for line in lines if line], wrong)


def group_videos(items: Sequence[ItemWords]) -> list[ItemWords]:
    """Return items in their order, each video with its record. A video without its record stays on its own."""
    shown: list[ItemWords] = []
    records = {each.item.reference: each for each in items if each.is_record}
    for each in items:
        record = records.get(each.item.reference) if each.item.kind == Item.Kind.CLIP else None
        (record.videos if record else shown).append(each)
    return shown


def items_of(incident: Incident) -> QuerySet[Item]:
    """Return the items of an incident in order of their times."""
    return incident.items.select_related("file", "added_by").order_by("at", "pk")


def _record(item: Item) -> tuple[str, list[str]]:
    facts = item.facts
    headline = event_words.event_text_of({"member_label": "", "units": []} | facts)
    who = [
        facts["member_name"] or facts["member_id"],
        value_words.WORDS["credential"].get(facts["member_attribute"], ""),
        facts["device_name"] or facts["device_id"],
    ]
    unread = _("Reported by notification; details are not loaded yet.") if facts["notified"] else ""
    return headline, [" · ".join(str(each) for each in who if each), unread]


def _clip(item: Item) -> tuple[str, list[str]]:
    return item.facts["device_name"] or item.facts["device_id"], []


def _snapshot(item: Item) -> tuple[str, list[str]]:
    return item.facts["name"] or item.facts["camera_id"], []


def _request(item: Item) -> tuple[str, list[str]]:
    facts = item.facts
    state = State(facts["state"]).label if facts["state"] in State.values else facts["state"]
    codes = [facts["request_id"], facts["request_status"], facts["error_code"]]
    return str(item.title), [facts["by"] or _("The portal"), str(state), " ".join(filter(None, codes))]


def _rights(item: Item) -> tuple[str, list[str]]:
    answer = answer_of(item)
    named = _("%(name)s at %(place)s") % {
        "name": answer.member.member_name or answer.member.member_id,
        "place": answer.place.name,
    }
    loaded = answer.member.rights_read_at
    basis = _("Based on the rights loaded at %(at)s.") % {"at": _moment_text(loaded)} if loaded else ""
    changes = [
        _("Changed since then: %(at)s %(by)s")
        % {"at": _moment_text(datetime.fromisoformat(each["at"])), "by": each["by"]}
        for each in item.facts["changes"]
    ]
    verdict = _VERDICT_TEXTS.get(answer.state, _VERDICT_TEXTS["unknown"])
    return _("%(kind)s: %(what)s") % {"kind": named, "what": verdict}, [answer.reason, basis, *changes]


def _note(item: Item) -> tuple[str, list[str]]:
    return item.facts["by"], str(item.facts["text"]).splitlines()


def _moment_text(moment: datetime) -> str:
    return f"{local(moment):%Y-%m-%d %H:%M}"


_WORDS = {
    Item.Kind.RECORD: _record,
    Item.Kind.CLIP: _clip,
    Item.Kind.SNAPSHOT: _snapshot,
    Item.Kind.REQUEST: _request,
    Item.Kind.RIGHTS: _rights,
    Item.Kind.NOTE: _note,
}
