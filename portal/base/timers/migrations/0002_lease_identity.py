from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("timers", "0001_tables"),
    ]

    operations = [
        migrations.AddField(
            model_name="lease",
            name="identity",
            field=models.TextField(blank=True, default=""),
        ),
    ]
