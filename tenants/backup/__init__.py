"""Whether a dump of the database can be trusted: `manage.py check_backup`.

A dump can look good and be empty: row security hides rows from the role that writes it, and `pg_dump` ends with success
all the same. So its rows are counted and compared with the site's database (`live`), and what belongs with it is
looked for (`parts`): the keys of the vault here, files of evidence by registration.
"""
