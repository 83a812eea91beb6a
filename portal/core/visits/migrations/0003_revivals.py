import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("guests", "0002_presence"),
        ("intents", "0004_image_bodies"),
    ]

    operations = [
        migrations.AddField(
            model_name="visit",
            name="revive_intent",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="intents.intent"
            ),
        ),
    ]
