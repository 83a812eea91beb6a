import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Lease",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("holder", models.UUIDField(null=True)),
                ("host", models.TextField(blank=True, default="")),
                ("since", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("identity", models.TextField(blank=True, default="")),
                ("ticked_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.CreateModel(
            name="TimerRun",
            fields=[
                ("name", models.CharField(max_length=60, primary_key=True, serialize=False)),
                ("due_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("place", models.BigIntegerField(default=0)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("done_at", models.DateTimeField(null=True)),
            ],
        ),
    ]
