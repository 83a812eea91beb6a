"""All cases of the suite: the operation of each, and the sentence that the service must fulfil."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from accessapi.operations import OPERATIONS, Operation

_ROWS = {row.name: row for row in OPERATIONS}
_CASES: list["Case"] = []


@dataclass(frozen=True)
class Case:
    """One promise of the specification and the function that tries it.

    `operation` is a name of the table. `needs` are the contracts that the tenant must have besides the operation's own.
    A `refusal` only shows what the service refuses: it is tried after the operation has worked, and alone does not make
    it conform.
    """

    operation: str
    sentence: str
    run: Callable[[Any], None]
    needs: tuple[str, ...] = ()
    refusal: bool = False

    @property
    def row(self) -> Operation:
        return _ROWS[self.operation]

    @property
    def contracts(self) -> tuple[str, ...]:
        """Return every contract that the tenant must have."""
        own = [str(self.row.contract)] if self.row.contract else []
        return (*own, *(["licence"] if self.row.needs_licence else []), *self.needs)


def case(
    operation: str,
    sentence: str,
    *,
    needs: tuple[str, ...] = (),
    refusal: bool = False,
) -> Callable[[Callable[[Any], None]], Callable[[Any], None]]:
    """Return a decorator that adds a case of `operation`. The case takes a House (a Lab, for operations of OAuth)."""

    def add(run: Callable[[Any], None]) -> Callable[[Any], None]:
        _CASES.append(Case(operation, sentence, run, needs, refusal))
        return run

    return add


def load() -> list[Case]:
    """Return all cases by the operations' numbers, those that show an operation working before refusals."""
    for path in sorted(Path(__file__).parent.glob("cases_*.py")):
        importlib.import_module(f"tests.contract.{path.stem}")
    return sorted(_CASES, key=lambda each: (each.row.number, each.refusal))
