"""Keep rows and files of incidents on legal hold, in the database."""

from django.db import migrations

# Under a legal hold, rows are not deleted, and only those columns change that a trigger names. A row with a file does
# not change at all. A file's key changes only in a rotation of the vault's keys (tenants.key_rotation). The triggers
# work for the site's role, which may call the owner's one function that they need (tenants.postgresql.grants).
_KEEP = """
CREATE FUNCTION evidence_is_held(incident bigint) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = public, pg_temp AS $$
    SELECT EXISTS (SELECT FROM public.evidence_legalhold WHERE incident_id = incident AND ended_at IS NULL)
$$;
REVOKE ALL ON FUNCTION evidence_is_held FROM PUBLIC;

CREATE FUNCTION evidence_keep_held() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    before jsonb := to_jsonb(OLD);
    free text[] := TG_ARGV;
BEGIN
    IF evidence_is_held(coalesce(before ->> 'incident_id', before ->> 'id')::bigint) THEN
        IF before ->> 'file_id' IS NOT NULL THEN
            free := '{}';
        END IF;
        IF TG_OP = 'DELETE' OR to_jsonb(NEW) - free <> before - free THEN
            RAISE EXCEPTION 'the incident is on legal hold' USING ERRCODE = 'restrict_violation';
        END IF;
    END IF;
    IF TG_OP = 'DELETE' THEN
        RETURN OLD;
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION evidence_keep_held_file() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    free text[] := '{}';
BEGIN
    IF EXISTS (SELECT FROM evidence_item WHERE file_id = OLD.id AND evidence_is_held(incident_id))
        OR EXISTS (SELECT FROM evidence_export WHERE file_id = OLD.id AND evidence_is_held(incident_id))
    THEN
        IF TG_OP = 'DELETE' THEN
            RAISE EXCEPTION 'the file is on legal hold' USING ERRCODE = 'restrict_violation';
        END IF;
        IF NEW.delete_at IS NULL THEN
            free := free || 'delete_at'::text;
        END IF;
        IF current_setting('portal.rotating', true) = 'on' AND NEW.key IS NOT NULL THEN
            free := free || 'key'::text;
        END IF;
        IF to_jsonb(NEW) - free <> to_jsonb(OLD) - free THEN
            RAISE EXCEPTION 'the file is on legal hold' USING ERRCODE = 'restrict_violation';
        END IF;
    END IF;
    IF TG_OP = 'DELETE' THEN
        RETURN OLD;
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION evidence_keep_hold() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    free text[] := '{ended_by_id,ended_at}';
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF evidence_is_held(OLD.incident_id) THEN
            RAISE EXCEPTION 'the incident is on legal hold' USING ERRCODE = 'restrict_violation';
        END IF;
        RETURN OLD;
    END IF;
    IF OLD.ended_at IS NOT NULL OR to_jsonb(NEW) - free <> to_jsonb(OLD) - free THEN
        RAISE EXCEPTION 'a legal hold is not changed, only ended' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER keep_held BEFORE UPDATE OR DELETE ON evidence_incident
FOR EACH ROW EXECUTE FUNCTION evidence_keep_held('closed_by_id', 'closed_at', 'keep_until', 'due_at');
CREATE TRIGGER keep_held BEFORE UPDATE OR DELETE ON evidence_item
FOR EACH ROW EXECUTE FUNCTION evidence_keep_held('media', 'file_id', 'due_at', 'trouble', 'expires_at');
CREATE TRIGGER keep_held BEFORE UPDATE OR DELETE ON evidence_export
FOR EACH ROW EXECUTE FUNCTION evidence_keep_held(
    'items', 'missing', 'due_at', 'tries', 'trouble', 'file_id', 'key', 'manifest', 'stamp'
);
CREATE TRIGGER keep_held BEFORE UPDATE OR DELETE ON storage_storedfile
FOR EACH ROW EXECUTE FUNCTION evidence_keep_held_file();
CREATE TRIGGER keep_hold BEFORE UPDATE OR DELETE ON evidence_legalhold
FOR EACH ROW EXECUTE FUNCTION evidence_keep_hold();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("evidence", "0001_tables"),
        ("storage", "0001_tables"),
    ]

    operations = [
        migrations.RunSQL(_KEEP),
    ]
