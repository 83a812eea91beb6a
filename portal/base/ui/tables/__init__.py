"""Lists: declarative columns, keyset paging, filters in the URL, selection across pages. See docs/screens.md."""

from portal.base.ui.tables.columns import BulkAction, Column, EmptyState
from portal.base.ui.tables.filters import Filter
from portal.base.ui.tables.table import Selection, Table, file_response, load_selection

__all__ = ["BulkAction", "Column", "EmptyState", "Filter", "Selection", "Table", "file_response", "load_selection"]
