import django.db.models.deletion
import django.db.models.functions.comparison
import django.db.models.manager
from django.db import migrations, models

import tenants.vault
from tenants.postgresql.row_security import EnableRowSecurity


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("tenants", "0001_tables"),
    ]

    operations = [
        migrations.CreateModel(
            name="KeyBox",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("status", models.JSONField(default=dict)),
                ("status_as_of", models.DateTimeField(null=True)),
                ("extra", models.JSONField(default=dict)),
                ("key_device_id", models.TextField(db_collation="C")),
                ("key_device_name", models.TextField(blank=True, default="")),
                (
                    "name_order",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Func(
                            models.Func(
                                models.Func(
                                    django.db.models.functions.comparison.Coalesce(
                                        django.db.models.functions.comparison.NullIf(
                                            models.F("key_device_name"), models.Value("")
                                        ),
                                        models.F("key_device_id"),
                                    ),
                                    models.Value("０１２３４５６７８９"),
                                    models.Value("0123456789"),
                                    function="translate",
                                ),
                                models.Value("([0-9]+)"),
                                models.Value("0000000000\\1"),
                                models.Value("g"),
                                function="regexp_replace",
                            ),
                            models.Value("[0-9]*([0-9]{10})"),
                            models.Value("\\1"),
                            models.Value("g"),
                            function="regexp_replace",
                        ),
                        output_field=models.TextField(db_collation="C"),
                    ),
                ),
                ("product_type", models.TextField(blank=True, default="")),
                ("number_of_management", models.IntegerField(null=True)),
                ("units", models.JSONField(default=list)),
                ("look_at", models.DateTimeField(null=True)),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("tenant", "key_device_id"), name="places_keybox_once")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Key",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("unit_no", models.TextField(db_collation="C")),
                (
                    "number_order",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Func(
                            models.Func(
                                models.Func(
                                    django.db.models.functions.comparison.Coalesce(
                                        django.db.models.functions.comparison.NullIf(
                                            models.F("unit_no"), models.Value("")
                                        ),
                                        models.F("unit_no"),
                                    ),
                                    models.Value("０１２３４５６７８９"),
                                    models.Value("0123456789"),
                                    function="translate",
                                ),
                                models.Value("([0-9]+)"),
                                models.Value("0000000000\\1"),
                                models.Value("g"),
                                function="regexp_replace",
                            ),
                            models.Value("[0-9]*([0-9]{10})"),
                            models.Value("\\1"),
                            models.Value("g"),
                            function="regexp_replace",
                        ),
                        output_field=models.TextField(db_collation="C"),
                    ),
                ),
                ("unit_name", models.TextField(blank=True, default="")),
                ("restriction", models.BooleanField(null=True)),
                (
                    "state",
                    models.CharField(
                        blank=True,
                        choices=[("out", "Out"), ("", "Unknown"), ("in", "In the box")],
                        default="",
                        max_length=3,
                    ),
                ),
                ("since", models.DateTimeField(null=True)),
                ("differs", models.BooleanField(default=False)),
                ("known_at", models.DateTimeField(null=True)),
                ("holder_id", models.TextField(blank=True, db_collation="C", default="")),
                ("holder_name", models.TextField(blank=True, default="")),
                (
                    "read_state",
                    models.CharField(
                        blank=True,
                        choices=[("out", "Out"), ("", "Unknown"), ("in", "In the box")],
                        default="",
                        max_length=3,
                    ),
                ),
                ("read_since", models.DateTimeField(null=True)),
                ("read_saw_change", models.BooleanField(db_default=False, default=False)),
                ("read_at", models.DateTimeField(null=True)),
                ("lock", models.CharField(blank=True, default="", max_length=8)),
                ("wrong", models.BooleanField(db_default=False, default=False)),
                ("raw", models.JSONField(default=dict)),
                (
                    "record_state",
                    models.CharField(
                        blank=True,
                        choices=[("out", "Out"), ("", "Unknown"), ("in", "In the box")],
                        default="",
                        max_length=3,
                    ),
                ),
                ("record_at", models.DateTimeField(null=True)),
                ("record_received_at", models.DateTimeField(null=True)),
                ("record_id", models.TextField(blank=True, db_collation="C", default="")),
                ("person_id", models.TextField(blank=True, db_collation="C", default="")),
                ("person_name", models.TextField(blank=True, default="")),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
                (
                    "key_box",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="keys", to="places.keybox"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "out")), fields=["tenant", "since"], name="places_key_out"
                    ),
                    models.Index(condition=models.Q(("wrong", True)), fields=["tenant"], name="places_key_wrong"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("tenant", "key_box", "unit_no"), name="places_key_once")
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="PassController",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("status", models.JSONField(default=dict)),
                ("status_as_of", models.DateTimeField(null=True)),
                ("extra", models.JSONField(default=dict)),
                ("device_id", models.TextField(db_collation="C")),
                ("device_name", models.TextField(blank=True, default="")),
                (
                    "name_order",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Func(
                            models.Func(
                                models.Func(
                                    django.db.models.functions.comparison.Coalesce(
                                        django.db.models.functions.comparison.NullIf(
                                            models.F("device_name"), models.Value("")
                                        ),
                                        models.F("device_id"),
                                    ),
                                    models.Value("０１２３４５６７８９"),
                                    models.Value("0123456789"),
                                    function="translate",
                                ),
                                models.Value("([0-9]+)"),
                                models.Value("0000000000\\1"),
                                models.Value("g"),
                                function="regexp_replace",
                            ),
                            models.Value("[0-9]*([0-9]{10})"),
                            models.Value("\\1"),
                            models.Value("g"),
                            function="regexp_replace",
                        ),
                        output_field=models.TextField(db_collation="C"),
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("forced_open", "Forced Open"),
                            ("left_open", "Left Open"),
                            ("held_open", "Held Open"),
                            ("held", "Held"),
                            ("offline", "Offline"),
                            ("open", "Open"),
                            ("unlocked", "Unlocked"),
                            ("passing", "Passing"),
                            ("locked", "Locked"),
                            ("", "Unknown"),
                        ],
                        db_default="",
                        default="",
                        max_length=12,
                    ),
                ),
                ("state_since", models.DateTimeField(null=True)),
                ("is_since_seen", models.BooleanField(db_default=False, default=False)),
                ("attention", models.BooleanField(db_default=False, default=False)),
                ("events", models.JSONField(db_default={}, default=dict)),
                ("known_at", models.DateTimeField(null=True)),
                ("look_at", models.DateTimeField(null=True)),
                ("urgent", models.BooleanField(db_default=False, default=False)),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("urgent", True), ("state", "passing"), _connector="OR"),
                        fields=["look_at"],
                        name="places_passcontroller_soon",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("tenant", "device_id"), name="places_passcontroller_once")
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="TenantRecord",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tenant_name", models.TextField(blank=True, default="")),
                ("holiday", models.JSONField(default=dict)),
                ("webhook", tenants.vault.EncryptedJSON(null=True)),
                ("has_webhook_secret", models.BooleanField(null=True)),
                ("extra", models.JSONField(default=dict)),
                ("read_at", models.DateTimeField()),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("tenant",), name="places_tenantrecord_once")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Area",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("area_id", models.TextField(db_collation="C")),
                ("area_name", models.TextField()),
                (
                    "name_order",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Func(
                            models.Func(
                                models.Func(
                                    django.db.models.functions.comparison.Coalesce(
                                        django.db.models.functions.comparison.NullIf(
                                            models.F("area_name"), models.Value("")
                                        ),
                                        models.F("area_id"),
                                    ),
                                    models.Value("０１２３４５６７８９"),
                                    models.Value("0123456789"),
                                    function="translate",
                                ),
                                models.Value("([0-9]+)"),
                                models.Value("0000000000\\1"),
                                models.Value("g"),
                                function="regexp_replace",
                            ),
                            models.Value("[0-9]*([0-9]{10})"),
                            models.Value("\\1"),
                            models.Value("g"),
                            function="regexp_replace",
                        ),
                        output_field=models.TextField(db_collation="C"),
                    ),
                ),
                ("is_outside", models.BooleanField(null=True)),
                ("is_management", models.BooleanField(null=True)),
                ("devices_list", models.JSONField(default=list)),
                ("extra", models.JSONField(default=dict)),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("tenant", "area_id"), name="places_area_once")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        EnableRowSecurity("places_area"),
        EnableRowSecurity("places_tenantrecord"),
        EnableRowSecurity("places_passcontroller"),
        EnableRowSecurity("places_keybox"),
        EnableRowSecurity("places_key"),
    ]
