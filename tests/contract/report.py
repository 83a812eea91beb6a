"""The results of a run, operation by operation, as text and as JSON."""

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from accessapi.operations import OPERATIONS, Operation


class Verdict(StrEnum):
    """The result of an operation, or of a case."""

    CONFORMS = "conforms"
    DIFFERS = "differs"
    NOT_OFFERED = "not offered"
    NOT_TRIED = "not tried"


@dataclass(frozen=True)
class Tried:
    """A case and its result. `quiet`: a reader does not need it in the report."""

    sentence: str
    verdict: Verdict
    reason: str = ""
    refusal: bool = False
    quiet: bool = False


@dataclass
class Result:
    """All results of one operation."""

    row: Operation
    cases: list[Tried] = field(default_factory=list)

    def of(self, verdict: Verdict) -> list[Tried]:
        return [each for each in self.cases if each.verdict is verdict]

    @property
    def verdict(self) -> Verdict:
        """Return the operation's verdict. Refusals alone do not make it conform: it must also have worked."""
        for verdict in (Verdict.DIFFERS, Verdict.NOT_OFFERED):
            if self.of(verdict):
                return verdict
        worked = [each for each in self.of(Verdict.CONFORMS) if not each.refusal]
        return Verdict.CONFORMS if worked else Verdict.NOT_TRIED

    @property
    def seen(self) -> bool:
        """Check whether the service offers it."""
        return any(not each.refusal for each in self.of(Verdict.CONFORMS)) or bool(self.of(Verdict.DIFFERS))

    @property
    def reasons(self) -> list[str]:
        """Return the reasons of the verdict, each once; for a conforming operation, what was left out."""
        verdict = self.verdict
        if verdict is Verdict.CONFORMS:
            verdict = Verdict.NOT_TRIED
        found = self.of(verdict)
        if self.verdict in (Verdict.CONFORMS, Verdict.NOT_TRIED):
            found = [each for each in found if not each.quiet] or ([] if self.verdict is Verdict.CONFORMS else found)
        return list(dict.fromkeys(each.reason for each in found if each.reason))


@dataclass
class Report:
    """The outcome of a run. `selected` are the numbers of the requested operations."""

    selected: frozenset[int]
    results: dict[str, Result] = field(default_factory=lambda: {row.name: Result(row) for row in OPERATIONS})
    calls: int = 0
    left: list[str] = field(default_factory=list)

    @property
    def shown(self) -> list[Result]:
        return [result for result in self.results.values() if result.row.number in self.selected]

    @property
    def totals(self) -> Counter[Verdict]:
        return Counter(result.verdict for result in self.shown)

    @property
    def exit_status(self) -> int:
        return 1 if self.totals[Verdict.DIFFERS] else 0

    def text(self) -> str:
        """Return one line for each operation, and one of totals."""
        return "\n".join([*map(_line, self.shown), *(f"Left behind: {each}" for each in self.left), self.last_line()])

    def last_line(self) -> str:
        count, totals = len(self.shown), self.totals
        return (
            f"{count} operation{'s' if count != 1 else ''}: {totals[Verdict.CONFORMS]} conform,"
            f" {totals[Verdict.DIFFERS]} differ, {totals[Verdict.NOT_OFFERED]} not offered,"
            f" {totals[Verdict.NOT_TRIED]} not tried ({self.calls} calls)"
        )

    def json(self) -> dict[str, Any]:
        """Return the same as JSON, with every case."""
        return {
            "calls": self.calls,
            "totals": {str(verdict): self.totals[verdict] for verdict in Verdict},
            "left_behind": self.left,
            "operations": [
                {
                    "number": result.row.number,
                    "name": result.row.name,
                    "title": result.row.title,
                    "verdict": str(result.verdict),
                    "reasons": result.reasons,
                    "cases": [
                        {"holds": each.sentence, "verdict": str(each.verdict), "reason": each.reason}
                        for each in result.cases
                    ],
                }
                for result in self.shown
            ],
        }


def _line(result: Result) -> str:
    head = f"{result.row.number:2d}  {result.row.title:<26} {result.verdict}"
    reasons = "; ".join(result.reasons)
    if not reasons:
        return head
    return f"{head} (not tried: {reasons})" if result.verdict is Verdict.CONFORMS else f"{head}: {reasons}"
