"""The texts of an incident's items, for the incident's page and its exports, in one language."""

from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from portal.base.ui import value_words
from portal.base.ui.times import local
from portal.domain.cameras.pictures import trouble_text
from portal.domain.intents.states import State
from portal.evidence.collecting import answer_of
from portal.evidence.models import Incident, Item

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
    "store": gettext_lazy("The evidence store does not respond. Trying again."),
}
_VERDICT_TEXTS: dict[str, str | Promise] = {
    "yes": gettext_lazy("Access allowed"),
    "no": gettext_lazy("Access not allowed"),
    "unknown": gettext_lazy("Access unknown"),
}


@dataclass(frozen=True)
class ItemWords:
    """An item in words: its kind, headline, further lines, and the problem with its picture or video."""

    item: Item
    kind: str
    headline: str
    lines: list[str] = field(default_factory=list)
    problem: str = ""

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


def items_of(incident: Incident) -> QuerySet[Item]:
    """Return the items of an incident in order of their times."""
    return incident.items.select_related("file", "added_by").order_by("at", "pk")


def _record(item: Item) -> tuple[str, list[str]]:
    facts = item.facts
    words = facts["content"] or facts.get("member_label")
    said = str(words or value_words.service_word("category", facts["category"]) or item.reference)
    who = [
        facts["member_name"] or facts["member_id"],
        facts["member_attribute"],
        facts["device_name"] or facts["device_id"],
    ]
    unread = _("Reported by notification; details are not loaded yet.") if facts["notified"] else ""
    return said, [" · ".join(filter(None, who)), unread]


def _clip(item: Item) -> tuple[str, list[str]]:
    return item.facts["device_name"] or item.facts["device_id"], []


def _snapshot(item: Item) -> tuple[str, list[str]]:
    return item.facts["name"] or item.facts["camera_id"], []


def _request(item: Item) -> tuple[str, list[str]]:
    facts = item.facts
    state = State(facts["state"]).label if facts["state"] in State.values else facts["state"]
    told = [facts["request_id"], facts["request_status"], facts["error_code"]]
    return str(item.title), [facts["by"] or _("The portal"), str(state), " ".join(filter(None, told))]


def _rights(item: Item) -> tuple[str, list[str]]:
    answer = answer_of(item)
    named = _("%(name)s at %(place)s") % {
        "name": answer.member.member_name or answer.member.member_id,
        "place": answer.place.name,
    }
    loaded = answer.member.rights_read_at
    basis = _("Based on the rights loaded at %(at)s.") % {"at": _moment_text(loaded)} if loaded else ""
    changes = [_("Changed since then: %(at)s %(by)s") % each for each in item.facts["changes"]]
    verdict = _VERDICT_TEXTS.get(answer.state, _VERDICT_TEXTS["unknown"])
    return f"{named}: {verdict}", [answer.reason, basis, *changes]


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
