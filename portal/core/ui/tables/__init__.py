"""Lists: declarative columns, keyset paging, filters in the address, selection across pages. See docs/screens.md."""

from portal.core.ui.tables.columns import BulkAction, Column, Empty
from portal.core.ui.tables.filters import Filter
from portal.core.ui.tables.selection import Selection, chosen, file_response
from portal.core.ui.tables.table import Table

__all__ = ["BulkAction", "Column", "Empty", "Filter", "Selection", "Table", "chosen", "file_response"]
