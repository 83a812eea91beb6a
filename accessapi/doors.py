"""What the service's words about a door mean: its lock, its leaf, its power and line, and the events of its log.

The specification shows a few words of each and no complete set, so all of them are data of the table `[states]`. A word
that stands in no list means nothing here, and is shown as it came.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Patterns = tuple[Annotated[str, Field(min_length=1, max_length=100)], ...]


class DoorWord(StrEnum):
    """What is told about a door in one word."""

    FORCED = "forced"
    LEFT = "left"
    HELD = "held"
    LOCKED = "locked"
    OVER = "over"


class DoorWords(BaseModel):
    """The lists of words. A * matches anything; texts of the log and of errors are compared in small letters."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    locked: Patterns = ("lock", "locked")
    unlocked: Patterns = ("unlock", "unlocked", "open")
    leaf_open: Patterns = ("open", "opened")
    leaf_closed: Patterns = ("close", "closed")
    connected: Patterns = ("connected",)
    powered: Patterns = ("running",)
    forced_open: Patterns = ("forced_open*", "*forced open*")
    left_open: Patterns = ("open_too_long*", "*open too long*", "left_open*", "*left open*")
    held_unlocked: Patterns = ("*cont_unlock succeeded*",)
    over: Patterns = ("restore", "restored")

    @model_validator(mode="after")
    def _one_meaning_each(self) -> Self:
        for one, other in (("locked", "unlocked"), ("leaf_open", "leaf_closed")):
            if both := sorted(set(getattr(self, one)) & set(getattr(self, other))):
                raise ValueError(f"{both[0]} stands in {one} and in {other}")
        return self

    def is_locked(self, word: str | None) -> bool:
        """Whether a lock of which the service says this word is surely locked. A word in neither list says nothing."""
        return among(self.locked, word)

    def is_unlocked(self, word: str | None) -> bool:
        """Whether a lock of which the service says this word is surely unlocked."""
        return not self.is_locked(word) and among(self.unlocked, word)

    def lock(self, word: str | None) -> str:
        """locked, unlocked, or nothing for a word that stands in neither list."""
        if self.is_locked(word):
            return "locked"
        return "unlocked" if self.is_unlocked(word) else ""

    def leaf(self, word: str | None) -> str:
        """open, closed, or nothing for a word that stands in neither list."""
        if among(self.leaf_open, word):
            return "open"
        return "closed" if among(self.leaf_closed, word) else ""

    def is_connected(self, word: str | None) -> bool:
        """Whether a device is in reach; one that does not say is taken to be."""
        return not word or among(self.connected, word)

    def is_powered(self, word: str | None) -> bool:
        """Whether a device has power; one that does not say is taken to have it."""
        return not word or among(self.powered, word)

    def event(self, texts: Iterable[str]) -> DoorWord | None:
        """The most alarming thing that one of these texts (errors of a status, content of a record) tells."""
        small = [text.lower() for text in texts]
        lists = ((self.forced_open, DoorWord.FORCED), (self.left_open, DoorWord.LEFT))
        held = ((self.held_unlocked, DoorWord.HELD),)
        return next((word for patterns, word in lists + held if any(among(patterns, text) for text in small)), None)

    def is_over(self, status: str | None) -> bool:
        """Whether a record of this status says that what it tells of has ended."""
        return among(self.over, status)


def among(patterns: Patterns, word: str | None) -> bool:
    """Whether a word is one of these."""
    return bool(word) and any(fnmatchcase(str(word), pattern) for pattern in patterns)
