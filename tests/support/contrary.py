"""The contrary sandbox: a service that decides the other way wherever the specification is silent.

`SERVICE=contrary` puts it in the place of the usual one for all tests that take the sandbox as it is given to them.
Tests go on to write down the usual addresses: `Addresses` turns those into the service's own, and back.
"""

import os
import re
from collections.abc import Iterable

from accessapi.operations import Operation
from accessapi.overrides import Catalogue, load_overrides
from stack.paths import ROOT

#: Text of the overrides file that a portal needs for it.
OVERRIDES = (ROOT / "sandbox" / "contrary.toml").read_text(encoding="utf-8")
_PARAMETER = re.compile(r"\{(\w+)\}")


def wanted() -> bool:
    """Whether this run is to be against the contrary service."""
    return os.environ.get("SERVICE") == "contrary"


class Addresses:
    """Method and path of each operation: as everybody knows them, and as a service under `overrides` has them."""

    def __init__(self, overrides: str) -> None:
        self.catalogue = Catalogue(load_overrides(overrides))
        self._usual = Catalogue()

    def theirs(self, method: str, target: str) -> tuple[str, str]:
        """The service's own address for a usual one; what is none of an operation stays as it is."""
        return _translated(self._usual, self.catalogue, method, target)

    def usual(self, line: str) -> str:
        """The line of a request to the service ("METHOD /path?query") as it would be at the usual one."""
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
