"""Add the halt of a restored database, and the index of a member's rows."""

from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [
        ("bulk", "0002_restored"),
        ("bulk", "0003_every_row_of_a_member"),
    ]

    dependencies = [
        ("bulk", "0001_tables"),
    ]

    operations = [
        migrations.AlterField(
            model_name="job",
            name="halt",
            field=models.CharField(
                blank=True,
                choices=[
                    ("", ""),
                    ("person", "Stopped by a person."),
                    ("rights", "The person who started it no longer has permission."),
                    (
                        "connection",
                        "The service no longer accepts this connection, or a permission or contract is missing.",
                    ),
                    ("restored", "The portal's data was restored from a backup."),
                    ("unreachable", "The service could not be reached."),
                ],
                default="",
                max_length=12,
            ),
        ),
        migrations.RemoveIndex(model_name="row", name="bulk_row_of_member"),
        migrations.AddIndex(
            model_name="row",
            index=models.Index(fields=["tenant", "member_id", "-id"], name="bulk_row_of_member"),
        ),
    ]
