"""Which cameras are an intercom's."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("cameras", "0002_clips"),
    ]

    operations = [
        migrations.AddField(
            model_name="camera",
            name="is_intercom",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
