"""Queries for keys: where each key is, who has it and since when, and who had it before.

People who may see log records also see what follows from them. Others see only the readings of the key boxes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Min, Q, QuerySet
from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, npgettext, pgettext_lazy

from accessapi.keys import KeyEvent
from accessapi.overrides import States
from portal.base.ui import live_updates
from portal.base.ui.chips import Chip
from portal.base.ui.times import clock_tag
from portal.base.ui.value_words import join_values
from portal.domain.alerts import overdue_keys
from portal.domain.history import visibility
from portal.domain.history.models import History
from portal.domain.intents import queries as intents
from portal.domain.intents.models import Intent, target_of
from portal.domain.places.models import Key, KeyBox, KeyState
from tenants.access import TenantRequest

# How many records of a key are used for its history.
MAX_RECORDS = 50
_PAGES = {"member": "members:page", "guest": "guests:guest"}


def visible_keys(request: TenantRequest) -> QuerySet[Key]:
    """Return all keys with the state that this person may see."""
    return overdue_keys.keys_with_state(by_log=visibility.may_view_log(request.access))


@dataclass(frozen=True)
class ShownKey:
    """A key as a person sees it. `holder` is a name, with the address of its page if they have access to it.

    `since` is the time of the record, or of the reading that showed the change. With readings, the change may have
    happened earlier (`is_at_least`).
    """

    key: Key
    href: str
    chip: Chip
    state: KeyState
    since: datetime | None
    is_at_least: bool
    is_contradictory: bool
    holder: str
    holder_url: str

    @property
    def tone(self) -> str:
        """Return the CSS class of its tile."""
        if self.chip.tone in ("alarm", "loud"):
            return self.chip.tone
        return {KeyState.OUT: "out", KeyState.IN: "quiet"}.get(self.state, "unknown")

    def since_in(self, state: KeyState) -> datetime | None:
        """Return when this state began; None if the key is in another state."""
        return self.since if self.state == state else None

    @property
    def since_text(self) -> SafeString | str:
        """Return when the key was taken or returned; empty if no change was observed."""
        if self.since is None:
            return ""
        exact, latest = _CHANGES[self.state]
        return format_html(str(latest if self.is_at_least else exact), at=clock_tag(self.since))


# For each state: the text about its start, and the one for a start that may have been earlier.
_CHANGES = {
    KeyState.OUT: (
        pgettext_lazy("key", "taken {at}"),
        pgettext_lazy("key", "taken {at} at the latest"),
    ),
    KeyState.IN: (
        pgettext_lazy("key", "returned {at}"),
        pgettext_lazy("key", "returned {at} at the latest"),
    ),
    KeyState.UNKNOWN: (
        pgettext_lazy("key", "since {at}"),
        pgettext_lazy("key", "since {at} at the latest"),
    ),
}


def describe_keys(request: TenantRequest, rows: Iterable[Key]) -> list[ShownKey]:
    """Return these keys with their holders' names, looked up once. `rows` come from `visible_keys`."""
    rows, log = list(rows), visibility.may_view_log(request.access)
    people, slug = (
        visibility.people_by_id(request.access, {vars(key)["who"] for key in rows} - {""}),
        request.tenant.slug,
    )
    states, found = states_of(request), []
    for key in rows:
        values, box = vars(key), key.key_box.key_device_id
        state, person = KeyState(values["shown"]), people.get(values["who"])
        since, at_least = key.since_seen(by_log=log)
        found.append(
            ShownKey(
                key,
                href=reverse("keys:key", args=[slug, box, key.unit_no]),
                chip=overdue_keys.state_of(key, states),
                state=state,
                since=since,
                is_at_least=at_least,
                is_contradictory=values["odd"],
                holder=(person.name if person else key.holder_name or values["who"]) if values["who"] else "",
                holder_url=reverse(_PAGES[person.kind], args=[slug, values["who"]])
                if person and person.is_current
                else "",
            )
        )
    return found


def states_of(request: TenantRequest) -> States:
    """Return the words that the tenant's service uses for states of devices."""
    return request.tenant.environment.catalogue.states


