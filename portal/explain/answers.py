"""The answer of an access check with the deciding rule, and the person's week at the place.

The answer is yes, no or unknown, and until or from when it applies. The checks in order: the contract, the use period,
the credential, and the rights with their schedules and holidays. Without the contract, the service opens nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django.utils.dates import WEEKDAYS_ABBR
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accessapi.permissions import AreaPlace, Decision, DecisionRule, Holidays, phrase_pass
from accessapi.permissions.opening_hours import DecisionSpan, OpeningHours
from portal.base.ui.times import local, moment_text
from portal.base.ui.value_words import join_values
from portal.domain.people.models import UNREADABLE, Member
from portal.explain.questions import CheckedPlace
from tenants.models import Connection

_CONTRACTS = {False: "door", True: "key_box"}


@dataclass(frozen=True)
class ReasonLine:
    """One line of the reasoning: a name, a text, and whether the check is passed (None: unknown)."""

    name: str
    words: str
    is_passed: bool | None
    is_deciding: bool = False


class AccessAnswer:
    """One answer, computed from the mirror without calls to the service."""

    def __init__(
        self, member: Member, place: CheckedPlace, at: datetime, holidays: Holidays, connection: Connection
    ) -> None:
        self.member, self.place, self.at, self.holidays = member, place, at, holidays
        self.rights = (member.rights or {}).get("keys_pass" if place.is_key else "devices_pass")
        self.period = member.use_date_start, member.use_date_end
        self.unreadable = _unreadable_ends(member)
        self.has_contract = _CONTRACTS[place.is_key] not in connection.contracts_refused

    @cached_property
    def openings(self) -> OpeningHours | None:
        """Return when the place is open by rights and use period; None if either is unknown."""
        if self.member.rights is None or self.unreadable:
            return None
        return OpeningHours(self.rights, self.place.access_place, self.holidays, self.period)

    @cached_property
    def decision(self) -> Decision:
        """Return the decision from use period and rights alone."""
        if self.openings is not None:
            return self.openings.decision_at(self.at)
        if self.unreadable:
            return Decision(None, DecisionRule.UNKNOWN_VALUE)
        start, end = self.period
        if start is not None and self.at < start:
            return Decision(False, DecisionRule.BEFORE_USE)
        if end is not None and self.at.replace(microsecond=0) > end:
            return Decision(False, DecisionRule.AFTER_USE)
        return Decision(None, DecisionRule.RIGHTS_NOT_READ)

    @cached_property
    def deciding_factor(self) -> str:
        """Return what decided: contract, period, credential or rights."""
        if not self.has_contract:
            return "contract"
        if self.unreadable or self.decision.rule in (DecisionRule.BEFORE_USE, DecisionRule.AFTER_USE):
            return "period"
        if self.decision.allowed is not False and not _has_credential(self.member):
            return "credential"
        return "rights"

    @property
    def is_allowed(self) -> bool | None:
        return False if self.deciding_factor in ("contract", "credential") else self.decision.allowed

    @property
    def state(self) -> str:
        return {True: "yes", False: "no", None: "unknown"}[self.is_allowed]

    @property
    def reason(self) -> str:
        """Return the deciding rule in one sentence."""
        if self.deciding_factor == "contract":
            return _no_contract(self.place)
        if self.deciding_factor == "credential":
            return _no_credential()
        return _reason(self.decision, self.rights, self.place)

    @property
    def reason_lines(self) -> list[ReasonLine]:
        """Return the reasoning line by line; the deciding line is marked."""
        outside = self.decision.rule in (DecisionRule.BEFORE_USE, DecisionRule.AFTER_USE)
        period = None if self.unreadable else not outside
        credential = join_values(_credentials(self.member)) or _no_credential()
        lines = [
            ("period", _("Use period"), _period_text(self.member, bool(self.unreadable)), period),
            ("credential", _("Credential"), credential, _has_credential(self.member)),
            ("rights", _("Rights"), self._by_rights(), None if outside or self.unreadable else self.decision.allowed),
        ]
        if not self.has_contract:
            lines.insert(0, ("contract", _("Contract"), _no_contract(self.place), False))
        found = [ReasonLine(name, words, passed, key == self.deciding_factor) for key, name, words, passed in lines]
        return [*found, *_holiday_line(self.at, self.holidays)]

    @cached_property
    def until(self) -> datetime | None:
        """Return when the answer ends; None if it does not end or is unknown."""
        return self.openings.next_change(self.at) if self.openings is not None and self.depends_on_time else None

    @cached_property
    def next_opening(self) -> DecisionSpan | None:
        """Return when the place opens next; None while it is open, or if it never opens."""
        if self.openings is None or self.is_allowed or not self.depends_on_time:
            return None
        return self.openings.next_opening(self.at)

    @property
    def next_closing(self) -> datetime | None:
        """Return when the next opening ends."""
        return (
            self.openings.next_change(self.next_opening.start)
            if self.openings is not None and self.next_opening
            else None
        )

    @cached_property
    def next_unknown(self) -> DecisionSpan | None:
        """Return the first span with an unknown answer, if it comes before the next opening."""
        if self.openings is None or self.is_allowed is not False or not self.depends_on_time:
            return None
        found = self.openings.next_unknown(self.at)
        return found if found and (self.next_opening is None or found.start < self.next_opening.start) else None

    @property
    def moment_texts(self) -> dict[str, str]:
        """Return the known moments in words: until when, for how long, from when."""
        opens = self.next_opening.start if self.next_opening else None
        return {
            "until": _moment_text(self.until, self.at),
            "lasting": _duration_text(self.until, self.at),
            "opens": _moment_text(opens, self.at),
            "closes": _moment_text(self.next_closing, opens),
            "doubtful": _moment_text(self.next_unknown.start if self.next_unknown else None, self.at),
        }

    @property
    def unknown_values(self) -> list[tuple[str, Any]]:
        """Return unknown values as the service sent them."""
        if self.unreadable or self.decision.rule != DecisionRule.UNKNOWN_VALUE:
            return self.unreadable
        held = pass_for_place(self.rights, self.place)
        if held is not None:
            return [(self.place.name, held)]
        return [("keys_pass" if self.place.is_key else "devices_pass", self.rights)]

    @property
    def depends_on_time(self) -> bool:
        """Return whether the answer could be different at another moment."""
        return self.deciding_factor in ("rights", "period")

    def _by_rights(self) -> str:
        if self.member.rights is None:
            return _("not loaded yet")
        held = pass_for_place(self.rights, self.place)
        if held is not None:
            return phrase_pass(held, _)
        return _reason(OpeningHours(self.rights, self.place.access_place).decision_at(self.at), self.rights, self.place)


def _moment_text(moment: datetime | None, other: datetime | None) -> str:
    """Return `19:00` for the same day, `2026-11-23 08:00` for another; empty for None."""
    if moment is None:
        return ""
    same_day = other is not None and local(other).date() == local(moment).date()
    return local(moment).strftime("%H:%M" if same_day else "%Y-%m-%d %H:%M")


def _duration_text(end: datetime | None, start: datetime) -> str:
    """Return a duration as `2 h 10 min`, suitably rounded; empty for None."""
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


def _unreadable_ends(member: Member) -> list[tuple[str, Any]]:
    """Return the limits of the use period that are not readable, as the service sent them."""
    named = [name for name in ("use_date_start", "use_date_end") if name in member.extra]
    if not named and member.use_end_key == UNREADABLE:
        return [("use_date_end", None)]
    return [(name, member.extra[name]) for name in named]


def _credentials(member: Member) -> list[str]:
    """Return the person's credentials in words."""
    words = {"has_card": _("card"), "has_qr": _("QR code"), "has_face": _("face")}
    return [word for name, word in words.items() if getattr(member, name)]


