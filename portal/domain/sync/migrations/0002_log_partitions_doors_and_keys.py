"""Create what only the owner may: log partitions; then door changes, key readings and awaited lists."""

from django.db import migrations, models

from tenants.postgresql.row_security import POLICY_CONDITION

# The policy of the whole table, for the part: `tenants.postgresql.row_security`.
_MAKE = """
CREATE FUNCTION mirror_make_month(month date) RETURNS void LANGUAGE plpgsql STRICT SECURITY DEFINER
SET search_path = public, pg_temp AS $$
DECLARE
    across text := coalesce(current_setting('portal.across', true), '');
    begins timestamptz := month::timestamp AT TIME ZONE 'Asia/Tokyo';
    ends timestamptz := (month + interval '1 month') AT TIME ZONE 'Asia/Tokyo';
    whole text;
    part text;
BEGIN
    IF extract(day FROM month) <> 1 OR ends < now() - interval '2 years' OR begins > now() + interval '2 months' THEN
        RAISE EXCEPTION 'the log has no part that begins on %', month;
    END IF;
    PERFORM pg_advisory_xact_lock(19462);
    PERFORM set_config('portal.across', 'on', true);
    FOREACH whole IN ARRAY ARRAY['mirror_history', 'mirror_historysearch'] LOOP
        part := whole || to_char(month, '_YYYY_MM');
        CONTINUE WHEN to_regclass('public.' || part) IS NOT NULL;
        EXECUTE format('CREATE TABLE public.%I (LIKE public.%I INCLUDING DEFAULTS INCLUDING GENERATED)', part, whole);
        IF whole = 'mirror_history' THEN
            EXECUTE format('ALTER TABLE public.%I ENABLE ROW LEVEL SECURITY', part);
            EXECUTE format('ALTER TABLE public.%I FORCE ROW LEVEL SECURITY', part);
            EXECUTE format($policy$CREATE POLICY tenant_rows ON public.%I
                USING (POLICY_CONDITION) WITH CHECK (POLICY_CONDITION)$policy$, part);
        END IF;
        -- PostgreSQL refuses the part while the default part holds what belongs into it.
        EXECUTE format('WITH moved AS (DELETE FROM public.%I WHERE at >= $1 AND at < $2 RETURNING *)'
            ' INSERT INTO public.%I SELECT * FROM moved', whole || '_default', part) USING begins, ends;
        EXECUTE format('ALTER TABLE public.%I ATTACH PARTITION public.%I FOR VALUES FROM (%L) TO (%L)',
            whole, part, begins, ends);
    END LOOP;
    PERFORM set_config('portal.across', across, true);
END $$;
REVOKE ALL ON FUNCTION mirror_make_month FROM PUBLIC;
""".replace("POLICY_CONDITION", POLICY_CONDITION)


_DROP = """
CREATE FUNCTION mirror_drop_month(month date) RETURNS void LANGUAGE plpgsql STRICT SECURITY DEFINER
SET search_path = public, pg_temp AS $$
BEGIN
    IF extract(day FROM month) <> 1
        OR (month + interval '1 month') AT TIME ZONE 'Asia/Tokyo' > now() - interval '400 days'
    THEN
        RAISE EXCEPTION 'the log is kept from % on', month;
    END IF;
    EXECUTE format('DROP TABLE IF EXISTS public.%I, public.%I',
        'mirror_history' || to_char(month, '_YYYY_MM'), 'mirror_historysearch' || to_char(month, '_YYYY_MM'));
END $$;
REVOKE ALL ON FUNCTION mirror_drop_month FROM PUBLIC;
"""


