from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0002_row_security"),
    ]

    operations = [
        migrations.CreateModel(
            name="Kept",
            fields=[
                ("key", models.CharField(max_length=250, primary_key=True, serialize=False)),
                ("value", models.JSONField()),
                ("expires_at", models.DateTimeField(db_index=True)),
            ],
        ),
        # Nothing of it is missed after a crash, and no backup or replica carries it.
        migrations.RunSQL("ALTER TABLE tenants_kept SET UNLOGGED", "ALTER TABLE tenants_kept SET LOGGED"),
        migrations.AddField(
            model_name="auditentry",
            name="address",
            field=models.GenericIPAddressField(null=True),
        ),
    ]