def _has_credential(member: Member) -> bool:
    return member.has_card or member.has_qr or member.has_face


def _no_credential() -> str:
    return _("No card, QR code or face is registered.")


def _no_contract(place: CheckedPlace) -> str:
    if place.is_key:
        return _("Keys are not available: the contract has no key boxes.")
    return _("Doors are not available: the contract has no door entry.")


def _period_text(member: Member, unreadable: bool) -> str:
    start, end = member.use_date_start, member.use_date_end
    if unreadable:
        return _("cannot be read")
    edges = [
        _("from %(at)s") % {"at": moment_text(start)} if start else "",
        _("to %(at)s") % {"at": moment_text(end)} if end else "",
    ]
    return " ".join(filter(None, edges)) or _("no end date")


def _reason(decision: Decision, rights: Any, place: CheckedPlace) -> str:
    """Return the rule in plain words."""
    names = {"place": place.name}
    if decision.rule == DecisionRule.NOWHERE and rights in (None, {}):
        return _("This person has no rights of this kind.")
    words = {
        DecisionRule.BEFORE_USE: _("The use period has not begun yet."),
        DecisionRule.AFTER_USE: _("The use period is over."),
        DecisionRule.EVERYWHERE: _("Every key is allowed at any time, including keys added later.")
        if place.is_key
        else _("Every area is allowed at any time, including areas added later."),
        DecisionRule.NOWHERE: _("No key is allowed.") if place.is_key else _("No area is allowed."),
        DecisionRule.NOT_LISTED: _("No access right for %(place)s.") % names,
        DecisionRule.ALWAYS: _("%(place)s is allowed at any time.") % names,
        DecisionRule.NEVER: _("%(place)s is set to “never”.") % names,
        DecisionRule.OUTSIDE_SCHEDULE: _("Outside the scheduled hours."),
        DecisionRule.RIGHTS_NOT_READ: _("This person's rights are not loaded yet."),
        DecisionRule.UNKNOWN_VALUE: _(
            "The service uses a setting this portal does not recognise, so the result is unknown."
        ),
    }
    if decision.rule is DecisionRule.SCHEDULE:
        return _("Within the scheduled hours: %(item)s.") % {
            "item": phrase_pass({"effect": "allow", "schedule": [decision.item]}, _)
        }
    return words[decision.rule]


