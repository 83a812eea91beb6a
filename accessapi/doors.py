"""The meaning of the service's words about a door: its lock, leaf, power, connection, direction and log events.

The specification shows a few of these words and no complete set, so all of them are data of the table `[states]`. A
word in no list has no meaning here and is shown unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Patterns = tuple[Annotated[str, Field(min_length=1, max_length=100)], ...]


class DoorEvent(StrEnum):
    """The meaning of a word of the service about a door."""

    FORCED_OPEN = "forced"
    LEFT_OPEN = "left"
    HELD_UNLOCKED = "held"
    LOCKED = "locked"
    PASSING = "passing"
    CONNECTION_LOST = "lost"
    CONNECTION_RESTORED = "back"
    PROBLEM_OVER = "over"


# Pairs of lists. A word can be in only one list of a pair.
_EXCLUSIVE_LISTS = (("locked", "unlocked"), ("leaf_open", "leaf_closed"), ("begun", "over"), ("way_in", "way_out"))


class DoorVocabulary(BaseModel):
    """The lists of words. A * matches anything; texts of the log and of errors are compared in lower case."""

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
    lost: Patterns = ("connection_lost*", "*connection lost*", "power_cut*", "*power cut*")
    begun: Patterns = ("occur",)
    over: Patterns = ("restore", "restored")
    way_in: Patterns = ("in",)
    way_out: Patterns = ("out",)

    @model_validator(mode="after")
    def _one_meaning_each(self) -> Self:
        check_exclusive(self, *_EXCLUSIVE_LISTS)
        return self

    def is_locked(self, word: str | None) -> bool:
        """Return whether this word for a lock means locked. A word in neither list has no meaning."""
        return matches_any(self.locked, word)

    def is_unlocked(self, word: str | None) -> bool:
        """Return whether this word for a lock means unlocked."""
        return not self.is_locked(word) and matches_any(self.unlocked, word)

    def lock_state(self, word: str | None) -> str:
        """Return "locked", "unlocked", or "" for a word in neither list."""
        if self.is_locked(word):
            return "locked"
        return "unlocked" if self.is_unlocked(word) else ""

    def leaf_state(self, word: str | None) -> str:
        """Return "open", "closed", or "" for a word in neither list."""
        if matches_any(self.leaf_open, word):
            return "open"
        return "closed" if matches_any(self.leaf_closed, word) else ""

    def direction(self, word: str | None) -> str:
        """Return the direction of a door in an area: "in", "out", or "" for a word in neither list."""
        if matches_any(self.way_in, word):
            return "in"
        return "out" if matches_any(self.way_out, word) else ""

    def is_connected(self, word: str | None) -> bool:
        """Return whether the device is connected; True if the word is missing."""
        return not word or matches_any(self.connected, word)

    def is_powered(self, word: str | None) -> bool:
        """Return whether the device has power; True if the word is missing."""
        return not word or matches_any(self.powered, word)

    def event_of(self, texts: Iterable[str]) -> DoorEvent | None:
        """Return the most serious event in these texts (errors of a status, content of a record)."""
        small = [text.lower() for text in texts]
        lists = ((self.forced_open, DoorEvent.FORCED_OPEN), (self.left_open, DoorEvent.LEFT_OPEN))
        others = ((self.held_unlocked, DoorEvent.HELD_UNLOCKED), (self.lost, DoorEvent.CONNECTION_LOST))
        return next(
            (word for patterns, word in lists + others if any(matches_any(patterns, text) for text in small)), None
        )

    def is_begun(self, status: str | None) -> bool:
        """Return whether a record with this status only means that its event happened."""
        return not status or matches_any(self.begun, status)

    def is_over(self, status: str | None) -> bool:
        """Return whether a record with this status means that its event has ended."""
        return matches_any(self.over, status)


def check_exclusive(table: BaseModel, *pairs: tuple[str, str]) -> None:
    """Raise ValueError if a word is in both lists of one of these pairs."""
    for one, other in pairs:
        if both := sorted(set(getattr(table, one)) & set(getattr(table, other))):
            raise ValueError(f"{both[0]} stands in {one} and in {other}")


def matches_any(patterns: Patterns, word: str | None) -> bool:
    """Return whether the word is in this list."""
    return bool(word) and any(fnmatchcase(str(word), pattern) for pattern in patterns)


def word_from(patterns: Patterns, word: str) -> str:
    """Return the word if it is in this list, else the first word of the list without its wildcards."""
    return word if not patterns or matches_any(patterns, word.lower()) else patterns[0].strip("*")
