from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("intents", "0015_permission_of_the_intercom")]

    operations = [
        migrations.AlterField("intent", "permission", models.CharField(max_length=40)),
        migrations.AlterField("intent", "priority", models.SmallIntegerField()),
    ]
