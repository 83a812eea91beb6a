"""How often reading a row's member has failed."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("bulk", "0001_initial")]

    operations = [
        migrations.AddField("row", "faults", models.PositiveSmallIntegerField(db_default=0)),
    ]
