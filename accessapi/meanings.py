"""What the service's words and codes mean where the specification does not say: two tables of the overrides file.

`States` reads the statuses of requests and locks, `Errors` the codes of refusals. Everything is a default that an
environment may change; a word or a code in no table means nothing, and is shown as it came.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from accessapi.doors import DoorWords, Patterns, among, of_list
from accessapi.keys import KeyWords
from accessapi.operations import Contract, Operation

Codes = tuple[Annotated[str, Field(pattern=r"^[0-9]{5}$")], ...]


class Table(BaseModel):
    """A table of the file. Unknown entries are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Outcome(StrEnum):
    """What the status of an asynchronous request means."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    PARTLY = "partly"
    FAILED = "failed"
    UNKNOWN = "unknown"

    @property
    def final(self) -> bool:
        return self in (Outcome.DONE, Outcome.PARTLY, Outcome.FAILED)


class States(DoorWords, KeyWords):
    """Statuses of device requests, words of doors and keys (not shown, hence data); a trailing * matches any ending."""

    device_request_waiting: Patterns = ("pending",)
    device_request_running: Patterns = ("progress",)
    device_request_done: Patterns = ("succeeded", "completed")
    device_request_failed: Patterns = ("failed", "failed_*", "timeout")

    def outcome(self, request_type: str | None, status: str | None) -> Outcome:
        """Return what `status` means for a members_bulk, face or device_request; UNKNOWN when no table has it.

        Specification: part "States and transitions"; device requests from this table.
        """
        if status is None:
            return Outcome.UNKNOWN
        if request_type == "members_bulk":
            return _BULK.get(status, Outcome.UNKNOWN)
        if request_type == "face":
            return _face(status)
        table = (
            (self.device_request_failed, Outcome.FAILED),
            (self.device_request_done, Outcome.DONE),
            (self.device_request_running, Outcome.RUNNING),
            (self.device_request_waiting, Outcome.WAITING),
        )
        return next((outcome for patterns, outcome in table if among(patterns, status)), Outcome.UNKNOWN)

    def theirs(self, usual: str, *lists: str) -> str:
        """Return this service's word for a usual one of these lists (by default of errors and the log's texts); a word
        of none of them as it is.
        """
        found = (name for name in lists or _TEXTS if among(getattr(_USUAL, name), usual.lower()))
        name = next(found, "")
        return of_list(getattr(self, name), usual) if name else usual


_TEXTS = ("key_taken", "key_returned", "key_wrong", "forced_open", "left_open", "held_unlocked", "lost")
_USUAL = States()
_BULK = {
    "pending": Outcome.WAITING,
    "progress": Outcome.RUNNING,
    "completed": Outcome.DONE,
    "completed_with_errors": Outcome.PARTLY,
    "failed": Outcome.FAILED,
}


def _face(status: str) -> Outcome:
    if status.startswith("failed_"):
        return Outcome.FAILED
    known = {"pending": Outcome.WAITING, "progress": Outcome.RUNNING, "succeeded": Outcome.DONE}
    return known.get(status, Outcome.UNKNOWN)


class Blame(StrEnum):
    """What is missing, or in the way, when a call is refused."""

    SCOPE = "scope"
    CONTRACT = "contract"
    LICENCE = "licence"
    SETTING = "setting"
    DUPLICATE = "duplicate"


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a code means. `of` names the contracts it may be about, or what is registered already."""

    blame: Blame
    of: tuple[str, ...] = ()


class ContractCodes(Table):
    """Codes by the contract that is missing."""

    door: Codes = ("40302",)
    key_box: Codes = ("40302",)
    qr: Codes = ("40302",)
    face: Codes = ("40302",)


class DuplicateCodes(Table):
    """Codes by what is registered already. 40901 is specified, the others are assumed."""

    card: Codes = ("40901",)
    face: Codes = ("40902",)
    qr: Codes = ("40903",)


class Errors(Table):
    """What a refusal means, by its five-digit code. A code in no table means nothing.

    What the file states wins: a code that it gives a meaning loses the assumed one.
    """

    scope: Codes = ("40301",)
    contract: ContractCodes = ContractCodes()
    licence: Codes = ("40303",)
    setting: Codes = ("40304", "40305")
    duplicate: DuplicateCodes = DuplicateCodes()

    @model_validator(mode="after")
    def _one_meaning_each(self) -> Errors:
        stated: dict[str, Blame] = {}
        for blame, _, codes in self._rows(stated_only=True):
            for code in codes:
                if stated.setdefault(code, blame) is not blame:
                    raise ValueError(f"{code} stands in {stated[code]} and in {blame}")
        return self

    def meaning(self, code: str | None) -> Meaning | None:
        """Return what a refusal with this code means; None when no table has it."""
        rows = [(blame, of) for blame, of, codes in self._rows() if code in codes]
        stated = [blame for blame, _, codes in self._rows(stated_only=True) if code in codes]
        if not rows:
            return None
        meant = stated[0] if stated else rows[0][0]
        return Meaning(meant, tuple(of for blame, of in rows if blame is meant and of))

    def contract_of(self, code: str | None, detail: str, operation: Operation | None = None) -> Contract | None:
        """Return the contract whose absence the refusal is about; None when it is about none, or does not say which.

        For a code of several contracts the service's text decides, else the contract that `operation` needs.
        """
        meaning = self.meaning(code)
        if meaning is None or meaning.blame is not Blame.CONTRACT:
            return None
        if len(meaning.of) == 1:
            return Contract(meaning.of[0])
        named = [of for of in meaning.of if re.search(_NAMES[of], detail, re.IGNORECASE)]
        if named:
            return Contract(named[0]) if len(named) == 1 else None
        needed = operation.contract if operation is not None else None
        return needed if needed in meaning.of else None

    def _rows(self, *, stated_only: bool = False) -> Iterator[tuple[Blame, str, Codes]]:
        for name in ("scope", "licence", "setting"):
            if not stated_only or name in self.model_fields_set:
                yield Blame(name), "", getattr(self, name)
        for blame, table in ((Blame.CONTRACT, self.contract), (Blame.DUPLICATE, self.duplicate)):
            for name in type(table).model_fields:
                if not stated_only or name in table.model_fields_set:
                    yield blame, name, getattr(table, name)


# How services write the names of contracts in prose.
_NAMES = {
    "door": r"\bdoor\b",
    "key_box": r"\bkey[ _-]?box\b",
    "qr": r"\bqr\b",
    "face": r"\bface\b",
}
