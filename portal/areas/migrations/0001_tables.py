import django.db.models.deletion
import django.db.models.manager
from django.db import migrations, models

from tenants.postgresql.row_security import EnableRowSecurity

# The mirror removes members in SQL: what they held goes with them.
_WITH_MEMBER = """
ALTER TABLE areas_grant ADD CONSTRAINT areas_grant_goes_with_member
FOREIGN KEY (member_id) REFERENCES mirror_member (id) ON DELETE CASCADE
"""

# Whoever files or removes grants, the tallies follow in the same statement.
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
_NO_TALLY = """
DROP TRIGGER areas_tally_added ON areas_grant;
DROP TRIGGER areas_tally_removed ON areas_grant;
DROP FUNCTION areas_tally_added;
DROP FUNCTION areas_tally_removed;
"""


class Migration(migrations.Migration):
    replaces = [("areas", "0001_initial")]

    initial = True

    dependencies = [
        ("mirror", "0001_tables"),
        ("tenants", "0001_tables"),
    ]

    operations = [
        migrations.CreateModel(
            name="Pass",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(db_collation="C", max_length=32)),
                ("body", models.JSONField()),
                ("kind", models.CharField(max_length=10)),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("tenant", "digest"), name="areas_pass_once")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Grant",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("area_id", models.TextField(db_collation="C")),
                (
                    "member",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="mirror.member",
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant"),
                ),
                (
                    "held",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="areas.pass"
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["tenant", "area_id", "held", "member"], name="areas_grant_of_area")],
                "constraints": [models.UniqueConstraint(fields=("member", "area_id", "held"), name="areas_grant_once")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Tally",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("area_id", models.TextField(db_collation="C")),
                ("members", models.IntegerField()),
                (
                    "held",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="areas.pass"),
                ),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "indexes": [models.Index(fields=["tenant", "area_id"], name="areas_tally_of_area")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.RunSQL(_WITH_MEMBER, "ALTER TABLE areas_grant DROP CONSTRAINT areas_grant_goes_with_member"),
        migrations.RunSQL(_TALLY, _NO_TALLY),
        *(EnableRowSecurity(f"areas_{table}") for table in ("pass", "grant", "tally")),
    ]
