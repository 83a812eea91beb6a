"""A log of any length, written by SQL into the months of a year. Many records share one prepared text."""

import contextlib
import itertools
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import psycopg

from bench.ground import Ground
from portal.base.timers.clock import database_now
from portal.domain.events import MirrorKind
from portal.domain.history import partitions, search
from portal.domain.people.models import Member
from portal.domain.people.text_folding import fold
from portal.domain.places.models import Area, PassController
from portal.domain.sync.models import MirrorState
from tenants.models import Tenant
from tenants.scope import tenant_scope

DOORS, MONTHS, SHAPES = 200, 12, 20_000
#: A person with as many records as most others.
PERSON = "p000007"
#: Rare matches: a person who came to one door only, and a word that occurs there. They are as many in a small log as
#: in a large one, so that both searches find the same number of records.
RARE = 250
RARE_DOOR, RARE_PERSON, RARE_WORD, FREQUENT_WORD = "d007", "rare", "水没", "入室"
AREA, AREA_DOORS = "log", tuple(f"d{number:03}" for number in range(20, 40))
_SAID = {
    "normal": "カードで入室しました", "operation": "遠隔操作で解錠しました",
    "suspicious": "未登録のカードで入室しようとしました",
    "warning": "時間外のため拒否しました", "error": "扉が開いたままです", "emergency": "こじ開けられました",
}  # fmt: skip
_WEIGHTS = (90, 5, 1, 2, 1, 1)
_COLUMNS = ("status", "category", "content", "member_id", "member_name", "device_id", "device_name", "text_key")


@dataclass(frozen=True)
class Part:
    """A month's two tables, detached while they are filled, so that their indexes are built once at the end."""

    month: str
    bounds: str

    def name(self, table: str) -> str:
        return f"{table}_{self.month}"


def lay(ground: Ground, counts: dict[int, int]) -> None:
    """Give each tenant (by its key) so many records, spread evenly over the last twelve months."""
    now = database_now()
    first = min(now, *(now - timedelta(days=30 * number) for number in range(MONTHS)))
    moments = [first + timedelta(days=number) for number in range((now - first).days + 1)]
    partitions.ensure_partitions(moments)
    with psycopg.connect(ground.house.owner_url, autocommit=True) as direct:
        direct.execute("SET portal.across = 'on'")
        direct.execute(_SHAPE)
        for tenant_id in counts:
            with tenant_scope(Tenant.objects.select_related("environment").get(pk=tenant_id)):
                _shape(direct, tenant_id, SHAPES if counts[tenant_id] > 10_000 else 200)
        direct.execute("ANALYZE bench_shape")
        with detached(direct) as parts, ThreadPoolExecutor(2) as threads:
            spans = [_span(part, first, now) for part in parts]
            duration = (now - first).total_seconds()
            ids = itertools.count(1_000_000, 10 * sum(counts.values()))
            work = [
                (ground.house.owner_url, part, span, counts, (span[1] - span[0]).total_seconds() / duration, next(ids))
                for part, span in zip(parts, spans, strict=True)
            ]
            list(threads.map(lambda each: _fill(*each), work))
        direct.execute("SELECT setval('history_history_number', (SELECT max(id) + 1 FROM history_history))")
        for table in partitions.TABLES:
            direct.execute(f"VACUUM ANALYZE {table}")


@contextlib.contextmanager
def detached(direct: psycopg.Connection[Any]) -> Iterator[list[Part]]:
    """Detach the months from the log without their indexes, and attach them again with new ones."""
    found = direct.execute(_PARTS).fetchall()
    parts = [Part(name[-7:], bounds) for name, bounds in found]
    for part, table in itertools.product(parts, partitions.TABLES):
        direct.execute(f"ALTER TABLE {table} DETACH PARTITION {part.name(table)}")
        for index, constraint in direct.execute(_INDEXES, [part.name(table)]).fetchall():
            gone = (
                f"ALTER TABLE {part.name(table)} DROP CONSTRAINT {constraint}" if constraint else f"DROP INDEX {index}"
            )
            direct.execute(gone)
    yield parts
    direct.execute("SET maintenance_work_mem = '400MB'")
    for part, table in itertools.product(parts, partitions.TABLES):
        direct.execute(f"ALTER TABLE {table} ATTACH PARTITION {part.name(table)} {part.bounds}")


def know(tenant: Tenant) -> None:
    """Mark the log as complete, and create its doors, an area with some of them, and a person."""
    with tenant_scope(tenant):
        PassController.objects.bulk_create(
            PassController(device_id=f"d{number:03}", device_name=_door(number)) for number in range(DOORS)
        )
        Member.objects.create(member_id=PERSON, member_name="佐藤 翔太 7", name_key=fold("佐藤 翔太 7"))
        doors = [{"device_id": door, "in_out": "in"} for door in AREA_DOORS]
        Area.objects.create(area_id=AREA, area_name="Log", devices_list=doors)
        MirrorState.objects.filter(kind=MirrorKind.HISTORIES).update(as_of=database_now())


