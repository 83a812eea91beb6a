import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("reviews", "0002_conflicts"),
        ("storage", "0001_stored_files"),
    ]

    operations = [
        migrations.AlterField(
            model_name="review",
            name="file",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="storage.storedfile"
            ),
        ),
    ]
