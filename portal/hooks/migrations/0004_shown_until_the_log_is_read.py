from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("hooks", "0003_readings_are_earned")]

    operations = [
        migrations.AddField("webhook", "looked_at", models.DateTimeField(null=True)),
        migrations.AlterField(
            "notification",
            "state",
            models.CharField(
                choices=[("waiting", "Waiting"), ("shown", "Shown"), ("read", "Read"), ("kept", "Kept")],
                default="waiting",
                max_length=10,
            ),
        ),
    ]
