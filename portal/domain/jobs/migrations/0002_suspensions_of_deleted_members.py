"""Delete suspensions with their member."""

from django.db import migrations

# The local copy deletes members in SQL.
_WITH_MEMBER = """
ALTER TABLE jobs_suspension ADD CONSTRAINT jobs_suspension_goes_with_member
FOREIGN KEY (member_id) REFERENCES people_member (id) ON DELETE CASCADE
"""


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0001_tables"),
        ("people", "0001_tables"),
    ]

    operations = [
        migrations.RunSQL(_WITH_MEMBER),
    ]
