"""Forbid changes of the audit log, and index its entries."""

from django.db import migrations

# One change is allowed: the same secrets under another key (tenants.key_rotation).
_APPEND_ONLY = """
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
CREATE TRIGGER append_only_as_a_whole BEFORE TRUNCATE ON tenants_auditentry
FOR EACH STATEMENT EXECUTE FUNCTION tenants_trail_is_append_only();
"""


# The index of an entry, as `tenants/audit_log/queries.py` reads it.
_INDEX = """
CREATE FUNCTION tenants_trail_is_filed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    asked record;
    this tenants_auditkind;
BEGIN
    NEW.act_at := NEW.at;
    NEW.act_id := NEW.id;
    this.result := '';
    this.target_kind := split_part(NEW.target, ':', 1);
    this.names_target := false;
    this.in_support := NEW.support_session_id IS NOT NULL;
    IF NEW.intent_id <> '' AND NEW.action LIKE '%.%' AND NEW.action NOT LIKE 'intent.%' THEN
        this.result := substring(NEW.action FROM '[^.]*$');
        SELECT e.at, e.id, e.target INTO asked FROM tenants_auditentry e
        WHERE e.tenant_id = NEW.tenant_id AND e.intent_id = NEW.intent_id AND e.intent_id <> ''
            AND e.action NOT LIKE '%.%' ORDER BY e.id LIMIT 1;
        IF FOUND THEN
            NEW.act_at := asked.at;
            NEW.act_id := asked.id;
            this.names_target := asked.target = '' AND NEW.target <> '';
        END IF;
    END IF;
    SELECT k.id INTO NEW.kind_id FROM tenants_auditkind k
    WHERE k.tenant_id = NEW.tenant_id AND k.action = NEW.action AND k.result = this.result
        AND k.target_kind = this.target_kind AND k.names_target = this.names_target
        AND k.by_id IS NOT DISTINCT FROM NEW.by_id AND k.by_label = NEW.by_label AND k.in_support = this.in_support
    LIMIT 1;
    IF NOT FOUND THEN
        INSERT INTO tenants_auditkind
            (tenant_id, action, result, target_kind, names_target, by_id, by_label, in_support)
        VALUES (NEW.tenant_id, NEW.action, this.result, this.target_kind, this.names_target,
            NEW.by_id, NEW.by_label, this.in_support)
        RETURNING id INTO NEW.kind_id;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER filed BEFORE INSERT ON tenants_auditentry FOR EACH ROW EXECUTE FUNCTION tenants_trail_is_filed();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0001_tables"),
    ]

    operations = [
        migrations.RunSQL(_APPEND_ONLY),
        migrations.RunSQL(_INDEX, migrations.RunSQL.noop),
    ]
