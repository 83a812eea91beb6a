from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("mirror", "0003_door_changes"),
    ]

    operations = [
        migrations.AddField(
            model_name="key",
            name="read_saw_change",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="key",
            name="wrong",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddIndex(
            model_name="key",
            index=models.Index(condition=models.Q(("wrong", True)), fields=["tenant"], name="mirror_key_wrong"),
        ),
    ]
