from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0004_nobody_empties_the_trail"),
    ]

    operations = [
        # An unlogged table is empty after a crash and on a promoted standby: wrong passwords would be counted anew, and
        # a one-time code could be used again.
        migrations.RunSQL("ALTER TABLE tenants_kept SET LOGGED", "ALTER TABLE tenants_kept SET UNLOGGED"),
    ]
