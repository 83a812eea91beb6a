"""The audit log at any length: its statements with rare filters, compared with those of a short log."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module

import psycopg

from bench.figures import Figure, ms
from bench.ground import Ground, say
from bench.logs import timed
from tenants.audit_log import queries
from tenants.audit_log.queries import AuditFilter
from tenants.models import Tenant

#: Rare entries are as many in a long log as in a short one: both searches find the same number of entries.
RARE = 250
WRITTEN, OLD = 2_000, 100_000
MIGRATION = "tenants.migrations.0002_accounts_and_audit_index"
CASES = (
    ("first page", AuditFilter()),
    ("a frequent result", AuditFilter(result="succeeded")),
    ("a rare result", AuditFilter(result="uncertain")),
    ("a result that nothing had", AuditFilter(result="expired")),
    ("a rare subject", AuditFilter(about="groups")),
    ("a rare person", AuditFilter(person="rare@")),
    ("a rare person's rare result", AuditFilter(person="rare@", result="uncertain")),
    ("support sessions", AuditFilter(support_only=True)),
    ("a rare target", AuditFilter(target="membergroup:rare")),
    ("a kind of target", AuditFilter(target="Area")),
)


def statements(ground: Ground) -> list[Figure]:
    """Measure the statements that find and read a page of entries, compared with those of a short log."""
    large, small = ground.large, ground.small
    assert large is not None and small is not None  # noqa: PT018 - furnish_lists creates them
    sizes = ground.sizes
    say(f"a trail of {sizes.entries:,} entries, one of {sizes.small_entries:,}")
    lay(ground.house.owner_url, {large.pk: sizes.entries, small.pk: sizes.small_entries})
    again = sizes.again("audit", entries=sizes.entries, small_entries=sizes.small_entries)
    figures = []
    for name, audit_filter in CASES:
        ours, few = timed([(large, _page(audit_filter)), (small, _page(audit_filter))], sizes.requests)
        label = f"audit log, {name}, beside {sizes.small_entries:,}"
        figures.append(Figure(label, ms(ours), ms(few), ours / few, ("<=", 1.3), again))
    return [*figures, *_written(ground.house.owner_url, large.pk, again)]


def _written(owner_url: str, tenant_id: int, again: str) -> list[Figure]:
    """Measure what it costs to write an entry, and to file an older entry that was written without filing."""
    times: dict[str, list[float]] = {"ENABLE": [], "DISABLE": []}
    with psycopg.connect(owner_url) as direct:
        direct.execute("SET portal.across = 'on'")
        direct.commit()
        for trigger in ["ENABLE", "DISABLE"] * 5:
            with _undone(direct):
                direct.execute(f"ALTER TABLE tenants_auditentry {trigger} TRIGGER filed")
                times[trigger].append(_seconds(direct, _WRITE.format(count=WRITTEN), tenant_id) / WRITTEN)
        with _undone(direct):
            direct.execute("CREATE TEMP TABLE old ON COMMIT DROP AS SELECT max(id) AS id FROM tenants_auditentry")
            direct.execute("ALTER TABLE tenants_auditentry DISABLE TRIGGER filed")
            direct.execute(_WRITE.format(count=OLD), {"tenant": tenant_id})
            direct.execute("SET CONSTRAINTS ALL IMMEDIATE")
            direct.execute("ALTER TABLE tenants_auditentry ENABLE TRIGGER filed")
            late = import_module(MIGRATION).FILE_OLD.replace(
                "kind_id = 0;", "kind_id = 0 WHERE id > (SELECT id FROM old);"
            )
            filed = _seconds(direct, late) / OLD
    ours, bare = min(times["ENABLE"]), min(times["DISABLE"])
    return [
        Figure("audit log, an entry is written, beside one not filed", _us(ours), _us(bare), ours / bare, None, again),
        Figure(f"audit log, each of {OLD:,} old entries is filed", _us(filed), _us(bare), filed / bare, None, again),
    ]


def _us(seconds: float) -> str:
    return f"{seconds * 1e6:.0f} µs"


@contextmanager
def _undone(direct: psycopg.Connection) -> Iterator[None]:
    try:
        yield
    finally:
        direct.rollback()


def _seconds(direct: psycopg.Connection, statement: str, tenant_id: int | None = None) -> float:
    begun = time.perf_counter()
    direct.execute(statement, None if tenant_id is None else {"tenant": tenant_id})
    return time.perf_counter() - begun


def _page(audit_filter: AuditFilter) -> Callable[[Tenant], object]:
    return lambda _tenant: queries.page(audit_filter)


def lay(owner_url: str, counts: dict[int, int]) -> None:
    """Give each tenant (by its key) so many entries, half of them outcomes, filed as the trigger files them."""
    with psycopg.connect(owner_url, autocommit=True) as direct:
        direct.execute("SET portal.across = 'on'")
        direct.execute("SET maintenance_work_mem = '400MB'")
        indexes = direct.execute(_INDEXES).fetchall()
        for name, _definition in indexes:
            direct.execute(f"DROP INDEX {name}")
        direct.execute("ALTER TABLE tenants_auditentry DISABLE TRIGGER filed")
        for tenant_id, count in counts.items():
            values = {"tenant": tenant_id, "acts": count // 2, "every": max(10, count // 2 // RARE)}
            for statement in (_KINDS, _ENTRIES):
                direct.execute(statement, values)
        direct.execute("ALTER TABLE tenants_auditentry ENABLE TRIGGER filed")
        for _name, definition in indexes:
            direct.execute(definition)
        direct.execute("VACUUM ANALYZE tenants_auditentry")
        direct.execute("ANALYZE tenants_auditkind")


# Half of the entries are requests; every second entry is the outcome of the one before.
_WRITE = """
INSERT INTO tenants_auditentry (tenant_id, at, by_label, action, target, summary, intent_id)
SELECT %(tenant)s, now(), 'person' || n %% 10 || '@example.test',
    'update_member' || CASE n %% 2 WHEN 0 THEN '' ELSE '.succeeded' END, 'member:M' || n, '', 'w' || n / 2
