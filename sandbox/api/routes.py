"""Find the operation for a method and path in the catalogue."""

import re
from collections.abc import Iterable
from urllib.parse import unquote

from accessapi.operations import CallClass, Operation

_PARAMETER = re.compile(r"\{(\w+)\}")


class Routes:
    """The operations by method and path.

    Fixed segments have priority over parameters, so that no overridden path hides another.
    """

    def __init__(self, operations: Iterable[Operation]) -> None:
        rows = [row for row in operations if row.call_class is not CallClass.OAUTH]
        rows.sort(key=lambda row: [part.startswith("{") for part in row.path.split("/")])
        self._rows = [(row, re.compile(_pattern(row.path))) for row in rows]

    def find(self, method: str, path: str) -> tuple[Operation, dict[str, str]] | None:
        """Return the operation and its decoded path parameters; None without one.

        `path` is the raw path of the request line.
        """
        for row, pattern in self._rows:
            if row.method == method and (match := pattern.fullmatch(path)):
                return row, {name: unquote(value) for name, value in match.groupdict().items()}
        return None


def _pattern(path: str) -> str:
    parts = _PARAMETER.split(path)
    return "".join(f"(?P<{part}>[^/]+)" if index % 2 else re.escape(part) for index, part in enumerate(parts))
