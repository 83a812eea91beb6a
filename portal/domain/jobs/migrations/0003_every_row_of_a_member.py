from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("bulk", "0002_restored"),
    ]

    operations = [
        migrations.RemoveIndex(model_name="row", name="bulk_row_of_member"),
        migrations.AddIndex(
            model_name="row",
            index=models.Index(fields=["tenant", "member_id", "-id"], name="bulk_row_of_member"),
        ),
    ]
