from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("tenants", "0003_account_events")]

    operations = [
        migrations.RunSQL(
            "CREATE TRIGGER append_only_as_a_whole BEFORE TRUNCATE ON tenants_auditentry"
            " FOR EACH STATEMENT EXECUTE FUNCTION tenants_trail_is_append_only()",
            "DROP TRIGGER append_only_as_a_whole ON tenants_auditentry",
        )
    ]
