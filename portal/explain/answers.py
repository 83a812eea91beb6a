"""The answer: yes, no, or that it cannot be told; by which rule; until when, or from when on.

What decides, in this order: the contract (without it the service opens nothing here), the use period, whether there is
anything to show at a reader at all, and the rights with their schedules and the tenant's holidays.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accessapi.permissions import AreaPlace, Decision, Holidays, Rule, phrase
from accessapi.permissions.openings import Openings, Stretch
from portal.core.mirror.models import UNREADABLE, Member
from portal.core.ui.times import local
from portal.explain.questions import Place
from tenants.models import Connection

_CONTRACTS = {False: "door", True: "key_box"}


@dataclass(frozen=True)
class Check:
    """One line of the reasoning: a name, what holds, and whether it admits (None: cannot be told)."""

    name: str
    words: str
    passed: bool | None
    decides: bool = False


class Answer:
    """One answer, worked out from what the mirror knows; no call is made."""

    def __init__(self, member: Member, place: Place, at: datetime, holidays: Holidays, connection: Connection) -> None:
        self.member, self.place, self.at, self.holidays = member, place, at, holidays
        self.rights = (member.rights or {}).get("keys_pass" if place.is_key else "devices_pass")
        self.period = member.use_date_start, member.use_date_end
        self.unreadable = _unreadable(member)
        self.has_contract = _CONTRACTS[place.is_key] not in connection.contracts_refused

    @cached_property
    def openings(self) -> Openings | None:
        """When the place is open by rights and period; None while either is not known."""
        if self.member.rights is None or self.unreadable:
            return None
        return Openings(self.rights, self.place.to_pass, self.holidays, self.period)

    @cached_property
    def decision(self) -> Decision:
        """By use period and rights alone."""
        if self.openings is not None:
            return self.openings.at(self.at)
        if self.unreadable:
            return Decision(None, Rule.UNKNOWN_VALUE)
        start, end = self.period
        if start is not None and self.at < start:
            return Decision(False, Rule.BEFORE_USE)
        if end is not None and self.at.replace(microsecond=0) > end:
            return Decision(False, Rule.AFTER_USE)
        return Decision(None, Rule.RIGHTS_NOT_READ)

    @cached_property
    def decides(self) -> str:
        """What the answer rests on: contract, period, credential or rights."""
        if not self.has_contract:
            return "contract"
        if self.unreadable or self.decision.rule in (Rule.BEFORE_USE, Rule.AFTER_USE):
            return "period"
        if self.decision.allowed is not False and not _has_credential(self.member):
            return "credential"
        return "rights"

    @property
    def allowed(self) -> bool | None:
        return False if self.decides in ("contract", "credential") else self.decision.allowed

    @property
    def state(self) -> str:
        return {True: "yes", False: "no", None: "unknown"}[self.allowed]

    @property
    def because(self) -> str:
        """The deciding rule in one sentence."""
        if self.decides == "contract":
            return _no_contract(self.place)
        if self.decides == "credential":
            return _nothing_to_show()
        return _because(self.decision, self.rights, self.place)

    @property
    def checks(self) -> list[Check]:
        """The reasoning line by line; the one that decides is marked."""
        outside = self.decision.rule in (Rule.BEFORE_USE, Rule.AFTER_USE)
        period = None if self.unreadable else not outside
        credential = ", ".join(_credentials(self.member)) or _nothing_to_show()
        lines = [
            ("period", _("Use period"), _period(self.member, bool(self.unreadable)), period),
            ("credential", _("Credential"), credential, _has_credential(self.member)),
            ("rights", _("Rights"), self._by_rights(), None if outside or self.unreadable else self.decision.allowed),
        ]
        if not self.has_contract:
            lines.insert(0, ("contract", _("Contract"), _no_contract(self.place), False))
        found = [Check(name, words, passed, key == self.decides) for key, name, words, passed in lines]
        return [*found, *_day(self.at, self.holidays)]

    @cached_property
    def until(self) -> datetime | None:
        """When the answer ends; None when no end is in sight, or nothing can be told."""
        return self.openings.changes(self.at) if self.openings is not None and self.by_time else None

    @cached_property
    def opens(self) -> Stretch | None:
        """When the place opens next; None while it is open, or when it never does."""
        if self.openings is None or self.allowed or not self.by_time:
            return None
        return self.openings.opens(self.at)

    @property
    def closes(self) -> datetime | None:
        """When the next opening ends."""
        return self.openings.changes(self.opens.start) if self.openings is not None and self.opens else None

    @cached_property
    def doubtful(self) -> Stretch | None:
        """The first stretch of which nothing can be told, when that comes before the next opening."""
        if self.openings is None or self.allowed is not False or not self.by_time:
            return None
        found = self.openings.doubtful(self.at)
        return found if found and (self.opens is None or found.start < self.opens.start) else None

    @property
    def edges(self) -> dict[str, str]:
        """The moments above in words, as far as there are any: until when, for how long, from when on."""
        opens = self.opens.start if self.opens else None
        return {
            "until": _edge(self.until, self.at),
            "lasting": _lasting(self.until, self.at),
            "opens": _edge(opens, self.at),
            "closes": _edge(self.closes, opens),
            "doubtful": _edge(self.doubtful.start if self.doubtful else None, self.at),
        }

    @property
    def unknown(self) -> list[tuple[str, Any]]:
        """Values that nobody knows, as they came."""
        if self.unreadable or self.decision.rule != Rule.UNKNOWN_VALUE:
            return self.unreadable
        held = held_pass(self.rights, self.place)
        if held is not None:
            return [(self.place.name, held)]
        return [("keys_pass" if self.place.is_key else "devices_pass", self.rights)]

    @property
    def by_time(self) -> bool:
        """Whether another moment could have another answer."""
        return self.decides in ("rights", "period")

    def _by_rights(self) -> str:
        if self.member.rights is None:
            return _("not loaded yet")
        held = held_pass(self.rights, self.place)
        if held is not None:
            return phrase(held, _)
        return _because(Openings(self.rights, self.place.to_pass).at(self.at), self.rights, self.place)


def _edge(moment: datetime | None, beside: datetime | None) -> str:
    """`19:00` on the same day, `2026-11-23 08:00` on another; nothing for None."""
    if moment is None:
        return ""
    same_day = beside is not None and local(beside).date() == local(moment).date()
    return local(moment).strftime("%H:%M" if same_day else "%Y-%m-%d %H:%M")


def _lasting(end: datetime | None, start: datetime) -> str:
    """`2 h 10 min`, rounded to what matters; nothing for None."""
    if end is None:
        return ""
    minutes = max(round((end - start).total_seconds() / 60), 1)
    hours, days = minutes // 60, minutes // 1440
    if days >= 2:
        return ngettext("%(n)d day", "%(n)d days", days) % {"n": days}
    if not hours:
        return ngettext("%(n)d min", "%(n)d min", minutes) % {"n": minutes}
    if not minutes % 60:
        return ngettext("%(n)d h", "%(n)d h", hours) % {"n": hours}
    return _("%(hours)d h %(minutes)d min") % {"hours": hours, "minutes": minutes % 60}


def _unreadable(member: Member) -> list[tuple[str, Any]]:
    """Ends of the use period that the service told in a way that cannot be read."""
    named = [name for name in ("use_date_start", "use_date_end") if name in member.extra]
    if not named and member.use_end_key == UNREADABLE:
        return [("use_date_end", None)]
    return [(name, member.extra[name]) for name in named]


def _credentials(member: Member) -> list[str]:
    """What this person has to show at a reader."""
    words = {"has_card": _("card"), "has_qr": _("QR code"), "has_face": _("face")}
    return [word for name, word in words.items() if getattr(member, name)]


def _has_credential(member: Member) -> bool:
    return member.has_card or member.has_qr or member.has_face


def _nothing_to_show() -> str:
    return _("No card, QR code or face is registered.")


def _no_contract(place: Place) -> str:
    if place.is_key:
        return _("Keys are not available: the contract has no key boxes.")
    return _("Doors are not available: the contract has no door entry.")


def _period(member: Member, unreadable: bool) -> str:
    start, end = member.use_date_start, member.use_date_end
    if unreadable:
        return _("cannot be read")
    edges = [
        _("from %(at)s") % {"at": f"{local(start):%Y-%m-%d %H:%M}"} if start else "",
        _("to %(at)s") % {"at": f"{local(end):%Y-%m-%d %H:%M}"} if end else "",
    ]
    return " ".join(filter(None, edges)) or _("no end date")


def _because(decision: Decision, rights: Any, place: Place) -> str:
    """The rule in plain words."""
    names = {"place": place.name}
    if decision.rule == Rule.NOWHERE and rights in (None, {}):
        return _("This person has no rights of this kind.")
    words = {
        Rule.BEFORE_USE: _("The use period has not begun yet."),
        Rule.AFTER_USE: _("The use period is over."),
        Rule.EVERYWHERE: _("Every key is allowed at any time, including keys added later.")
        if place.is_key
        else _("Every area is allowed at any time, including areas added later."),
        Rule.NOWHERE: _("No key is allowed.") if place.is_key else _("No area is allowed."),
        Rule.NOT_LISTED: _("No access right for %(place)s.") % names,
        Rule.ALWAYS: _("%(place)s is allowed at any time.") % names,
        Rule.NEVER: _("%(place)s is set to “never”.") % names,
        Rule.OUTSIDE_SCHEDULE: _("Outside the scheduled hours."),
        Rule.RIGHTS_NOT_READ: _("This person's rights are not loaded yet."),
        Rule.UNKNOWN_VALUE: _("The service uses a setting this portal does not recognise, so the result is unknown."),
    }
    if decision.rule is Rule.SCHEDULE:
        return _("Within the scheduled hours: %(item)s.") % {
            "item": phrase({"effect": "allow", "schedule": [decision.item]}, _)
        }
    return words[decision.rule]


def held_pass(rights: Any, place: Place) -> Any:
    """The pass that rights give this very place, None where none is listed for it."""
    if not isinstance(rights, dict) or rights.get("default_mode") != "option":
        return None
    listed = rights.get("key_devices_list" if place.is_key else "areas_list")
    if not isinstance(listed, list):
        return None
    to_pass = place.to_pass
    if isinstance(to_pass, AreaPlace):
        return _first(listed, "area_id", to_pass.area_id, "pass")
    units = _first(listed, "key_device_id", to_pass.key_device_id, "units")
    return _first(units if isinstance(units, list) else [], "unit_no", to_pass.unit_no, "pass")


def _first(listed: list[Any], name: str, wanted: str, part: str) -> Any:
    mine = (each for each in listed if isinstance(each, dict) and each.get(name) == wanted)
    return next((each.get(part) for each in mine), None)


def _day(at: datetime, holidays: Holidays) -> list[Check]:
    """The day, when it is a holiday: schedules often differ then."""
    name = holidays.name(local(at).date())
    if name is None:
        return []
    words = _("%(day)s is a holiday: %(name)s") if name else _("%(day)s is a weekly holiday")
    return [Check(_("Holiday"), words % {"day": f"{local(at):%Y-%m-%d}", "name": name}, None)]
