"""The values of cells in files, and their text."""

from datetime import date, datetime, timedelta

# Times have the clock time that is written; callers convert them. None is an empty cell.
CellValue = str | int | float | date | datetime | timedelta | None


def cell_text(value: CellValue, *, has_seconds: bool = False) -> str:
    """Return the text of a cell: `2026-11-21 09:41`, `2026-11-21`, `26:05:09`; seconds if they are not 0.

    With `has_seconds`, times always have seconds.
    """
    if value is None:
        return ""
    if isinstance(value, datetime):
        precision = "seconds" if has_seconds or value.second else "minutes"
        return value.replace(tzinfo=None).isoformat(" ", precision)
    if isinstance(value, timedelta):
        seconds = int(value.total_seconds())
        return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return str(value)
