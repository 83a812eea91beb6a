"""The contrary sandbox: a service that makes the opposite choice wherever the specification leaves one.

`SERVICE=contrary` uses it instead of the usual sandbox in all tests that take the `sandbox` fixture. Tests still use
the usual addresses: `Addresses` translates them to the service's own, and back.
"""

import os
import re
from collections.abc import Iterable

from accessapi.operations import Operation
from accessapi.overrides import Catalogue, load_overrides
from stack.paths import ROOT

#: Text of the overrides file that a portal needs for this service.
OVERRIDES = (ROOT / "sandbox" / "contrary.toml").read_text(encoding="utf-8")
_PARAMETER = re.compile(r"\{(\w+)\}")


def wanted() -> bool:
    """Check whether this run uses the contrary service."""
    return os.environ.get("SERVICE") == "contrary"


class Addresses:
    """The usual method and path of each operation, and those of a service under `overrides`."""

    def __init__(self, overrides: str) -> None:
        self.catalogue = Catalogue(load_overrides(overrides))
        self._usual = Catalogue()

    def theirs(self, method: str, target: str) -> tuple[str, str]:
        """Return the service's own address for a usual one. An address of no operation stays as it is."""
        return _translated(self._usual, self.catalogue, method, target)

    def usual(self, line: str) -> str:
        """Return the usual form of a request line ("METHOD /path?query") of this service."""
        return " ".join(_translated(self.catalogue, self._usual, *line.split(" ", 1)))


def _translated(known: Iterable[Operation], wanted: Catalogue, method: str, target: str) -> tuple[str, str]:
    path, question, query = target.partition("?")
    # Fixed segments win over parameters.
    for row in sorted(known, key=lambda row: [part.startswith("{") for part in row.path.split("/")]):
        found = re.fullmatch(_PARAMETER.sub(r"(?P<\1>[^/]+)", row.path.replace(".", r"\.")), path)
        if row.method == method and found:
            other = wanted.find_by_number(row.number)
            return other.method, other.path.format(**found.groupdict()) + question + query
    return method, target
