"""The outcome of a person's action at a device, and its reason in words."""

from dataclasses import dataclass

from accessapi.permissions import Decision, explain_decision
from sandbox.service.models import History

from .recognition import Person

#: Reasons of the sandbox, in addition to those of accessapi.permissions.
REASONS = {
    "unknown_card": "Refused: unknown card.",
    "unknown_code": "Refused: unknown code.",
    "unknown_face": "Refused: unknown face.",
    "one_time_needed": "Refused: this member needs a one-time code.",
    "code_wrong": "Refused: the one-time code is wrong or too old.",
    "face_not_ready": "Refused: the face was registered less than 30 seconds ago.",
    "no_power": "The device has no power.",
    "restricted": "Refused: the key is not normally used.",
    "second_factor": "Refused: the second factor is missing.",
    "guest_keys_off": "Refused: this key box has no keys for guests.",
    "temporary_use": "Allowed by temporary use.",
    "key_out": "The key is out.",
    "key_in": "The key is in the box.",
    "key_replaced": "Another key is already in this place.",
    "wrong_key": "Another key is in this place.",
    "return": "A key can be returned throughout the use period.",
}


@dataclass(frozen=True)
class DeviceOutcome:
    """The device's decision; `rule` is the reason's code and `reason` its sentence.

    person: None if unknown; history: the record that was written, or None.
    """

    is_admitted: bool
    rule: str
    reason: str
    person: Person | None = None
    history: History | None = None


@dataclass(frozen=True)
class Verdict:
    """A decision before anything happened."""

    is_allowed: bool
    rule: str
    reason: str

    @classmethod
    def from_decision(cls, decision: Decision) -> "Verdict":
        """Return the verdict of the permissions; an unknown decision gives no access."""
        return cls(decision.allowed is True, decision.rule.value, explain_decision(decision))

    @classmethod
    def from_rule(cls, rule: str, *, allowed: bool = False) -> "Verdict":
        """Return the verdict of one of the sandbox's own rules."""
        return cls(allowed, rule, REASONS[rule])


NO_POWER = DeviceOutcome(False, "no_power", REASONS["no_power"])
