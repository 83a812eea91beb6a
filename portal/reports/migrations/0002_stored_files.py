import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("reports", "0001_tables"),
        ("storage", "0001_stored_files"),
    ]

    operations = [
        migrations.AlterField(
            model_name="report",
            name="book",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="storage.storedfile"
            ),
        ),
        migrations.AlterField(
            model_name="report",
            name="file",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="storage.storedfile"
            ),
        ),
        migrations.AlterField(
            model_name="report",
            name="pdf",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="storage.storedfile"
            ),
        ),
    ]
