"""The moment that a notification told, where the log says another."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("mirror", "0016_where_notifications_go"),
    ]

    operations = [
        migrations.AddField("history", "told_at", models.DateTimeField(null=True)),
        migrations.AddIndex(
            "history",
            models.Index(
                condition=models.Q(("told_at__isnull", False)),
                fields=["tenant", "told_at"],
                name="mirror_history_dated_again",
            ),
        ),
    ]
