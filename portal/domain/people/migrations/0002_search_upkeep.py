"""Let the site's role maintain the search index and the statistics of members, which only the owner may."""

from django.db import migrations

# Analyzes a small sample of the columns that lists filter, sort and count by: a usual sample of all columns takes as
# long as writing the rows. Because columns are named, autovacuum still analyzes the whole table later.
_TIDY = """
CREATE FUNCTION people_tidy_members(analyses boolean) RETURNS void LANGUAGE plpgsql STRICT SECURITY DEFINER
SET search_path = public, pg_temp SET default_statistics_target = 20 AS $$
BEGIN
    PERFORM gin_clean_pending_list('public.people_membersearch_pieces');
    IF analyses THEN
        ANALYZE public.people_member (
            tenant_id, name_key, code_key, group_key, membergroup_id, use_end_key, use_date_start, has_card, has_qr,
            has_face, gone_at, last_seen_at, shares_card
        ), public.people_membersearch (member_id, tenant_id, pieces);
    END IF;
END $$;
REVOKE ALL ON FUNCTION people_tidy_members FROM PUBLIC;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("people", "0001_tables"),
    ]

    operations = [
        migrations.RunSQL(_TIDY),
    ]