FROM generate_series(2, {count} + 1) n
"""
_INDEXES = """
SELECT i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid) FROM pg_index i
WHERE i.indrelid = 'tenants_auditentry'::regclass AND NOT i.indisunique
"""
# Ten people and four operations. Each rare filter matches one value: a result, an operation or a person.
_PEOPLE = "SELECT 'person' || n || '@example.test' AS who, n FROM generate_series(0, 9) n"
_KINDS = f"""
INSERT INTO tenants_auditkind (tenant_id, action, result, target_kind, names_target, by_label, in_support)
SELECT %(tenant)s, op || CASE result WHEN '' THEN '' ELSE '.' || result END, result, kind, false, who, false
FROM ({_PEOPLE} UNION ALL SELECT 'rare@example.test', 10) p,
    (VALUES ('update_member', 'member'), ('update_guest', 'guest'), ('operate_door', 'pass_controller'),
        ('update_membergroup', 'membergroup')) o (op, kind),
    (VALUES (''), ('succeeded'), ('failed'), ('uncertain')) r (result)
"""
_ENTRIES = """
WITH acts AS MATERIALIZED (
    SELECT n, now() - interval '1 year' * (%(acts)s - n + 1) / %(acts)s AS at,
        nextval('tenants_auditentry_id_seq') AS id,
        CASE n %% %(every)s WHEN 3 THEN 'update_membergroup' ELSE
            (ARRAY['update_member', 'update_guest', 'operate_door'])[1 + n %% 3] END AS op,
        CASE n %% %(every)s WHEN 5 THEN 'rare@example.test' ELSE 'person' || n %% 10 || '@example.test' END AS who,
        CASE WHEN n %% %(every)s = 7 THEN 'uncertain' WHEN n %% 20 = 0 THEN 'failed' ELSE 'succeeded' END AS result
    FROM generate_series(1, %(acts)s) n
), entries AS (
    SELECT id, id AS act_id, at, at AS act_at, op AS action, op, '' AS result, who, n FROM acts
    UNION ALL SELECT nextval('tenants_auditentry_id_seq'), id, at + interval '1 second', at, op || '.' || result, op,
        result, who, n FROM acts
)
INSERT INTO tenants_auditentry
    (id, tenant_id, at, by_label, action, target, summary, intent_id, kind_id, act_at, act_id)
SELECT e.id, k.tenant_id, e.at, e.who, e.action,
    k.target_kind || CASE k.target_kind WHEN 'membergroup' THEN ':rare' ELSE ':M' || e.n %% 20000 END, '',
    'b' || e.n, k.id, e.act_at, e.act_id
FROM entries e JOIN tenants_auditkind k ON k.tenant_id = %(tenant)s AND k.action = e.action AND k.by_label = e.who
"""
