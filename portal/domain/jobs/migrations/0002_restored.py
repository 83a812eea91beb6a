from django.db import migrations, models


class Migration(migrations.Migration):
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
    ]
