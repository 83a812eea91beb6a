"""Lists: declarative columns, keyset paging, filters in the address, selection across pages. See docs/screens.md."""

from portal.ui.tables.columns import Column
from portal.ui.tables.extras import BulkAction, Empty
from portal.ui.tables.filters import Filter
from portal.ui.tables.selection import Selection, chosen
from portal.ui.tables.table import Table

__all__ = ["BulkAction", "Column", "Empty", "Filter", "Selection", "Table", "chosen"]
