"""Delete grants with their member, and count members by area with every change of grants."""

from django.db import migrations

# The local copy deletes members in SQL.
_WITH_MEMBER = """
ALTER TABLE areas_grant ADD CONSTRAINT areas_grant_goes_with_member
FOREIGN KEY (member_id) REFERENCES people_member (id) ON DELETE CASCADE
"""


_TALLY = """
CREATE FUNCTION areas_tally_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO areas_tally (tenant_id, area_id, held_id, members)
  SELECT tenant_id, area_id, held_id, count(*) FROM changed GROUP BY tenant_id, area_id, held_id;
  RETURN NULL;
END $$;
CREATE FUNCTION areas_tally_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO areas_tally (tenant_id, area_id, held_id, members)
  SELECT tenant_id, area_id, held_id, -count(*) FROM changed GROUP BY tenant_id, area_id, held_id;
  RETURN NULL;
END $$;
CREATE TRIGGER areas_tally_added AFTER INSERT ON areas_grant
REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION areas_tally_added();
CREATE TRIGGER areas_tally_removed AFTER DELETE ON areas_grant
REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION areas_tally_removed();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("areas", "0001_tables"),
        ("people", "0001_tables"),
    ]

    operations = [
        migrations.RunSQL(_WITH_MEMBER),
        migrations.RunSQL(_TALLY, migrations.RunSQL.noop),
    ]
