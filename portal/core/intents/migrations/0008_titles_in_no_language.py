from django.db import migrations

from tenants.wording import SaidField


class Migration(migrations.Migration):
    dependencies = [
        ("intents", "0007_building_view"),
    ]

    operations = [
        migrations.AlterField("intent", "title", SaidField()),
        migrations.AlterField("intent", "audit_title", SaidField(blank=True, db_default="", default="")),
    ]
