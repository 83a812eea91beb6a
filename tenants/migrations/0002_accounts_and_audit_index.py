"""Add account mails and events, forbid to empty the audit log, keep counts after a crash, index the audit log."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models
from django.db.models.functions import Now

import tenants.vault
from tenants.postgresql.row_security import EnableRowSecurity

# What an entry is filed by, as `tenants/audit_log/queries.py` reads it.
_FILE = """
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


_FILE_NO_MORE = "DROP TRIGGER filed ON tenants_auditentry; DROP FUNCTION tenants_trail_is_filed();"


# Entries from before are filed as if they were added now. The trail is closed again behind it.
FILE_OLD = """
SELECT set_config('portal.across', 'on', true);
ALTER TABLE tenants_auditentry DISABLE TRIGGER append_only;
CREATE TRIGGER filed_late BEFORE UPDATE ON tenants_auditentry FOR EACH ROW EXECUTE FUNCTION tenants_trail_is_filed();
UPDATE tenants_auditentry SET kind_id = 0;
DROP TRIGGER filed_late ON tenants_auditentry;
ALTER TABLE tenants_auditentry ENABLE TRIGGER append_only;
SELECT set_config('portal.across', '', true);
"""


class Migration(migrations.Migration):
    replaces = [
        ("tenants", "0002_account_mails"),
        ("tenants", "0003_account_events"),
        ("tenants", "0004_nobody_empties_the_trail"),
        ("tenants", "0005_counts_survive_a_crash"),
        ("tenants", "0006_the_trail_is_filed"),
    ]

    dependencies = [
        ("tenants", "0001_tables"),
    ]

    operations = [
        migrations.CreateModel(
            name="AccountMail",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=40)),
                ("values", tenants.vault.EncryptedJSON()),
                ("language", models.CharField(max_length=5)),
                ("written_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("due_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), db_index=True)),
                ("claimed_at", models.DateTimeField(null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="AccountEvent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), db_index=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("sign_in", "Sign-in"),
                            ("proof", "Identity check"),
                            ("throttled", "Too many attempts"),
                            ("sign_out", "Sign-out"),
                            ("reset_asked", "Reset link requested"),
                            ("password_reset", "Password reset"),
                            ("password_changed", "Password changed"),
                            ("factor_added", "Sign-in method added"),
                            ("factor_removed", "Sign-in method removed"),
                            ("codes_made", "New recovery codes"),
                            ("sessions_ended", "Signed out everywhere else"),
                        ],
                        max_length=20,
                    ),
                ),
                (
                    "method",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("password", "Password"),
                            ("totp", "Authenticator app"),
                            ("webauthn", "Passkey"),
                            ("recovery_codes", "Recovery code"),
                        ],
                        default="",
                        max_length=20,
                    ),
                ),
                ("address", models.GenericIPAddressField(null=True)),
                ("browser", models.CharField(blank=True, default="", max_length=60)),
                ("success", models.BooleanField(default=True)),
                (
                    "user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["user", "-id"], name="tenants_account_newest")],
            },
        ),
        migrations.RunSQL(
            "CREATE TRIGGER append_only_as_a_whole BEFORE TRUNCATE ON tenants_auditentry"
            " FOR EACH STATEMENT EXECUTE FUNCTION tenants_trail_is_append_only()",
            "DROP TRIGGER append_only_as_a_whole ON tenants_auditentry",
        ),
        # An unlogged table is empty after a crash and on a promoted standby: wrong passwords would be counted anew, and
        # a one-time code could be used again.
        migrations.RunSQL("ALTER TABLE tenants_kept SET LOGGED", "ALTER TABLE tenants_kept SET UNLOGGED"),
        migrations.CreateModel(
            name="AuditKind",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("action", models.CharField(db_collation="C", max_length=60)),
                ("result", models.CharField(blank=True, default="", max_length=60)),
                ("target_kind", models.CharField(blank=True, default="", max_length=200)),
                ("names_target", models.BooleanField(default=False)),
                ("by_label", models.CharField(blank=True, default="", max_length=120)),
                ("in_support", models.BooleanField(default=False)),
                (
                    "by",
                    models.ForeignKey(
                        null=True,
                        on_delete=models.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(db_index=False, on_delete=models.PROTECT, to="tenants.tenant"),
                ),
            ],
            options={"indexes": [models.Index(fields=["tenant", "action"], name="tenants_auditkind_action")]},
            managers=[
                ("objects", models.Manager()),
                ("reachable_objects", models.Manager()),
            ],
        ),
        EnableRowSecurity("tenants_auditkind"),
        migrations.AlterField(
            model_name="auditentry",
            name="tenant",
            field=models.ForeignKey(db_index=False, on_delete=models.PROTECT, to="tenants.tenant"),
        ),
        migrations.AlterField(
            model_name="auditentry",
            name="target",
            field=models.CharField(blank=True, db_collation="C", default="", max_length=200),
        ),
        migrations.AddField(
            model_name="auditentry",
            name="kind",
            field=models.ForeignKey(
                db_constraint=False,
                db_default=0,
                db_index=False,
                on_delete=models.PROTECT,
                related_name="+",
                to="tenants.auditkind",
            ),
        ),
        migrations.AddField(model_name="auditentry", name="act_at", field=models.DateTimeField(db_default=Now())),
        migrations.AddField(model_name="auditentry", name="act_id", field=models.BigIntegerField(db_default=0)),
        migrations.RunSQL(_FILE, _FILE_NO_MORE),
        migrations.RunSQL(FILE_OLD, migrations.RunSQL.noop),
        migrations.RemoveIndex(model_name="auditentry", name="tenants_audit_newest"),
        migrations.AddIndex(
            model_name="auditentry",
            index=models.Index(fields=["tenant", "-act_at", "-act_id"], name="tenants_audit_newest_act"),
        ),
        migrations.AddIndex(
            model_name="auditentry",
            index=models.Index(fields=["tenant", "kind", "-act_at", "-act_id"], name="tenants_audit_newest_of_kind"),
        ),
    ]