@dataclass(frozen=True)
class KeySummary:
    """Figures for all keys of the request's tenant."""

    request: TenantRequest

    @cached_property
    def counts(self) -> dict[str, int]:
        state, since = overdue_keys.state_columns(by_log=visibility.may_view_log(self.request.access))
        out, odd = Q(**{state: KeyState.OUT}), Q(differs=True) if state == "state" else Q(pk=None)
        return Key.objects.aggregate(
            all=Count("pk"),
            out=Count("pk", filter=out),
            overdue=Count("pk", filter=out & Q(**{f"{since}__lte": overdue_keys.overdue_at()})),
            unknown=Count("pk", filter=Q(**{state: KeyState.UNKNOWN})),
            odd=Count("pk", filter=odd),
            faulty=Count("pk", filter=overdue_keys.FAULTY),
        )

    @cached_property
    def boxes(self) -> Sequence[Any]:
        """Return the key boxes by name, each with its figures."""
        state = f"keys__{overdue_keys.state_columns(by_log=visibility.may_view_log(self.request.access))[0]}"
        rows = KeyBox.objects.defer("extra", "units").annotate(
            n=Count("keys"),
            out=Count("keys", filter=Q(**{state: KeyState.OUT})),
            unknown=Count("keys", filter=Q(**{state: KeyState.UNKNOWN})),
        )
        found = list(rows.order_by("name_order", "pk")[:200])
        for box in found:
            vars(box).update(chip=overdue_keys.state_of_box(box, states_of(self.request)))
        return found

    @property
    def needs_attention(self) -> bool:
        """Check whether a key or a box needs attention."""
        return bool(
            self.counts["overdue"]
            or self.counts["odd"]
            or self.counts["faulty"]
            or any(box.chip.problem for box in self.boxes)
        )

    @property
    def headline(self) -> str:
        """Return how many keys there are, how many are out and how many are overdue, as text."""
        n, of_all, late = self.counts["out"], self.counts["all"], self.counts["overdue"]
        if not n:
            return ngettext("%(all)d key, none out", "%(all)d keys, none out", of_all) % {"all": of_all}
        text = ngettext("%(n)d of %(all)d key out", "%(n)d of %(all)d keys out", of_all) % {"n": n, "all": of_all}
        if not late:
            return text
        return _("%(said)s, %(n)d overdue") % {"said": text, "n": late}

    @property
    def uncertainty(self) -> str:
        """Return a text about the keys and boxes whose state is not known."""
        offline = sum(box.chip.state == "offline" for box in self.boxes)
        parts = (
            (self.counts["unknown"], npgettext("key", "%(n)d unknown", "%(n)d unknown", self.counts["unknown"])),
            (self.counts["odd"], ngettext("%(n)d discrepancy", "%(n)d discrepancies", self.counts["odd"])),
            (self.counts["faulty"], npgettext("key", "%(n)d faulty", "%(n)d faulty", self.counts["faulty"])),
            (offline, overdue_keys.offline_text(offline)),
        )
        return join_values(words % {"n": n} for n, words in parts if n)

    @property
    def as_of(self) -> datetime | None:
        """Return when the box with the oldest reading was read; None if a box was never read."""
        read = [box.status_as_of for box in self.boxes]
        return min((at for at in read if at), default=None) if all(read) else None

    @property
    def version(self) -> str:
        """Return the version of everything that is drawn."""
        keys = Key.objects.aggregate(Count("pk"), Max("known_at"), Max("record_received_at"), Max("pk"))
        boxes = KeyBox.objects.aggregate(Min("status_as_of"), Max("status_as_of"), Count("pk"))
        # `counts` is included, because a key becomes overdue without any change of a row.
        return live_updates.version_of(sorted(keys.items()), sorted(boxes.items()), sorted(self.counts.items()))


@dataclass
class CustodyPeriod:
    """A time in which a person had a key: from taking it to returning it.

    `first` is the first record of it. Without `since` that is the return. `gap` is a text about missing records.
    """

    first: History
    since: History | None = None
    until: History | None = None
    gap: str = ""
    name: str = ""


def custody(request: TenantRequest, key: Key) -> tuple[list[CustodyPeriod], bool]:
    """Return who had the key, the newest first, and whether the log has more."""
    about = visibility.visible_records(request.access).filter(device_id=key.key_box.key_device_id)
    of_key = about.filter(units__contains=[{"unit_no": key.unit_no}]).order_by("-at", "-pk")
    records = list(of_key[: MAX_RECORDS + 1])
    states = states_of(request)
    found: list[CustodyPeriod] = []
    for record in reversed(records[:MAX_RECORDS]):
        event = states.key_event_of(record.texts)
        if event is not None:
            _add_event(found, record, event)
    names = visibility.names_by_id(request.access, {each.first.member_id for each in found} - {""})
    for each in found:
        each.name = names.get(each.first.member_id, each.first.member_name)
    return found[::-1], len(records) > MAX_RECORDS


def _add_event(found: list[CustodyPeriod], record: History, event: KeyEvent) -> None:
    last = found[-1] if found else None
    is_open = last is not None and last.until is None
    if event is KeyEvent.TAKEN:
        if is_open and last is not None:
            last.gap = _("Taken again with no return recorded")
        found.append(CustodyPeriod(record, since=record))
    elif is_open and last is not None:
        last.until = record
    else:
        found.append(CustodyPeriod(record, until=record, gap=_("Returned, never recorded as taken")))


def latest_commands(box: KeyBox) -> list[Intent]:
    """Return the newest commands for keys of this box, by any person."""
    return list(intents.latest_intents(target_of("key_box", box.key_device_id)).select_related("tenant")[:5])
