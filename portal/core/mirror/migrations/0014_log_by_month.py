"""The log by month, and what it is found by.

PostgreSQL cannot turn a table into a partitioned one: a new one takes its place, with the records of the old.
"""

from typing import Any

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
from django.db import migrations, models

from portal.core.mirror import log, months
from tenants.rls import bind
from tenants.scope import across_tenants

_AT_ONCE = 5_000
_COLUMNS = (
    "id, tenant_id, history_id, at, status, category, content, member_id, member_name, member_type, member_label,"
    " member_attribute, device_id, device_name, device_module, units, extra"
)
_MADE = """
ALTER TABLE mirror_history RENAME TO mirror_history_before;
CREATE SEQUENCE mirror_history_number AS bigint;
CREATE TABLE mirror_history (
    id bigint NOT NULL DEFAULT nextval('mirror_history_number'),
    tenant_id bigint NOT NULL REFERENCES tenants_tenant (id) DEFERRABLE INITIALLY DEFERRED,
    history_id text COLLATE "C" NOT NULL,
    at timestamptz NOT NULL,
    status text NOT NULL,
    category text NOT NULL,
    content text NOT NULL,
    member_id text COLLATE "C" NOT NULL,
    member_name text NOT NULL,
    member_type text NOT NULL,
    member_label text NOT NULL,
    member_attribute text NOT NULL,
    device_id text COLLATE "C" NOT NULL,
    device_name text NOT NULL,
    device_module text NOT NULL,
    units jsonb NOT NULL,
    extra jsonb NOT NULL,
    said_key text COLLATE "C" NOT NULL DEFAULT '',
    notified boolean NOT NULL DEFAULT false,
    CONSTRAINT mirror_history_key PRIMARY KEY (id, at),
    CONSTRAINT mirror_history_once_a_moment UNIQUE (tenant_id, history_id, at)
) PARTITION BY RANGE (at);
CREATE TABLE mirror_history_default PARTITION OF mirror_history DEFAULT;
CREATE TABLE mirror_historysearch (
    id bigint NOT NULL,
    tenant_id bigint NOT NULL,
    at timestamptz NOT NULL,
    pieces integer[] NOT NULL
) PARTITION BY RANGE (at);
CREATE TABLE mirror_historysearch_default PARTITION OF mirror_historysearch DEFAULT;
"""
_INDEXED = """
DROP TABLE mirror_history_before;
ALTER SEQUENCE mirror_history_number OWNED BY mirror_history.id;
CREATE INDEX mirror_history_newest ON mirror_history (tenant_id, at DESC, id DESC);
CREATE INDEX mirror_history_of_member ON mirror_history (tenant_id, member_id, at DESC) WHERE NOT member_id = '';
CREATE INDEX mirror_history_of_device ON mirror_history (tenant_id, device_id, at DESC) WHERE NOT device_id = '';
CREATE INDEX mirror_history_notified ON mirror_history (tenant_id) WHERE notified;
CREATE INDEX mirror_historysearch_newest ON mirror_historysearch (tenant_id, at DESC, id DESC);
CREATE INDEX mirror_historysearch_pieces ON mirror_historysearch USING gin (pieces) WITH (gin_pending_list_limit = 1024);
"""


def by_month(apps: Any, schema_editor: Any) -> None:
    with across_tenants("the log of every tenant moves into its months"), schema_editor.connection.cursor() as cursor:
        cursor.execute(_MADE)
        bind(cursor, "mirror_history")
        bind(cursor, "mirror_history_default")
        cursor.execute("SELECT DISTINCT date_trunc('day', at) FROM mirror_history_before")
        months.ensure(day for (day,) in cursor.fetchall())
        cursor.execute(f"INSERT INTO mirror_history ({_COLUMNS}) SELECT {_COLUMNS} FROM mirror_history_before")  # noqa: S608 - ours
        cursor.execute("SELECT setval('mirror_history_number', coalesce(max(id), 0) + 1, false) FROM mirror_history")
        _describe(cursor)
        # Rows just written wait for their foreign keys to be checked, and nothing can be altered meanwhile.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        cursor.execute(_INDEXED)


def _describe(cursor: Any) -> None:
    """What each record is found by, some at a time."""
    names = log.DESCRIBED
    last = 0
    while True:
        cursor.execute(
            f"SELECT id, tenant_id, at, {', '.join(names)} FROM mirror_history WHERE id > %s ORDER BY id LIMIT %s",  # noqa: S608 - ours
            [last, _AT_ONCE],
        )
        found = cursor.fetchall()
        if not found:
            return
        last = found[-1][0]
        written = []
        for key, tenant_id, at, *values in found:
            said = dict(zip(names, values, strict=True))
            written.append((key, tenant_id, at, *log.described(tenant_id, said)))
        log.write_descriptions(cursor, written)


class Migration(migrations.Migration):
    dependencies = [("mirror", "0013_words_outside_of_tables")]

    operations = [
        migrations.AddField("mirrorstate", "every", models.PositiveIntegerField(null=True)),
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(by_month, elidable=False)],
            state_operations=[
                migrations.RemoveConstraint("history", "mirror_history_once"),
                migrations.AddField(
                    "history", "said_key", models.TextField(blank=True, db_collation="C", db_default="", default="")
                ),
                migrations.AddField("history", "notified", models.BooleanField(db_default=False, default=False)),
                migrations.AddConstraint(
                    "history",
                    models.UniqueConstraint(fields=("tenant", "history_id", "at"), name="mirror_history_once_a_moment"),
                ),
                migrations.AddIndex(
                    "history",
                    models.Index(
                        condition=models.Q(("notified", True)), fields=["tenant"], name="mirror_history_notified"
                    ),
                ),
                migrations.CreateModel(
                    name="HistorySearch",
                    fields=[
                        ("id", models.BigIntegerField(primary_key=True, serialize=False)),
                        ("at", models.DateTimeField()),
                        (
                            "pieces",
                            django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), size=None),
                        ),
                        (
                            "tenant",
                            models.ForeignKey(
                                db_constraint=False,
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                to="tenants.tenant",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["tenant", "-at", "-id"], name="mirror_historysearch_newest"),
                            django.contrib.postgres.indexes.GinIndex(
                                fields=["pieces"], gin_pending_list_limit=1024, name="mirror_historysearch_pieces"
                            ),
                        ],
                    },
                ),
            ],
        ),
    ]
