import django.db.models.deletion
from django.db import migrations, models

# The database keeps the files of held incidents, wherever their rows are (migration 0002).
KEPT = """
CREATE TRIGGER keep_held BEFORE UPDATE OR DELETE ON storage_storedfile
FOR EACH ROW EXECUTE FUNCTION evidence_keep_held_file();
"""
NOT_KEPT = "DROP TRIGGER keep_held ON storage_storedfile;"


class Migration(migrations.Migration):
    dependencies = [
        ("evidence", "0002_legal_holds"),
        ("reports", "0002_stored_files"),
        ("reviews", "0003_stored_files"),
        ("storage", "0001_stored_files"),
    ]

    operations = [
        migrations.AlterField(
            model_name="export",
            name="file",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="storage.storedfile"
            ),
        ),
        migrations.AlterField(
            model_name="item",
            name="file",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="storage.storedfile"
            ),
        ),
        migrations.DeleteModel(name="StoredFile"),
        migrations.RunSQL(KEPT, NOT_KEPT),
    ]
