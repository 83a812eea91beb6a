from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0003_memory_and_addresses"),
    ]

    operations = [
        migrations.AddField("connection", "refusals", models.JSONField(blank=True, default=list)),
        migrations.AddField("connection", "limits_learned", models.JSONField(blank=True, default=dict)),
    ]
