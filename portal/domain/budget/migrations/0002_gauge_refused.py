from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("budget", "0001_tables"),
    ]

    operations = [
        migrations.AddField(
            model_name="gauge",
            name="refused",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
    ]
