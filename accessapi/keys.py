"""The meaning of the service's words about a key of a key box: whether it is in its place, and its log's events.

The specification shows one of these words ("return") and no complete set. So they are data of the table `[states]`,
like those of doors (`accessapi.doors`). A word in no list has no meaning here and is shown unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Self

from pydantic import BaseModel, ConfigDict, model_validator

from accessapi.doors import Patterns, check_exclusive, matches_any


class KeyEvent(StrEnum):
    """The event of a log record about a key."""

    TAKEN = "taken"
    RETURNED = "returned"


class KeyVocabulary(BaseModel):
    """The lists of words for statuses and for log records. Texts of records are compared in lower case."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    key_in: Patterns = ("return", "returned")
    key_out: Patterns = ("taken", "take", "out")
    key_wrong: Patterns = ("wrong", "wrong_*", "wrong *", "*wrong_key*", "*wrong key*", "misplaced*")
    key_taken: Patterns = ("*key taken*",)
    key_returned: Patterns = ("*key returned*",)

    @model_validator(mode="after")
    def _in_or_out(self) -> Self:
        check_exclusive(self, ("key_in", "key_out"), ("key_in", "key_wrong"), ("key_taken", "key_returned"))
        return self

    def key_state(self, word: str | None) -> str:
        """Return "in", "out", or "" for a word in neither list."""
        if matches_any(self.key_in, word):
            return "in"
        return "out" if matches_any(self.key_out, word) else ""

    def is_wrong_key(self, texts: Iterable[str]) -> bool:
        """Return whether one of these texts (the word for a key, errors of its place) reports another key there."""
        return any(matches_any(self.key_wrong, text.lower()) for text in texts)

    def key_event_of(self, texts: Iterable[str]) -> KeyEvent | None:
        """Return the key's event in the texts of a record; None if there is no known one."""
        small = [text.lower() for text in texts]
        lists = ((self.key_taken, KeyEvent.TAKEN), (self.key_returned, KeyEvent.RETURNED))
        return next((word for patterns, word in lists if any(matches_any(patterns, text) for text in small)), None)
