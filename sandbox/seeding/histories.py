"""The log of a tenant's last month, written straight into the table."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate
from random import Random
from typing import Any

from django.db import connection

from accessapi.permissions import AreaPlace, Holidays, KeyPlace, decide_place, explain_decision
from sandbox import clock
from sandbox.engine import recognition
from sandbox.engine.activity_log import KEY_RETURNED, KEY_TAKEN, Category, Status, device_entry
from sandbox.engine.recognition import Person
from sandbox.seeding.places import Places
from sandbox.service.models import Guest, KeyBox, Member, PassController, Tenant
from sandbox.service.models.people import CREATION_ORDER

_DAYS = 30
_PER_MEMBER, _MOST = 2, 1000
#: The number of people in the log.
_SIMULATED_PEOPLE = 30
_COLUMNS = "tenant_id, history_id, at, status, category, content, member, device, held_by"
#: When people move, and how often; (begin, end) in hours of each part of the day.
_HOURS = (((7.5, 9.5), 5), ((9.5, 12), 3), ((12, 13.5), 3), ((13.5, 17), 3), ((17, 19.5), 4), ((19.5, 23), 0.4))
_STRETCHES, _BUSY = [hours for hours, _ in _HOURS], list(accumulate(weight for _, weight in _HOURS))
_OFF_DAY = 0.06

Row = tuple[datetime, str, str, str | None, str]


@dataclass(frozen=True)
class SimulatedPerson:
    """A person with the places open and closed to them on a usual morning, as JSON texts of log records."""

    person: Person
    text: str
    doors: list[PassController]
    closed_doors: list[tuple[PassController, str]]
    keys: list[tuple[KeyBox, str]]


def create_histories(tenant: Tenant, places: Places, guests: list[Guest], members: int, seed: str) -> None:
    """Write about two records per member, at most 1,000, mostly in working hours; none for an empty building.

    They have their own random source, so that everything else stays the same for a seed.
    """
    if not members:
        return
    random = Random(f"{seed}|histories")  # noqa: S311 - repeated data is intended
    now = clock.now().replace(microsecond=0)
    house = _Building(tenant, places, guests, now, random)
    rows = [*house.keys_out(), *house.records(min(_PER_MEMBER * members, _MOST))]
    prefix = hashlib.sha256(tenant.tenant_id.encode()).hexdigest()[:6]
    with connection.cursor() as cursor, cursor.copy(f"COPY service_history ({_COLUMNS}) FROM STDIN") as copy:
        for number, (at, category, content, member, device) in enumerate(sorted(rows, key=lambda row: row[0]), 1):
            history_id = f"h{prefix}{number:07d}"
            copy.write_row(
                (tenant.tenant_id, history_id, at, Status.OCCUR, category, content, member, device, ""),
            )


class _Building:
    def __init__(self, tenant: Tenant, places: Places, guests: list[Guest], now: datetime, random: Random) -> None:
        self.tenant, self.places, self.guests, self.now, self.random = tenant, places, guests, now, random
        self.holidays = recognition.holidays(tenant)
        self.days, self.weights = _days(self.holidays, now)
        self.doors = places.doors if tenant.has_contract("door") else []
        self.boxes = places.boxes if tenant.has_contract("key_box") else []
        self.devices = {door.device_id: _json(device_entry(door)) for door in self.doors}
        self.anywhere = [*self.devices.values(), *(_json(device_entry(box)) for box in self.boxes)]
        self.walkers = self._walkers()
        # People without access to any place rarely come.
        self.comers = list(accumulate(1 if walker.doors or walker.keys else 0.1 for walker in self.walkers))
        self.busy_days = list(accumulate(self.weights))

    def records(self, count: int) -> list[Row]:
        """Return this many records; none if no device is under contract."""
        found: list[Row] = []
        while len(found) < count and self.anywhere:
            found += self._record()
        return found[:count]

    def keys_out(self) -> Iterator[Row]:
        """Yield a record for each key that is out, and set its holder; `create_tenant` writes the keys."""
        for number, use in enumerate(self.places.keys_out):
            place = use.box.key_device_id, use.unit_no
            may = [one for one in self.walkers if place in [(box.key_device_id, unit) for box, unit in one.keys]]
            if may:
                walker = self.random.choice(may)
                use.holder = walker.person.record_entry()
                # The first was forgotten since yesterday; the others are in use.
                away = timedelta(hours=26) if number == 0 else timedelta(minutes=self.random.randint(5, 300))
                use.taken_at = self.now - away
                yield use.taken_at, Category.NORMAL, KEY_TAKEN, walker.text, _json(device_entry(use.box, [use.unit_no]))

    def _record(self) -> list[Row]:
        random, at = self.random, self._moment()
        draw = random.random()
        if draw < 0.03 and self.doors and self.tenant.has_contract("licence"):
            device = self.devices[random.choice(self.doors).device_id]
            content = f"Remote unlock succeeded; request r{random.getrandbits(80):020x}"
            return [(at, Category.OPERATION, content, None, device)]
        if draw < 0.05 or not self.walkers:
            stranger = _json(recognition.unknown_person_entry("card", f"{random.getrandbits(60):015X}"))
            return [(at, Category.SUSPICIOUS, "Refused: unknown card.", stranger, random.choice(self.anywhere))]
        (walker,) = random.choices(self.walkers, cum_weights=self.comers)
        if isinstance(guest := walker.person.row, Guest):
            first, last = guest.use_date_start, min(guest.use_date_end, self.now)
            at = first + timedelta(seconds=round(random.random() * (last - first).total_seconds()))
        if walker.keys and (draw < 0.15 or not walker.doors):
            return self._key(walker, at)
        if walker.closed_doors and (draw < 0.2 or not walker.doors):
            door, reason = random.choice(walker.closed_doors)
            return [(at, Category.WARNING, reason, walker.text, self.devices[door.device_id])]
        if not walker.doors:
            return []
        door = random.choice(walker.doors)
        content = "Exit" if door.in_out == "out" else "Entry"
        return [(at, Category.NORMAL, content, walker.text, self.devices[door.device_id])]

    def _key(self, walker: SimulatedPerson, at: datetime) -> list[Row]:
        box, unit_no = self.random.choice(walker.keys)
        device = _json(device_entry(box, [unit_no]))
        back = min(at + timedelta(minutes=self.random.randint(5, 240)), self.now)
        return [
            (at, Category.NORMAL, KEY_TAKEN, walker.text, device),
            (back, Category.NORMAL, KEY_RETURNED, walker.text, device),
        ]

    def _moment(self) -> datetime:
        """Return a time, mostly in the busy hours of a working day, always before now."""
        ((begin, end),) = self.random.choices(_STRETCHES, cum_weights=_BUSY)
        (day,) = self.random.choices(self.days, cum_weights=self.busy_days)
        at: datetime = day + timedelta(seconds=round(self.random.uniform(begin, end) * 3600))
        return at if at < self.now else at - timedelta(days=7)

    def _walkers(self) -> list[SimulatedPerson]:
        usual = next(
            day for day, weight in zip(reversed(self.days), reversed(self.weights), strict=True) if weight == 1
        )
        members = (
            Member.objects.select_related("group")
            .filter(tenant=self.tenant)
            .order_by(CREATION_ORDER)[:_SIMULATED_PEOPLE]
        )
        found = [Person(row, "card", row.card_data) for row in members if row.card_data]
        come = [guest for guest in self.guests if guest.use_date_start <= self.now]
        found += [Person(row, "qr", row.qr_data) for row in come[:_SIMULATED_PEOPLE]]
        return [self._walker(person, usual + timedelta(hours=10)) for person in found]

    def _walker(self, person: Person, at: datetime) -> SimulatedPerson:
        # A guest's visit may not include this day.
        period = person.period if isinstance(person.row, Member) else (None, None)

        def decide(place: AreaPlace | KeyPlace) -> Any:
            return decide_place(person.rights(place), place, at, self.holidays, use_period=period)

        areas = {door.area.area_id: decide(AreaPlace(door.area.area_id)) for door in self.doors}
        return SimulatedPerson(
            person,
            _json(person.record_entry()),
            [door for door in self.doors if areas[door.area.area_id].allowed],
            [
                (door, explain_decision(areas[door.area.area_id]))
                for door in self.doors
                if not areas[door.area.area_id].allowed
            ],
            [
                (box, unit["unit_no"])
                for box in self.boxes
                for unit in box.units
                if not unit["restriction"] and decide(KeyPlace(box.key_device_id, unit["unit_no"])).allowed
            ],
        )


def _days(holidays: Holidays, now: datetime) -> tuple[list[datetime], list[float]]:
    """Return the days of the last month, and the activity on each."""
    today = now.replace(hour=0, minute=0, second=0)
    days = [today - timedelta(days=number) for number in range(_DAYS, -1, -1)]
    return days, [_OFF_DAY if day.weekday() > 4 or holidays.is_holiday(day.date()) else 1 for day in days]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
