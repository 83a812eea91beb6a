import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.manager
from django.conf import settings
from django.db import migrations, models

from tenants.postgresql.row_security import EnableRowSecurity
from tenants.scope import across_tenants

# A hold that began before holds had rows of their own is the first of its incident.
CARRIED = """
INSERT INTO evidence_legalhold (tenant_id, incident_id, reason, by_id, at)
SELECT tenant_id, id, hold_reason, coalesce(held_by_id, opened_by_id), held_at
FROM evidence_incident WHERE held_at IS NOT NULL
"""

# What is on legal hold is kept by the database itself, whatever code is at work: rows are not deleted, and of their
# columns only those change that a trigger names. A row with a file does not change at all. A file's key changes in a
# rotation of the vault's keys alone (tenants.key_rotation). The site's role, which the triggers work for, is given the one
# function that they call because it is the owner's (tenants.postgresql.grants).
KEPT = """
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
CREATE TRIGGER keep_held BEFORE UPDATE OR DELETE ON evidence_storedfile
FOR EACH ROW EXECUTE FUNCTION evidence_keep_held_file();
CREATE TRIGGER keep_hold BEFORE UPDATE OR DELETE ON evidence_legalhold
FOR EACH ROW EXECUTE FUNCTION evidence_keep_hold();
"""
NOT_KEPT = """
DROP TRIGGER keep_hold ON evidence_legalhold;
DROP TRIGGER keep_held ON evidence_storedfile;
DROP TRIGGER keep_held ON evidence_export;
DROP TRIGGER keep_held ON evidence_item;
DROP TRIGGER keep_held ON evidence_incident;
DROP FUNCTION evidence_keep_hold();
DROP FUNCTION evidence_keep_held_file();
DROP FUNCTION evidence_keep_held();
DROP FUNCTION evidence_is_held(bigint);
"""


def carry_over(_apps, schema_editor):
    with across_tenants("holds of all tenants get rows of their own"):
        schema_editor.execute(CARRIED)


class Migration(migrations.Migration):
    dependencies = [
        ("evidence", "0001_tables"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="LegalHold",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("reason", models.CharField(max_length=120)),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "ended_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "incident",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="holds", to="evidence.incident"
                    ),
                ),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("ended_at", None), ("ended_by", None)),
                            models.Q(("ended_at__isnull", False), ("ended_by__isnull", False)),
                            _connector="OR",
                        ),
                        name="evidence_hold_ended_by",
                    )
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        EnableRowSecurity("evidence_legalhold"),
        migrations.RunPython(carry_over, migrations.RunPython.noop),
        migrations.RemoveField(model_name="incident", name="held_at"),
        migrations.RemoveField(model_name="incident", name="held_by"),
        migrations.RemoveField(model_name="incident", name="hold_reason"),
        migrations.RunSQL(KEPT, NOT_KEPT),
    ]
