"""Add devices, webhooks and replaced keys."""

import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.expressions
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [
        ("service", "0002_world"),
        ("service", "0003_replaced_keys"),
    ]

    dependencies = [
        ("service", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Camera",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("camera_id", models.CharField(max_length=64)),
                ("name", models.CharField(max_length=200)),
                ("scene", models.CharField(default="corridor", max_length=20)),
                ("is_connected", models.BooleanField(default=True)),
                ("watched_at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="CameraUse",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("since", models.DateTimeField()),
                ("streamed", models.FloatField(default=0)),
                ("downloaded", models.FloatField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name="Delivery",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("delivery_id", models.CharField(max_length=64, unique=True)),
                ("url", models.TextField()),
                ("body", models.TextField()),
                ("signature", models.CharField(blank=True, max_length=200)),
                ("due_at", models.DateTimeField()),
                ("sent_at", models.DateTimeField(null=True)),
                ("status", models.IntegerField(null=True)),
                ("error", models.CharField(blank=True, max_length=300)),
            ],
        ),
        migrations.CreateModel(
            name="Guest",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("guest_id", models.CharField(max_length=64)),
                ("name", models.CharField(max_length=40)),
                ("email", models.CharField(blank=True, max_length=254)),
                ("use_date_start", models.DateTimeField()),
                ("use_date_end", models.DateTimeField()),
                ("return_grace_period", models.IntegerField(default=0)),
                ("qr_data", models.TextField()),
                ("areas", models.JSONField(default=list)),
                ("keys", models.JSONField(default=list)),
                ("remarks", models.CharField(blank=True, max_length=200)),
                ("is_for_reserve", models.BooleanField(default=False)),
            ],
        ),
        migrations.CreateModel(
            name="History",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("history_id", models.CharField(max_length=64)),
                ("at", models.DateTimeField()),
                ("status", models.CharField(max_length=40)),
                ("category", models.CharField(max_length=40)),
                ("content", models.CharField(max_length=300)),
                ("member", models.JSONField(null=True)),
                ("device", models.JSONField(null=True)),
                ("held_by", models.CharField(blank=True, max_length=64)),
            ],
        ),
        migrations.CreateModel(
            name="InjectedFault",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tenant_id", models.CharField(blank=True, max_length=64)),
                ("operation", models.IntegerField(default=0)),
                ("kind", models.CharField(max_length=30)),
                ("values", models.JSONField(default=dict)),
                ("left", models.IntegerField()),
            ],
        ),
        migrations.CreateModel(
            name="KeyUse",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("unit_no", models.CharField(max_length=2)),
                ("holder", models.JSONField(null=True)),
                ("taken_at", models.DateTimeField()),
                ("due_at", models.DateTimeField(null=True)),
                ("returned_at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="Mail",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField()),
                ("email", models.CharField(max_length=254)),
                ("recipient_id", models.CharField(max_length=64)),
                ("recipient_name", models.CharField(max_length=40)),
                ("qr_data", models.TextField()),
                ("remarks", models.CharField(blank=True, max_length=200)),
            ],
        ),
        migrations.CreateModel(
            name="ProfileImage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("token", models.CharField(max_length=64, unique=True)),
                ("content_type", models.CharField(max_length=60)),
                ("content", models.BinaryField()),
            ],
        ),
        migrations.CreateModel(
            name="TemporaryUse",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("units", models.JSONField(default=list)),
                ("until", models.DateTimeField()),
                ("info", models.CharField(blank=True, max_length=100)),
                ("device_action", models.BooleanField(default=False)),
            ],
        ),
        migrations.AddField(
            model_name="keybox",
            name="guest_keys_enabled",
            field=models.BooleanField(default=True),
        ),
        migrations.AddField(
            model_name="keybox",
            name="temporary_use_enabled",
            field=models.BooleanField(default=True),
        ),
        migrations.AddField(
            model_name="passcontroller",
            name="closes_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="passcontroller",
            name="is_forced",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="passcontroller",
            name="opened_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddIndex(
            model_name="member",
            index=django.contrib.postgres.indexes.HashIndex(fields=["qr_data"], name="service_member_qr"),
        ),
        migrations.AddField(
            model_name="camera",
            name="door",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.SET_NULL, to="service.passcontroller"
            ),
        ),
        migrations.AddField(
            model_name="camera",
            name="tenant",
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="service.tenant"),
        ),
        migrations.AddField(
            model_name="camerause",
            name="tenant",
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="service.tenant"),
        ),
        migrations.AddField(
            model_name="delivery",
            name="tenant",
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="service.tenant"),
        ),
        migrations.AddField(
            model_name="guest",
            name="tenant",
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="service.tenant"),
        ),
        migrations.AddField(
            model_name="history",
            name="tenant",
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to="service.tenant"),
        ),
        migrations.AddField(
            model_name="keyuse",
            name="box",
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="service.keybox"),
        ),
        migrations.AddField(
            model_name="mail",
            name="tenant",
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="service.tenant"),
        ),
        migrations.AddField(
            model_name="profileimage",
            name="member",
            field=models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, to="service.member"),
        ),
        migrations.AddField(
            model_name="temporaryuse",
            name="box",
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="service.keybox"),
        ),
        migrations.AddField(
            model_name="temporaryuse",
            name="member",
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="service.member"),
        ),
        migrations.AddField(
            model_name="temporaryuse",
            name="tenant",
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="service.tenant"),
        ),
        migrations.AddConstraint(
            model_name="camera",
            constraint=models.UniqueConstraint(fields=("tenant", "camera_id"), name="service_camera_id"),
        ),
        migrations.AddConstraint(
            model_name="camerause",
            constraint=models.UniqueConstraint(fields=("tenant", "since"), name="service_camera_use"),
        ),
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(condition=models.Q(("sent_at", None)), fields=["due_at"], name="service_delivery_due"),
        ),
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(fields=["tenant", "id"], name="service_delivery_page"),
        ),
        migrations.AddIndex(
            model_name="guest",
            index=models.Index(fields=["tenant", "id"], name="service_guest_page"),
        ),
        migrations.AddIndex(
            model_name="guest",
            index=models.Index(fields=["tenant", "use_date_end"], name="service_guest_end"),
        ),
        migrations.AddIndex(
            model_name="guest",
            index=django.contrib.postgres.indexes.HashIndex(fields=["qr_data"], name="service_guest_qr"),
        ),
        migrations.AddConstraint(
            model_name="guest",
            constraint=models.UniqueConstraint(fields=("tenant", "guest_id"), name="service_guest_id"),
        ),
        migrations.AddIndex(
            model_name="history",
            index=models.Index(fields=["tenant", "at", "id"], name="service_history_page"),
        ),
        migrations.AddIndex(
            model_name="history",
            index=models.Index(
                condition=models.Q(("held_by", ""), _negated=True),
                fields=["tenant", "held_by"],
                name="service_history_held",
            ),
        ),
        migrations.AddConstraint(
            model_name="history",
            constraint=models.UniqueConstraint(fields=("tenant", "history_id"), name="service_history_id"),
        ),
        migrations.AddIndex(
            model_name="keyuse",
            index=models.Index(condition=models.Q(("returned_at", None)), fields=["due_at"], name="service_key_due"),
        ),
        migrations.AddConstraint(
            model_name="keyuse",
            constraint=models.UniqueConstraint(
                condition=models.Q(("returned_at", None)), fields=("box", "unit_no"), name="service_key_out"
            ),
        ),
        migrations.AddIndex(
            model_name="mail",
            index=models.Index(fields=["tenant", "id"], name="service_mail_page"),
        ),
        migrations.AddIndex(
            model_name="temporaryuse",
            index=models.Index(fields=["member", "until"], name="service_temporary_use"),
        ),
        migrations.AlterField(
            model_name="member",
            name="tenant",
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to="service.tenant"),
        ),
        migrations.AddField(
            model_name="group",
            name="member_count",
            field=models.IntegerField(default=0),
        ),
        migrations.RunSQL(
            "UPDATE service_group SET member_count = "
            "(SELECT count(*) FROM service_member WHERE service_member.group_id = service_group.id)",
            migrations.RunSQL.noop,
        ),
        migrations.RemoveIndex(model_name="member", name="service_member_page"),
        migrations.AddIndex(
            model_name="member",
            index=models.Index(
                models.F("tenant"),
                django.db.models.expressions.CombinedExpression(models.F("id"), "+", models.Value(0)),
                name="service_member_page",
            ),
        ),
        migrations.AddField(
            model_name="tenant",
            name="lived_until",
            field=models.DateTimeField(null=True),
        ),
        # The keys that were out stay out.
        migrations.RunSQL(
            "INSERT INTO service_keyuse (box_id, unit_no, taken_at) "
            "SELECT id, jsonb_array_elements_text(taken_units), now() FROM service_keybox",
            migrations.RunSQL.noop,
        ),
        migrations.RemoveField(model_name="keybox", name="taken_units"),
        migrations.AddField(
            model_name="keyuse",
            name="is_replaced",
            field=models.BooleanField(default=False),
        ),
    ]
