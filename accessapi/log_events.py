"""The events of log records: what the service's texts about doors, keys and refusals mean.

The specification has no complete set of these texts. So they are data of the table `[states]`, like the words of doors
(`accessapi.doors`) and keys (`accessapi.keys`). A text in no list has no meaning here and is shown unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from fnmatch import translate
from functools import cached_property
from typing import NamedTuple

from accessapi.doors import DoorVocabulary, Patterns
from accessapi.keys import KeyVocabulary


class LogEvent(StrEnum):
    """The event of a record. Each value is the name of its list of texts in `EventVocabulary`."""

    FORCED_OPEN = "forced_open"
    LEFT_OPEN = "left_open"
    HELD = "held_unlocked"
    POWER_CUT = "power_cut"
    LOST = "lost"
    KEY_WRONG = "key_wrong"
    KEY_TAKEN = "key_taken"
    KEY_RETURNED = "key_returned"
    TEMPORARY_KEYS = "temporary_keys"
    NO_RIGHT = "refused_no_right"
    NEVER = "refused_never"
    OUTSIDE_HOURS = "refused_hours"
    USE_NOT_BEGUN = "refused_before_use"
    USE_OVER = "refused_after_use"
    UNKNOWN_CARD = "refused_card"
    UNKNOWN_CODE = "refused_code"
    UNKNOWN_FACE = "refused_face"
    CODE_NEEDED = "refused_no_one_time_code"
    CODE_WRONG = "refused_one_time_code"
    FACE_TOO_NEW = "refused_new_face"
    KEY_RESTRICTED = "refused_restricted_key"
    FACTOR_MISSING = "refused_second_factor"
    NO_GUEST_KEYS = "refused_guest_keys"
    ENTRY = "entered"
    EXIT = "exited"


class RemoteCommand(NamedTuple):
    """A command that was sent from elsewhere, as a record describes it. `by` is an e-mail address or empty."""

    control: str
    has_failed: bool = False
    by: str = ""


class EventVocabulary(DoorVocabulary, KeyVocabulary):
    """The lists of texts of log records, compared in lower case."""

    power_cut: Patterns = ("power_cut*", "*power cut*")
    temporary_keys: Patterns = ("temporary use*",)
    entered: Patterns = ("entry*",)
    exited: Patterns = ("exit*",)
    refused_no_right: Patterns = ("*no access right*",)
    refused_never: Patterns = ("*set to “never”*",)
    refused_hours: Patterns = ("*outside the scheduled hours*", "*outside of hours*")
    refused_before_use: Patterns = ("*use period has not begun*",)
    refused_after_use: Patterns = ("*use period is over*",)
    refused_card: Patterns = ("*unknown card*", "*has this card*")
    refused_code: Patterns = ("*unknown code*", "*has this code*")
    refused_face: Patterns = ("*unknown face*", "*has registered this face*")
    refused_no_one_time_code: Patterns = ("*needs a one-time code*",)
    refused_one_time_code: Patterns = ("*one-time code is wrong*",)
    refused_new_face: Patterns = ("*face was registered less than*",)
    refused_restricted_key: Patterns = ("*key is not normally used*",)
    refused_second_factor: Patterns = ("*second factor is missing*",)
    refused_guest_keys: Patterns = ("*no keys for guests*",)

    def log_event_of(self, text: str) -> LogEvent | None:
        """Return the most serious event in a record's text; None if no list has it."""
        small = text.lower()
        return next((event for event, pattern in self._event_patterns if pattern.match(small)), None)

    def remote_command_of(self, text: str) -> RemoteCommand | None:
        """Return the command in a record's text; None if it has none."""
        found, event = _REMOTE.match(text), self.log_event_of(text)
        if found is None and event is not LogEvent.HELD:
            return None
        by = _ADDRESS.search(text)
        control, outcome = (found["control"], found["outcome"]) if found else ("cont_unlock", "")
        return RemoteCommand(control, self._has_failed(outcome), by[0] if by else "")

    def _has_failed(self, outcome: str) -> bool:
        """Return whether a word is one for failed requests (`device_request_failed` of `States`)."""
        failed: Patterns = getattr(self, "device_request_failed", ())
        return any(re.match(translate(pattern), outcome) for pattern in failed)

    @cached_property
    def _event_patterns(self) -> Sequence[tuple[LogEvent, re.Pattern[str]]]:
        lists = ((event, getattr(self, event.value)) for event in LogEvent)
        return [(event, re.compile("|".join(map(translate, patterns)))) for event, patterns in lists if patterns]


_REMOTE = re.compile(r"remote (?P<control>(?:cont_|in_|out_)?unlock|lock) (?P<outcome>\w+)", re.IGNORECASE)
_ADDRESS = re.compile(r"[^\s;,()<>]+@[^\s;,()<>]+")
