"""Texts of alerts. People and places are named only for readers who may see the records."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _

from portal.domain.alerts.kinds import KINDS
from portal.domain.alerts.models import Alert
from portal.domain.history import visibility
from tenants.access import Access

_MEMBER = "member:"


@dataclass(frozen=True)
class AlertTexts:
    """Texts of alerts for one reader, or without personal names if `access` is None.

    `names` are those of people, by their ids.
    """

    access: Access | None
    names: Mapping[str, str]

    @classmethod
    def of(cls, access: Access, alerts: Iterable[Alert]) -> "AlertTexts":
        """Return the texts of these alerts, with the names of their people loaded together."""
        ids = {_member_id_of(each) for each in alerts if may_see(access, each)} - {""}
        return cls(access, visibility.names_by_id(access, ids) if ids else {})

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
        message = kind.past_message if alert.ended_at and kind.past_message else kind.message
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


def _member_id_of(alert: Alert) -> str:
    return alert.subject.removeprefix(_MEMBER) if alert.subject.startswith(_MEMBER) else ""
