"""The videos of records of the log that somebody asked for, and cameras by when they were looked at."""

import django.db.models.deletion
import django.db.models.manager
from django.db import migrations, models

import tenants.vault
from tenants.rls import EnableRowSecurity


class Migration(migrations.Migration):
    dependencies = [
        ("cameras", "0001_cameras_and_their_pictures"),
        ("tenants", "0007_webhooks_have_a_place_of_their_own"),
    ]

    operations = [
        migrations.CreateModel(
            name="Clip",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("history_id", models.TextField(db_collation="C")),
                ("at", models.DateTimeField()),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "Waiting"), ("ready", "Ready"), ("never", "Never"), ("failed", "Failed")],
                        default="waiting",
                        max_length=10,
                    ),
                ),
                ("camera_name", models.TextField(blank=True, default="")),
                ("address", tenants.vault.EncryptedText(null=True)),
                ("answered_at", models.DateTimeField(null=True)),
                ("due_at", models.DateTimeField(null=True)),
                ("trouble", models.TextField(blank=True, default="")),
                ("shown", models.PositiveIntegerField(default=0)),
                ("shown_at", models.DateTimeField(null=True)),
            ],
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.AddIndex(
            model_name="camera",
            index=models.Index(fields=["looked_at"], name="cameras_camera_looked_at"),
        ),
        migrations.AddField(
            model_name="clip",
            name="tenant",
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant"),
        ),
        migrations.AddIndex(
            model_name="clip",
            index=models.Index(
                condition=models.Q(("due_at__isnull", False)), fields=["due_at"], name="cameras_clip_due"
            ),
        ),
        migrations.AddConstraint(
            model_name="clip",
            constraint=models.UniqueConstraint(fields=("tenant", "history_id"), name="cameras_clip_once"),
        ),
        EnableRowSecurity("cameras_clip"),
    ]
