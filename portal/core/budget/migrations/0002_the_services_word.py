from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("budget", "0001_initial"),
    ]

    operations = [
        migrations.RemoveField("gauge", "limit_seen_at"),
        migrations.AddField("gauge", "taken", models.BigIntegerField(default=0)),
        migrations.AddField("gauge", "heard", models.BigIntegerField(default=0)),
        migrations.AddField("gauge", "heard_used", models.PositiveIntegerField(default=0)),
        migrations.AddField("gauge", "others", models.PositiveIntegerField(default=0)),
        migrations.AddField("gauge", "others_until", models.DateTimeField(null=True)),
        migrations.AddField("gauge", "reset_at", models.DateTimeField(null=True)),
        migrations.AddField("gauge", "limited_at", models.BigIntegerField(null=True)),
        migrations.AddField("gauge", "guessed", models.BooleanField(default=False)),
        migrations.AddField("gauge", "tried_at", models.DateTimeField(null=True)),
        migrations.AddField("gauge", "doubted_until", models.DateTimeField(null=True)),
        # What was spent within this hour is forgotten at most once: the service's headers tell it again.
        migrations.AddField("spent", "counted", models.PositiveIntegerField(default=0), preserve_default=False),
    ]
