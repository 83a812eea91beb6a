from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("service", "0002_world"),
    ]

    operations = [
        migrations.AddField(
            model_name="keyuse",
            name="is_replaced",
            field=models.BooleanField(default=False),
        ),
    ]
