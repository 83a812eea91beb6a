"""Choose the paper of the desk's label printer."""

from django.db import migrations, models

_CHOICES = [
    ("58", "58 mm roll"),
    ("62", "62 mm roll"),
    ("80", "80 mm roll"),
    ("102", "102 mm roll"),
    ("54x101", "54 × 101 mm die-cut labels"),
    ("62x100", "62 × 100 mm die-cut labels"),
    ("102x152", "102 × 152 mm die-cut labels"),
]


class Migration(migrations.Migration):
    dependencies = [("visits", "0001_tables")]

    operations = [
        migrations.AddField(
            model_name="desksettings",
            name="slip_paper",
            field=models.CharField(choices=_CHOICES, db_default="80", default="80", max_length=10),
        ),
    ]
