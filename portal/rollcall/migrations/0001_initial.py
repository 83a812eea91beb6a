import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.manager
from django.conf import settings
from django.db import migrations, models

from tenants.rls import EnableRowSecurity

_MANAGERS = [
    ("objects", django.db.models.manager.Manager()),
    ("reachable_objects", django.db.models.manager.Manager()),
]


def _key() -> models.BigAutoField:
    return models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")


def _tenant() -> models.ForeignKey:
    return models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")


def _person(**more) -> models.ForeignKey:
    return models.ForeignKey(
        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL, **more
    )


def _of(to: str, name: str) -> models.ForeignKey:
    return models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name=name, to=f"rollcall.{to}")


class Migration(migrations.Migration):
    initial = True

    dependencies = [("tenants", "0002_row_security"), migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [
        migrations.CreateModel(
            name="RollCall",
            fields=[
                ("id", _key()),
                ("name", models.CharField(max_length=100)),
                ("nonce", models.UUIDField()),
                ("started_at", models.DateTimeField()),
                ("known_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                ("ended_by", _person(null=True)),
                ("started_by", _person()),
                ("tenant", _tenant()),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("tenant", "nonce"), name="rollcall_started_once")]
            },
            managers=_MANAGERS,
        ),
        migrations.CreateModel(
            name="Listed",
            fields=[
                ("id", _key()),
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
                ("added_by", _person(null=True)),
                ("roll_call", _of("rollcall", "listed")),
                ("tenant", _tenant()),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("roll_call", "key"), name="rollcall_listed_once")]
            },
            managers=_MANAGERS,
        ),
        migrations.CreateModel(
            name="Tick",
            fields=[
                ("id", _key()),
                (
                    "said",
                    models.CharField(
                        choices=[("safe", "Safe"), ("missing", "Not found"), ("open", "Not yet")], max_length=8
                    ),
                ),
                ("pressed_at", models.DateTimeField()),
                ("arrived_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("counts_at", models.DateTimeField()),
                ("nonce", models.UUIDField()),
                ("by", _person()),
                ("listed", _of("listed", "ticks")),
                ("roll_call", _of("rollcall", "ticks")),
                ("tenant", _tenant()),
            ],
            options={
                "indexes": [models.Index(fields=["roll_call", "counts_at", "id"], name="rollcall_ticks_in_order")],
                "constraints": [models.UniqueConstraint(fields=("tenant", "nonce"), name="rollcall_tick_once")],
            },
            managers=_MANAGERS,
        ),
        EnableRowSecurity("rollcall_rollcall"),
        EnableRowSecurity("rollcall_listed"),
        EnableRowSecurity("rollcall_tick"),
    ]
