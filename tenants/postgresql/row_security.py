"""Row-level security: PostgreSQL checks the tenant of each row, in addition to the scoped managers.

A migration that creates a tenant's table ends with `EnableRowSecurity("app_table")`. After that, a plain role sees,
writes and deletes only rows whose tenant_id equals the setting `portal.tenant`, or all rows while `portal.across` is
`on`. With neither, it sees none. `tenants.postgresql` sets both. Superusers are not bound, and a table's owner can
switch this off: see `tenants.postgresql.grants`.

For fast queries: PostgreSQL applies a row's policy before any operator that is not marked leakproof. So an index can
serve comparisons of numbers, dates and text (=, <, >=), but not LIKE, array operators or JSON operators.
"""

from typing import Any

from django.db.migrations.operations.base import Operation

# Scalar subselects are evaluated once per statement, not once per row.
POLICY_CONDITION = (
    "tenant_id = (SELECT nullif(current_setting('portal.tenant', true), '')::bigint)"
    " OR (SELECT current_setting('portal.across', true)) = 'on'"
)


class EnableRowSecurity(Operation):
    """Restrict a table's rows to the current tenant, for its owner too. The table must have a tenant_id column."""

    reversible = True
    reduces_to_sql = True

    def __init__(self, table: str) -> None:
        self.table = table

    def state_forwards(self, app_label: str, state: Any) -> None:
        return

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        table = schema_editor.quote_name(self.table)
        schema_editor.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        schema_editor.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
        schema_editor.execute(
            f"CREATE POLICY tenant_rows ON {table} USING ({POLICY_CONDITION}) WITH CHECK ({POLICY_CONDITION})"
        )

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        table = schema_editor.quote_name(self.table)
        schema_editor.execute(f"DROP POLICY tenant_rows ON {table}")
        schema_editor.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
        schema_editor.execute(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY")

    def describe(self) -> str:
        return f"Bind the rows of {self.table} to their tenant"
