"""Texts of alerts. People and places are named only for readers who may see the records."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _

from portal.domain.alerts.kinds import KINDS
from portal.domain.alerts.models import Alert
from portal.domain.history import visibility
from portal.domain.places.models import PassController
from tenants.access import Access

_MEMBER = "member:"


@dataclass(frozen=True)
class AlertTexts:
    """Texts of alerts for one reader, or without personal names if `access` is None.

    `names` are those of people, by their ids. `over` are the alerts whose door is in another state by now, although the
    next check has not ended them yet: all pages name the same state.
    """

    access: Access | None
    names: Mapping[str, str]
    over: Collection[int] = ()

    @classmethod
    def of(cls, access: Access, alerts: Iterable[Alert]) -> "AlertTexts":
        """Return the texts of these alerts, with the names of their people and the states of doors loaded together."""
        alerts = list(alerts)
        ids = {_member_id_of(each) for each in alerts if may_see(access, each)} - {""}
        return cls(access, visibility.names_by_id(access, ids) if ids else {}, _over(alerts))

    def title(self, alert: Alert) -> str:
        """Return the title of an alert's kind."""
        kind = KINDS.get(alert.kind)
        return str(kind.title) if kind else alert.kind

    def sentence(self, alert: Alert) -> str:
        """Return the sentence of an alert."""
        kind = KINDS.get(alert.kind)
        if kind is None:
            return alert.subject if not _member_id_of(alert) else alert.kind
        facts = {name: value for name, value in alert.facts.items() if isinstance(value, int)}
        is_over = alert.ended_at is not None or alert.pk in self.over
        message = kind.past_message if is_over and kind.past_message else kind.message
        return str(message) % {**facts, "subject": self.subject(alert), "place": self.place(alert)}

    def subject(self, alert: Alert) -> str:
        """Return the person of an alert, without the name if the reader may not see the records."""
        person = _member_id_of(alert)
        if not person:
            return _("Unknown credential")
        is_visible = self.access is not None and may_see(self.access, alert)
        return self.names.get(person, person) if is_visible else _("A person")

    def place(self, alert: Alert) -> str:
        """Return the door of an alert."""
        return str(alert.facts.get("device_name") or alert.facts.get("device") or _("an unknown place"))


def may_see(access: Access, alert: Alert) -> bool:
    """Return True if a person may see the newest record of an alert."""
    since = visibility.visible_since(access)
    return visibility.may_view_log(access) and (since is None or alert.last_at >= since)


def _over(alerts: Iterable[Alert]) -> set[int]:
    """Return those of the alerts that have not ended, but whose door is in another state now."""
    lasting = [each for each in alerts if each.ended_at is None and each.door_id and _door_states(each)]
    if not lasting:
        return set()
    doors = PassController.objects.filter(device_id__in={each.door_id for each in lasting})
    states = dict(doors.values_list("device_id", "state"))
    return {each.pk for each in lasting if each.door_id in states and states[each.door_id] not in _door_states(each)}


def _door_states(alert: Alert) -> Collection[str]:
    kind = KINDS.get(alert.kind)
    return kind.door_states if kind is not None else ()


def _member_id_of(alert: Alert) -> str:
    return alert.subject.removeprefix(_MEMBER) if alert.subject.startswith(_MEMBER) else ""
