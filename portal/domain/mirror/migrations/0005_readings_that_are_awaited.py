from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("mirror", "0004_what_readings_of_keys_saw")]

    operations = [
        migrations.AddField("mirrorstate", "awaited", models.BooleanField(default=False, db_default=False)),
        migrations.AddField("mirrorstate", "late", models.JSONField(default=list, db_default=[])),
    ]