def _span(part: Part, first: datetime, now: datetime) -> tuple[datetime, datetime]:
    since, until = (datetime.fromisoformat(text) for text in part.bounds.split("'")[1:4:2])
    return max(since, first), max(min(until, now), max(since, first))


def _fill(
    url: str, part: Part, span: tuple[datetime, datetime], counts: dict[int, int], share: float, base: int
) -> None:
    with psycopg.connect(url, autocommit=True) as direct:
        direct.execute("SET portal.across = 'on'")
        for tenant_id, count in counts.items():
            values = {"tenant": tenant_id, "count": max(1, round(count * share)), "base": base, "since": span[0],
                      "until": span[1], "every": max(2, count // RARE)}  # fmt: skip
            direct.execute(_RECORDS.format(part=part.name("history_history")), values)
            direct.execute(_SEARCHED.format(part=part.name("history_historysearch")), values)
            base += count + 1


def _shape(direct: psycopg.Connection[Any], tenant_id: int, count: int) -> None:
    """Write the texts of `count` kinds of records, each with its search key."""
    chance = random.Random(tenant_id)
    with direct.cursor().copy(f"COPY bench_shape (tenant_id, k, pieces, {', '.join(_COLUMNS)}) FROM STDIN") as copy:
        for number in range(count):
            record = _rare() if number == 0 else _record(chance)
            text, pieces = search.search_entry_of(tenant_id, record)
            values = {**record, "text_key": text}
            copy.write_row([tenant_id, number, pieces, *(values[name] for name in _COLUMNS)])


def _record(chance: random.Random) -> dict[str, Any]:
    category = chance.choices(list(_SAID), _WEIGHTS)[0]
    person, door = chance.randrange(2_000), chance.randrange(DOORS)
    return {
        "status": "occur", "category": category, "content": _SAID[category], "member_id": f"p{person:06}",
        "member_name": f"佐藤 翔太 {person}", "member_label": "", "member_attribute": "", "device_id": f"d{door:03}",
        "device_name": _door(door), "units": [], "notified": False,
    }  # fmt: skip


def _rare() -> dict[str, Any]:
    values = {
        "category": "warning",
        "content": f"{RARE_WORD}を検知しました",
        "member_id": RARE_PERSON,
        "member_name": "稀 一人",
    }
    return _record(random.Random(0)) | values | {"device_id": RARE_DOOR, "device_name": _door(7)}


def _door(number: int) -> str:
    return f"{number // 10 + 1} 階 会議室 {number % 10}"


_SHAPE = """
CREATE UNLOGGED TABLE bench_shape (tenant_id bigint, k int, pieces int4[], status text, category text, content text,
    member_id text, member_name text, device_id text, device_name text, text_key text, PRIMARY KEY (tenant_id, k))
"""
_PARTS = """
SELECT c.relname, pg_get_expr(c.relpartbound, c.oid) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = 'history_history'::regclass AND c.relname ~ '_[0-9]{4}_[0-9]{2}$' ORDER BY 1
"""
_INDEXES = """
SELECT i.indexrelid::regclass::text, k.conname FROM pg_index i LEFT JOIN pg_constraint k ON k.conindid = i.indexrelid
WHERE i.indrelid = %s::regclass
"""
_ROWS = """
FROM generate_series(1, %(count)s) n
JOIN bench_shape s ON s.tenant_id = %(tenant)s AND s.k = CASE WHEN (%(base)s + n) %% %(every)s = 0 THEN 0
    ELSE 1 + (hashint8(%(base)s + n) & 2147483647)
        %% (SELECT count(*) - 1 FROM bench_shape WHERE tenant_id = %(tenant)s) END
"""
_AT = "%(since)s + (%(until)s - %(since)s) * ((n - 0.5) / %(count)s)"
_RECORDS = (
    f"INSERT INTO {{part}} (id, tenant_id, history_id, at, {', '.join(_COLUMNS)}, member_type, member_label,"
    " member_attribute, device_module, units, extra)"
    f" SELECT %(base)s + n, %(tenant)s, 'h' || (%(base)s + n), {_AT}, {', '.join(f's.{each}' for each in _COLUMNS)},"
    " 'member', '', '', 'pass', '[]', '{{}}'" + _ROWS
)
_SEARCHED = f"INSERT INTO {{part}} (id, tenant_id, at, pieces) SELECT %(base)s + n, %(tenant)s, {_AT}, s.pieces" + _ROWS
