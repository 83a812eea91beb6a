from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("hooks", "0001_tables")]

    operations = [
        migrations.AddField("webhook", "names_no_record", models.BooleanField(default=False, db_default=False)),
    ]
