"""Let the site's role create and drop the months of the log, which only the owner may."""

from django.db import migrations

from tenants.postgresql.row_security import POLICY_CONDITION

# A partition has the row security of the whole table (`tenants.postgresql.row_security`).
_MAKE = """
CREATE FUNCTION history_make_month(month date) RETURNS void LANGUAGE plpgsql STRICT SECURITY DEFINER
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
    FOREACH whole IN ARRAY ARRAY['history_history', 'history_historysearch'] LOOP
        part := whole || to_char(month, '_YYYY_MM');
        CONTINUE WHEN to_regclass('public.' || part) IS NOT NULL;
        EXECUTE format('CREATE TABLE public.%I (LIKE public.%I INCLUDING DEFAULTS INCLUDING GENERATED)', part, whole);
        IF whole = 'history_history' THEN
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
REVOKE ALL ON FUNCTION history_make_month FROM PUBLIC;
""".replace("POLICY_CONDITION", POLICY_CONDITION)


_DROP = """
CREATE FUNCTION history_drop_month(month date) RETURNS void LANGUAGE plpgsql STRICT SECURITY DEFINER
SET search_path = public, pg_temp AS $$
BEGIN
    IF extract(day FROM month) <> 1
        OR (month + interval '1 month') AT TIME ZONE 'Asia/Tokyo' > now() - interval '400 days'
    THEN
        RAISE EXCEPTION 'the log is kept from % on', month;
    END IF;
    EXECUTE format('DROP TABLE IF EXISTS public.%I, public.%I',
        'history_history' || to_char(month, '_YYYY_MM'), 'history_historysearch' || to_char(month, '_YYYY_MM'));
END $$;
REVOKE ALL ON FUNCTION history_drop_month FROM PUBLIC;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("history", "0001_tables"),
    ]

    operations = [
        migrations.RunSQL(_MAKE),
        migrations.RunSQL(_DROP, migrations.RunSQL.noop),
    ]
