"""Facts that a run finds out once."""

from collections.abc import Callable
from typing import Any

from tests.contract.outcomes import Outcome


class Memory:
    """Results that are computed once."""

    def __init__(self) -> None:
        self._known: dict[str, Any] = {}

    def once(self, what: str, make: Callable[[], Any]) -> Any:
        """Return what `make` returns on first use. When it fails, it fails the same way every time after."""
        if what not in self._known:
            try:
                self._known[what] = make()
            except Outcome as outcome:
                self._known[what] = outcome
        found = self._known[what]
        if isinstance(found, Outcome):
            raise found
        return found

    def forget(self, what: str) -> None:
        self._known.pop(what, None)
