"""One state of each door, folded from readings, the log and commands. Every door is read again before it has one."""

from django.db import migrations, models

from portal.core.mirror.models import DoorState


class Migration(migrations.Migration):
    dependencies = [("mirror", "0007_last_seen_and_shared_cards")]

    operations = [
        migrations.AddField(
            "passcontroller",
            "state",
            models.CharField(blank=True, choices=DoorState.choices, db_default="", default="", max_length=12),
        ),
        migrations.AddField("passcontroller", "state_since", models.DateTimeField(null=True)),
        migrations.AddField("passcontroller", "attention", models.BooleanField(db_default=False, default=False)),
        migrations.AddField("passcontroller", "told", models.JSONField(db_default={}, default=dict)),
        migrations.AddField("passcontroller", "known_at", models.DateTimeField(null=True)),
        migrations.AddField("passcontroller", "look_at", models.DateTimeField(null=True)),
        migrations.AddField("passcontroller", "urgent", models.BooleanField(db_default=False, default=False)),
    ]
