from django.db import migrations

from tenants.rls import EnableRowSecurity

# mirror_membersearch holds keyed hashes only and stays without: see its docstring.
_TABLES = (
    "area",
    "group",
    "keybox",
    "member",
    "mirrorstate",
    "passcontroller",
    "sharedreading",
    "stagedpage",
    "syncrun",
)


class Migration(migrations.Migration):
    dependencies = [("mirror", "0001_initial")]

    operations = [EnableRowSecurity(f"mirror_{table}") for table in _TABLES]