def pass_for_place(rights: Any, place: CheckedPlace) -> Any:
    """Return the pass listed for this place in the rights, or None."""
    if not isinstance(rights, dict) or rights.get("default_mode") != "option":
        return None
    listed = rights.get("key_devices_list" if place.is_key else "areas_list")
    if not isinstance(listed, list):
        return None
    to_pass = place.access_place
    if isinstance(to_pass, AreaPlace):
        return _find_part(listed, "area_id", to_pass.area_id, "pass")
    units = _find_part(listed, "key_device_id", to_pass.key_device_id, "units")
    return _find_part(units if isinstance(units, list) else [], "unit_no", to_pass.unit_no, "pass")


def _find_part(listed: list[Any], name: str, value: str, part: str) -> Any:
    entries = (each for each in listed if isinstance(each, dict) and each.get(name) == value)
    return next((each.get(part) for each in entries), None)


def _holiday_line(at: datetime, holidays: Holidays) -> list[ReasonLine]:
    """Return a line about the day if it is a holiday, because schedules often differ then."""
    name = holidays.name_of(local(at).date())
    if name is None:
        return []
    words = _("%(day)s is a holiday: %(name)s") if name else _("%(day)s is a weekly holiday")
    return [ReasonLine(_("Holiday"), words % {"day": f"{local(at):%Y-%m-%d}", "name": name}, None)]


@dataclass(frozen=True)
class OpenSpan:
    """A part of a day in minutes from 00:00, open or unknown."""

    start: float
    width: float
    words: str
    is_unknown: bool = False


@dataclass(frozen=True)
class WeekDay:
    """One row of the picture. `moment` is the moment of the question in minutes, on its day."""

    date: date
    name: str
    holiday: str | None
    spans: list[OpenSpan]
    moment: float | None = None

    @property
    def words(self) -> str:
        return join_values(span.words for span in self.spans) or _("closed")


LEFT, MINUTE = 150, 1  # the x position of 00:00 in the picture, and the width of a minute


def hour_marks() -> list[tuple[int, str]]:
    """Return (x position, label) of each hour."""
    return [(LEFT + hour * 60 * MINUTE, f"{hour:02d}" if not hour % 3 else "") for hour in range(25)]


def days_of_week(openings: OpeningHours, holidays: Holidays, monday: date, at: datetime) -> list[WeekDay]:
    """Return seven days, beginning with `monday`."""
    days = [monday + timedelta(days=number) for number in range(7)]
    moment = local(at)
    found = []
    for day in days:
        holiday = holidays.name_of(day)
        words = None if holiday is None else holiday or _("weekly holiday")
        marked = moment.hour * 60 + moment.minute + moment.second / 60 if day == moment.date() else None
        found.append(WeekDay(day, str(WEEKDAYS_ABBR[day.weekday()]), words, list(_spans(openings, day)), marked))
    return found


def _spans(openings: OpeningHours, day: date) -> Iterator[OpenSpan]:
    for each in openings.spans_of_day(day):
        if each.allowed is False:
            continue
        start = each.start.hour * 60 + each.start.minute + each.start.second / 60
        minutes = (each.end - each.start).total_seconds() / 60
        yield OpenSpan(round(start, 2), round(minutes, 2), _times(start, start + minutes), each.allowed is None)


def _times(start: float, end: float) -> str:
    """Return `08:00–19:00`, with the end rounded up from the service's last second."""
    first, last = int(start), round(end)
    return f"{first // 60:02d}:{first % 60:02d}–{last // 60:02d}:{last % 60:02d}"
