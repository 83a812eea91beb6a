from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("reviews", "0001_access_reviews")]

    operations = [
        migrations.AlterField(
            model_name="item",
            name="standing",
            field=models.CharField(
                blank=True,
                choices=[
                    ("", "Unchanged"),
                    ("changed", "Changed since the review began"),
                    ("none", "No longer has this right"),
                    ("left", "No longer in the members list"),
                    ("unread", "Right not loaded"),
                ],
                default="",
                max_length=8,
            ),
        ),
        migrations.AlterField(
            model_name="item",
            name="use",
            field=models.CharField(
                choices=[
                    ("area", "At this area’s doors"),
                    ("never", "None in the log"),
                    ("far", "Longer ago at this area’s doors"),
                ],
                max_length=8,
            ),
        ),
    ]
