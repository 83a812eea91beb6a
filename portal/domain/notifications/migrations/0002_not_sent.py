from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("telling", "0001_tables"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="telling",
            index=models.Index(
                fields=["ended_at"],
                name="telling_not_sent",
                condition=models.Q(("state__in", ["failed", "uncertain"])),
            ),
        ),
    ]