# What lists filter, sort and count by, from a small sample: of all columns from the usual one it takes as long as
# writing the rows. Because columns are named, autovacuum still comes by itself, and looks properly.
_TIDY = """
CREATE FUNCTION mirror_tidy_members(analyses boolean) RETURNS void LANGUAGE plpgsql STRICT SECURITY DEFINER
SET search_path = public, pg_temp SET default_statistics_target = 20 AS $$
BEGIN
    PERFORM gin_clean_pending_list('public.mirror_membersearch_pieces');
    IF analyses THEN
        ANALYZE public.mirror_member (
            tenant_id, name_key, code_key, group_key, membergroup_id, use_end_key, use_date_start, has_card, has_qr,
            has_face, gone_at, last_seen_at, shares_card
        ), public.mirror_membersearch (member_id, tenant_id, pieces);
    END IF;
END $$;
REVOKE ALL ON FUNCTION mirror_tidy_members FROM PUBLIC;
"""


# A door that is alarming or held because the log or a command told it has the moment from there. Since when readings
# showed a door unlocked is kept together with whether they saw the change.
_CARRY_OVER = """
SELECT set_config('portal.across', 'on', true);
UPDATE mirror_passcontroller SET is_since_seen = true
    WHERE told ? 'alarm' AND state IN ('forced_open', 'left_open') OR told ? 'lock' AND state IN ('held', 'held_open');
UPDATE mirror_passcontroller SET told = jsonb_set(told, '{unlocked}', jsonb_build_array(told -> 'unlocked', false))
    WHERE jsonb_typeof(told -> 'unlocked') = 'string';
SELECT set_config('portal.across', '', true);
"""


_CARRY_BACK = """
SELECT set_config('portal.across', 'on', true);
UPDATE mirror_passcontroller SET told = jsonb_set(told, '{unlocked}', told -> 'unlocked' -> 0)
    WHERE jsonb_typeof(told -> 'unlocked') = 'array';
SELECT set_config('portal.across', '', true);
"""


class Migration(migrations.Migration):
    replaces = [
        ("mirror", "0002_what_the_owner_does"),
        ("mirror", "0003_door_changes"),
        ("mirror", "0004_what_readings_of_keys_saw"),
        ("mirror", "0005_readings_that_are_awaited"),
    ]

    dependencies = [
        ("mirror", "0001_tables"),
        ("tenants", "0002_accounts_and_audit_index"),
    ]

    operations = [
        migrations.RunSQL(_MAKE, "DROP FUNCTION mirror_make_month"),
        migrations.RunSQL(_DROP, "DROP FUNCTION mirror_drop_month"),
        migrations.RunSQL(_TIDY, "DROP FUNCTION mirror_tidy_members"),
        migrations.AddField(
            model_name="passcontroller",
            name="is_since_seen",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AlterField(
            model_name="passcontroller",
            name="state",
            field=models.CharField(
                blank=True,
                choices=[
                    ("forced_open", "Forced Open"),
                    ("left_open", "Left Open"),
                    ("held_open", "Held Open"),
                    ("held", "Held"),
                    ("offline", "Offline"),
                    ("open", "Open"),
                    ("unlocked", "Unlocked"),
                    ("passing", "Passing"),
                    ("locked", "Locked"),
                    ("", "Unknown"),
                ],
                db_default="",
                default="",
                max_length=12,
            ),
        ),
        migrations.RunSQL(_CARRY_OVER, _CARRY_BACK),
        migrations.AddIndex(
            model_name="passcontroller",
            index=models.Index(
                condition=models.Q(("urgent", True), ("state", "passing"), _connector="OR"),
                fields=["look_at"],
                name="mirror_passcontroller_soon",
            ),
        ),
        migrations.AddField(
            model_name="key",
            name="read_saw_change",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="key",
            name="wrong",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddIndex(
            model_name="key",
            index=models.Index(condition=models.Q(("wrong", True)), fields=["tenant"], name="mirror_key_wrong"),
        ),
        migrations.AddField("mirrorstate", "awaited", models.BooleanField(default=False, db_default=False)),
        migrations.AddField("mirrorstate", "late", models.JSONField(default=list, db_default=[])),
    ]
