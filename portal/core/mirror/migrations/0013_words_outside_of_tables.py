"""The words of kinds and states stand in the code alone: a new word needs no migration."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("mirror", "0012_plain_words"),
    ]

    operations = [
        migrations.AlterField(
            model_name="mirrorstate",
            name="kind",
            field=models.CharField(max_length=30),
        ),
        migrations.AlterField(
            model_name="syncrun",
            name="kind",
            field=models.CharField(max_length=30),
        ),
        migrations.AlterField(
            model_name="syncrun",
            name="state",
            field=models.CharField(default="running", max_length=10),
        ),
    ]
