"""Files of the store are workbooks, too, whose type is longer than those of pictures and video."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evidence", "0001_incidents_and_evidence")]

    operations = [
        migrations.AlterField(
            model_name="storedfile",
            name="content_type",
            field=models.CharField(blank=True, default="", max_length=80),
        ),
    ]
