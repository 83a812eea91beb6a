from django.db import migrations

from tenants.rls import EnableRowSecurity

TABLES = ("staff", "invitation", "supportsession", "connection", "oauthstate", "auditentry")

# The one change that is let through: the same secrets under another key (tenants.rotation).
APPEND_ONLY = """
CREATE FUNCTION tenants_trail_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND current_setting('portal.rotating', true) = 'on'
        AND to_jsonb(NEW) - 'before' - 'after' = to_jsonb(OLD) - 'before' - 'after'
    THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'the audit trail is only ever added to';
END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON tenants_auditentry
FOR EACH ROW EXECUTE FUNCTION tenants_trail_is_append_only();
"""


class Migration(migrations.Migration):
    dependencies = [("tenants", "0001_initial")]

    operations = [
        *(EnableRowSecurity(f"tenants_{table}") for table in TABLES),
        migrations.RunSQL(
            APPEND_ONLY,
            "DROP TRIGGER append_only ON tenants_auditentry; DROP FUNCTION tenants_trail_is_append_only();",
        ),
    ]
