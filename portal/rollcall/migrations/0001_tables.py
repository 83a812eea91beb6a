import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.manager
from django.conf import settings
from django.db import migrations, models

from tenants.postgresql.row_security import EnableRowSecurity


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("tenants", "0001_tables"),
        ("tenants", "__first__"),
    ]

    operations = [
        migrations.CreateModel(
            name="RollCall",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100)),
                ("nonce", models.UUIDField()),
                ("started_at", models.DateTimeField()),
                ("known_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "ended_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "started_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("tenant", "nonce"), name="rollcall_started_once")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="ListedPerson",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.TextField(db_collation="C")),
                ("name", models.CharField(max_length=200)),
                ("belongs", models.TextField(blank=True, default="")),
                ("area", models.TextField(blank=True, default="")),
                ("place", models.TextField(blank=True, default="")),
                ("at", models.DateTimeField(null=True)),
                (
                    "certainty",
                    models.CharField(
                        blank=True, choices=[("entry", "By an entry"), ("likely", "Likely")], default="", max_length=8
                    ),
                ),
                (
                    "how",
                    models.CharField(
                        choices=[
                            ("start", "Believed in at the start"),
                            ("log", "Seen after the start"),
                            ("hand", "Added by hand"),
                        ],
                        max_length=8,
                    ),
                ),
                (
                    "added_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
                (
                    "roll_call",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="listed", to="rollcall.rollcall"
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("roll_call", "key"), name="rollcall_person_once")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Tick",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "status",
                    models.CharField(
                        choices=[("safe", "Safe"), ("missing", "Not found"), ("open", "Not yet")], max_length=8
                    ),
                ),
                ("pressed_at", models.DateTimeField()),
                ("arrived_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("counts_at", models.DateTimeField()),
                ("nonce", models.UUIDField()),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "listed",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="ticks", to="rollcall.listedperson"
                    ),
                ),
                (
                    "roll_call",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="ticks", to="rollcall.rollcall"
                    ),
                ),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "indexes": [models.Index(fields=["roll_call", "counts_at", "id"], name="rollcall_ticks_in_order")],
                "constraints": [models.UniqueConstraint(fields=("tenant", "nonce"), name="rollcall_tick_once")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        EnableRowSecurity("rollcall_rollcall"),
        EnableRowSecurity("rollcall_listedperson"),
        EnableRowSecurity("rollcall_tick"),
    ]
