"""Staged pages name everything they list, and hold only what is new or differs."""

from typing import Any

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
from django.db import migrations, models

from tenants.scope import across_tenants


def read_anew(apps: Any, schema_editor: Any) -> None:
    with across_tenants("pages staged before this release name nobody: their runs begin anew"):
        apps.get_model("mirror", "StagedPage").objects.all().delete()
        apps.get_model("mirror", "SyncRun").objects.filter(state="running").delete()


class Migration(migrations.Migration):
    # What is deleted above must be gone before the table is altered.
    atomic = False
    dependencies = [("mirror", "0009_rights_changes")]

    operations = [
        migrations.RunPython(read_anew, migrations.RunPython.noop),
        migrations.AddField(
            model_name="stagedpage",
            name="listed",
            field=django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None),
        ),
        # Appending to a long pending list and merging it in one go takes half the time; each swap ends by merging it.
        migrations.RunSQL(
            "ALTER INDEX mirror_membersearch_pieces SET (gin_pending_list_limit = 4096)",
            "ALTER INDEX mirror_membersearch_pieces SET (gin_pending_list_limit = 512)",
            state_operations=[
                migrations.RemoveIndex("membersearch", "mirror_membersearch_pieces"),
                migrations.AddIndex(
                    "membersearch",
                    django.contrib.postgres.indexes.GinIndex(
                        fields=["pieces"], gin_pending_list_limit=4096, name="mirror_membersearch_pieces"
                    ),
                ),
            ],
        ),
    ]
