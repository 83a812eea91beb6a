import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.manager
from django.db import migrations, models

from tenants.postgresql.row_security import EnableRowSecurity

# Django cannot create partitioned tables.
_PARTITIONED_TABLES = """
CREATE SEQUENCE history_history_number AS bigint;
CREATE TABLE history_history (
    id bigint NOT NULL DEFAULT nextval('history_history_number'),
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
    text_key text COLLATE "C" NOT NULL DEFAULT '',
    notified boolean NOT NULL DEFAULT false,
    notified_at timestamptz,
    CONSTRAINT history_history_key PRIMARY KEY (id, at),
    CONSTRAINT history_history_once_a_moment UNIQUE (tenant_id, history_id, at)
) PARTITION BY RANGE (at);
CREATE TABLE history_history_default PARTITION OF history_history DEFAULT;
CREATE TABLE history_historysearch (
    id bigint NOT NULL,
    tenant_id bigint NOT NULL,
    at timestamptz NOT NULL,
    pieces integer[] NOT NULL
) PARTITION BY RANGE (at);
CREATE TABLE history_historysearch_default PARTITION OF history_historysearch DEFAULT;
ALTER SEQUENCE history_history_number OWNED BY history_history.id;
CREATE INDEX history_history_newest ON history_history (tenant_id, at DESC, id DESC);
CREATE INDEX history_history_of_member ON history_history (tenant_id, member_id, at DESC) WHERE NOT member_id = '';
CREATE INDEX history_history_of_device ON history_history (tenant_id, device_id, at DESC) WHERE NOT device_id = '';
CREATE INDEX history_history_notified ON history_history (tenant_id) WHERE notified;
CREATE INDEX history_history_dated_again ON history_history (tenant_id, notified_at) WHERE notified_at IS NOT NULL;
CREATE INDEX history_historysearch_newest ON history_historysearch (tenant_id, at DESC, id DESC);
CREATE INDEX history_historysearch_pieces ON history_historysearch USING gin (pieces) WITH (gin_pending_list_limit = 1024);
"""


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("tenants", "0001_tables"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(_PARTITIONED_TABLES)],
            state_operations=[
                migrations.CreateModel(
                    name="History",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("history_id", models.TextField(db_collation="C")),
                        ("at", models.DateTimeField()),
                        ("status", models.TextField(blank=True, default="")),
                        ("category", models.TextField(blank=True, default="")),
                        ("content", models.TextField(blank=True, default="")),
                        ("member_id", models.TextField(blank=True, db_collation="C", default="")),
                        ("member_name", models.TextField(blank=True, default="")),
                        ("member_type", models.TextField(blank=True, default="")),
                        ("member_label", models.TextField(blank=True, default="")),
                        ("member_attribute", models.TextField(blank=True, default="")),
                        ("device_id", models.TextField(blank=True, db_collation="C", default="")),
                        ("device_name", models.TextField(blank=True, default="")),
                        ("device_module", models.TextField(blank=True, default="")),
                        ("units", models.JSONField(default=list)),
                        ("extra", models.JSONField(default=dict)),
                        ("text_key", models.TextField(blank=True, db_collation="C", db_default="", default="")),
                        ("notified", models.BooleanField(db_default=False, default=False)),
                        ("notified_at", models.DateTimeField(null=True)),
                        (
                            "tenant",
                            models.ForeignKey(
                                db_index=False, on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant"
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["tenant", "-at", "-id"], name="history_history_newest"),
                            models.Index(
                                condition=models.Q(("member_id", ""), _negated=True),
                                fields=["tenant", "member_id", "-at"],
                                name="history_history_of_member",
                            ),
                            models.Index(
                                condition=models.Q(("device_id", ""), _negated=True),
                                fields=["tenant", "device_id", "-at"],
                                name="history_history_of_device",
                            ),
                            models.Index(
                                condition=models.Q(("notified", True)),
                                fields=["tenant"],
                                name="history_history_notified",
                            ),
                            models.Index(
                                condition=models.Q(("notified_at__isnull", False)),
                                fields=["tenant", "notified_at"],
                                name="history_history_dated_again",
                            ),
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("tenant", "history_id", "at"), name="history_history_once_a_moment"
                            )
                        ],
                    },
                    managers=[
                        ("objects", django.db.models.manager.Manager()),
                        ("reachable_objects", django.db.models.manager.Manager()),
                    ],
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
                            models.Index(fields=["tenant", "-at", "-id"], name="history_historysearch_newest"),
                            django.contrib.postgres.indexes.GinIndex(
                                fields=["pieces"], gin_pending_list_limit=1024, name="history_historysearch_pieces"
                            ),
                        ],
                    },
                ),
            ],
        ),
        migrations.CreateModel(
            name="HistoryDay",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField()),
                ("requested_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("read_at", models.DateTimeField(null=True)),
                ("reason", models.CharField(blank=True, default="", max_length=60)),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("tenant", "day"), name="history_historyday_once")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        EnableRowSecurity("history_history"),
        EnableRowSecurity("history_history_default"),
        EnableRowSecurity("history_historyday"),
    ]
