import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0002_row_security"),
        ("mirror", "0005_new_kinds_are_due"),
    ]

    operations = [
        migrations.AlterField(
            model_name="history",
            name="tenant",
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant"),
        ),
    ]
