from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("reviews", "0001_tables")]

    operations = [
        migrations.AddField("item", "granted", models.JSONField(default=list)),
        migrations.AddField("item", "barred", models.JSONField(default=dict)),
        migrations.AddField("item", "is_barred", models.BooleanField(default=False)),
        migrations.RemoveIndex("item", "reviews_item_counted"),
        migrations.AddIndex(
            "item",
            models.Index(
                fields=["review", "reviewer", "area_id", "is_open", "is_barred", "decision", "standing", "applied"],
                name="reviews_item_counted",
            ),
        ),
    ]
