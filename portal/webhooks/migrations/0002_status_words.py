from django.db import migrations, models


class Migration(migrations.Migration):
    """Reword the labels of a webhook's statuses."""

    dependencies = [("webhooks", "0001_tables")]

    operations = [
        migrations.AlterField(
            model_name="webhook",
            name="working",
            field=models.CharField(
                choices=[
                    ("off", "Off"),
                    ("waiting", "On, no notification yet"),
                    ("working", "Working"),
                    ("silent", "Notifications stopped"),
                    ("lossy", "Missing notifications"),
                ],
                default="off",
                max_length=10,
            ),
        ),
    ]
