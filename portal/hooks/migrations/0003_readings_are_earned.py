from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("hooks", "0002_how_well_it_is_heard")]

    operations = [
        migrations.AddField("webhook", "owed", models.PositiveIntegerField(db_default=0, default=0)),
    ]
