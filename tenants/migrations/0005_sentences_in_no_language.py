from django.db import migrations

from tenants.wording import SaidField


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0004_what_was_refused"),
    ]

    operations = [
        migrations.AlterField("auditentry", "summary", SaidField(blank=True, default="")),
    ]
