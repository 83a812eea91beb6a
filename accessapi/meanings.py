"""The meaning of the service's words and codes that the specification does not define.

They are two tables of the overrides file: `States` has the statuses of requests and locks, `ErrorCodes` the codes of
refusals. Everything is a default that an environment may change. A word or a code in no table has no meaning and is
shown unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from accessapi.doors import Patterns, matches_any, word_from
from accessapi.log_events import EventVocabulary
from accessapi.operations import Contract, Operation

Codes = tuple[Annotated[str, Field(pattern=r"^[0-9]{5}$")], ...]


class OverridesTable(BaseModel):
    """A table of the file. Unknown entries are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class RequestOutcome(StrEnum):
    """The meaning of an asynchronous request's status."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    PARTLY = "partly"
    FAILED = "failed"
    UNKNOWN = "unknown"

    @property
    def is_final(self) -> bool:
        return self in (RequestOutcome.DONE, RequestOutcome.PARTLY, RequestOutcome.FAILED)


class States(EventVocabulary):
    """Statuses of device requests, words of doors and keys, texts of records. A trailing * matches any ending."""

    device_request_waiting: Patterns = ("pending",)
    device_request_running: Patterns = ("progress",)
    device_request_done: Patterns = ("succeeded", "completed")
    device_request_failed: Patterns = ("failed", "failed_*", "timeout")

    def outcome_of(self, request_type: str | None, status: str | None) -> RequestOutcome:
        """Return the meaning of `status` for a members_bulk, face or device_request; UNKNOWN if no table has it.

        Specification: part "States and transitions"; device requests from this table.
        """
        if status is None:
            return RequestOutcome.UNKNOWN
        if request_type == "members_bulk":
            return _BULK_OUTCOMES.get(status, RequestOutcome.UNKNOWN)
        if request_type == "face":
            return _face_outcome(status)
        table = (
            (self.device_request_failed, RequestOutcome.FAILED),
            (self.device_request_done, RequestOutcome.DONE),
            (self.device_request_running, RequestOutcome.RUNNING),
            (self.device_request_waiting, RequestOutcome.WAITING),
        )
        return next((outcome for patterns, outcome in table if matches_any(patterns, status)), RequestOutcome.UNKNOWN)

    def service_word(self, usual: str, *lists: str) -> str:
        """Return this service's word for a usual word of these lists.

        The default lists are those of errors and the log's texts. A word in no list is returned unchanged.
        """
        found = (name for name in lists or _TEXT_LISTS if matches_any(getattr(_DEFAULT_STATES, name), usual.lower()))
        name = next(found, "")
        return word_from(getattr(self, name), usual) if name else usual


_TEXT_LISTS = ("key_taken", "key_returned", "key_wrong", "forced_open", "left_open", "held_unlocked", "lost")
_DEFAULT_STATES = States()
_BULK_OUTCOMES = {
    "pending": RequestOutcome.WAITING,
    "progress": RequestOutcome.RUNNING,
    "completed": RequestOutcome.DONE,
    "completed_with_errors": RequestOutcome.PARTLY,
    "failed": RequestOutcome.FAILED,
}


def _face_outcome(status: str) -> RequestOutcome:
    if status.startswith("failed_"):
        return RequestOutcome.FAILED
    known = {"pending": RequestOutcome.WAITING, "progress": RequestOutcome.RUNNING, "succeeded": RequestOutcome.DONE}
    return known.get(status, RequestOutcome.UNKNOWN)


class RefusalCause(StrEnum):
    """The cause of a refused call: something is missing or in conflict."""

    SCOPE = "scope"
    CONTRACT = "contract"
    LICENCE = "licence"
    SETTING = "setting"
    DUPLICATE = "duplicate"


@dataclass(frozen=True, slots=True)
class RefusalMeaning:
    """The meaning of a code.

    `subjects` has the contracts that may be missing, or the kinds of data that are already registered.
    """

    cause: RefusalCause
    subjects: tuple[str, ...] = ()


class ContractCodes(OverridesTable):
    """Codes by the contract that is missing."""

    door: Codes = ("40302",)
    key_box: Codes = ("40302",)
    qr: Codes = ("40302",)
    face: Codes = ("40302",)


class DuplicateCodes(OverridesTable):
    """Codes by the kind of data that is already registered. 40901 is specified, the others are assumed."""

    card: Codes = ("40901",)
    face: Codes = ("40902",)
    qr: Codes = ("40903",)


class ErrorCodes(OverridesTable):
    """The meaning of a refusal by its five-digit code. A code in no table has no meaning.

    The file has priority: a code to which it gives a meaning loses the assumed one.
    """

    scope: Codes = ("40301",)
    contract: ContractCodes = ContractCodes()
    licence: Codes = ("40303",)
    setting: Codes = ("40304", "40305")
    duplicate: DuplicateCodes = DuplicateCodes()

    @model_validator(mode="after")
    def _one_meaning_each(self) -> ErrorCodes:
        stated: dict[str, RefusalCause] = {}
        for cause, _, codes in self._rows(stated_only=True):
            for code in codes:
                if stated.setdefault(code, cause) is not cause:
                    raise ValueError(f"{code} stands in {stated[code]} and in {cause}")
        return self

    def meaning(self, code: str | None) -> RefusalMeaning | None:
        """Return the meaning of a refusal with this code; None if no table has it."""
        rows = [(cause, subject) for cause, subject, codes in self._rows() if code in codes]
        listed = [cause for cause, _, codes in self._rows(stated_only=True) if code in codes]
        if not rows:
            return None
        meant = listed[0] if listed else rows[0][0]
        return RefusalMeaning(meant, tuple(subject for cause, subject in rows if cause is meant and subject))

    def contract_of(self, code: str | None, detail: str, operation: Operation | None = None) -> Contract | None:
        """Return the contract that is missing according to the refusal; None if it names none.

        If a code may mean several contracts, the service's text decides, else the contract that `operation` needs.
        """
        meaning = self.meaning(code)
        if meaning is None or meaning.cause is not RefusalCause.CONTRACT:
            return None
        if len(meaning.subjects) == 1:
            return Contract(meaning.subjects[0])
        named = [each for each in meaning.subjects if re.search(_CONTRACT_PATTERNS[each], detail, re.IGNORECASE)]
        if named:
            return Contract(named[0]) if len(named) == 1 else None
        needed = operation.contract if operation is not None else None
        return needed if needed in meaning.subjects else None

    def _rows(self, *, stated_only: bool = False) -> Iterator[tuple[RefusalCause, str, Codes]]:
        for name in ("scope", "licence", "setting"):
            if not stated_only or name in self.model_fields_set:
                yield RefusalCause(name), "", getattr(self, name)
        for cause, table in ((RefusalCause.CONTRACT, self.contract), (RefusalCause.DUPLICATE, self.duplicate)):
            for name in type(table).model_fields:
                if not stated_only or name in table.model_fields_set:
                    yield cause, name, getattr(table, name)


# How services write the names of contracts in texts.
_CONTRACT_PATTERNS = {
    "door": r"\bdoor\b",
    "key_box": r"\bkey[ _-]?box\b",
    "qr": r"\bqr\b",
    "face": r"\bface\b",
}
