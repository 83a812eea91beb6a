"""Check whether a dump of the database can be trusted: `manage.py check_backup`.

A dump can look good and be empty: row security hides rows from the role that writes it, and `pg_dump` still succeeds.
So its rows are counted and compared with the site's database (`tenants.backup.checking`). Its dependencies are
checked too (`tenants.backup.checking`): the vault's keys here, stored files by registration.
"""
