from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("intents", "0004_image_bodies")]

    operations = [
        migrations.AddField(
            model_name="intent",
            name="audit_title",
            field=models.CharField(blank=True, db_default="", default="", max_length=300),
        ),
    ]
