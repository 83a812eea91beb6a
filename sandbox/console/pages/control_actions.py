"""Settings that a person can change in the sandbox: clock, faults, behaviour, and a reset."""

from dataclasses import dataclass
from typing import Any, get_args

from pydantic import AwareDatetime, Field, field_validator

from sandbox import behaviour, clock
from sandbox.behaviour import Behaviour, UnknownSetting
from sandbox.console import setup
from sandbox.console.faults import FaultBody
from sandbox.console.pages.words import Words
from sandbox.console.request_bodies import RequestBody, ResetBody
from sandbox.faults import kinds, store

from .actions import FormAction
from .forms import InvalidForm, collect_errors
from .messages import Message

#: The setting that has a separate form.
CLOCK_SETTING = "clock_offset"
#: The kinds of faults, each with its fields.
FAULT_KINDS = {get_args(kind.model_fields["kind"].annotation)[0]: kind for kind in get_args(kinds.AnyFault)}


@dataclass(frozen=True)
class Target:
    """The owner of the settings: a tenant, or all tenants under the empty key."""

    key: str
    words: Words


class MoveForm(RequestBody):
    """One of three, by the button that was pressed; a time without an offset is in Japan."""

    seconds: float | None = Field(None, ge=-behaviour.MAX_CLOCK_SECONDS, le=behaviour.MAX_CLOCK_SECONDS)
    at: AwareDatetime | None = None
    way: str = ""

    @field_validator("at", mode="before")
    @classmethod
    def _in_japan(cls, value: str) -> str:
        return value if value.endswith("Z") or "+" in value else f"{value}{clock.format_moment(clock.now())[-6:]}"


class FaultForm(RequestBody):
    """A fault with its typed values; fields that its kind does not have are left out."""

    kind: str = ""
    operation: str = "0"
    count: str = "1"
    seconds: str = ""
    when: str = ""
    status: str = ""
    error_code: str = ""
    error_detail: str = ""
    body: str = ""
    reset: str = ""
    limit: str = ""


class ClearForm(RequestBody):
    """One fault, or all."""

    fault: int | None = Field(None, ge=0, lt=2**63)


class ResetForm(ResetBody):
    """The data to start with, and a word that confirms the reset. Limited, since a person waits for the page."""

    tenants: int = Field(3, ge=0, le=200)
    members: int = Field(200, ge=0, le=200_000)
    seed: int = Field(1, ge=0, lt=2**31)
    word: str = ""


def move_clock(target: Target, wanted: MoveForm) -> Message:
    """Move the clock by some time, to a time, or back to its default."""
    by = {"by": wanted.seconds, "to": wanted.at, "back": True}.get(wanted.way)
    if by is None:
        raise InvalidForm.for_field(
            "at" if wanted.way == "to" else "seconds", "missing" if wanted.way else "one_of_three"
        )
    try:
        behaviour.move_clock(
            target.key,
            seconds=wanted.seconds if wanted.way == "by" else None,
            at=wanted.at if wanted.way == "to" else None,
        )
    except UnknownSetting:
        raise InvalidForm.for_field("at" if wanted.way == "to" else "seconds", "too_far") from None
    return Message("plain", target.words["said"]["clock"])


def add_fault(target: Target, wanted: FaultForm) -> Message:
    """Add a fault for the next calls."""
    given = {name: value for name, value in wanted.model_dump().items() if value != ""}
    kind = FAULT_KINDS.get(wanted.kind)
    if kind is None:
        raise InvalidForm.for_field("kind", "literal_error")
    whose = {"tenant_id": target.key} | {name: given[name] for name in ("operation", "count") if name in given}
    whom, fault = collect_errors(
        lambda: FaultBody.model_validate(whose),
        lambda: kinds.read_fault({name: value for name, value in given.items() if name in kind.model_fields}),
    )
    store.add(fault, **whom.model_dump())
    return Message("plain", f"{target.words['said']['fault']} · {target.words['fault_kinds'][wanted.kind]}")


def clear_faults(target: Target, wanted: ClearForm) -> Message:
    """Delete faults; a tenant's page deletes only its own, the common page any."""
    store.clear(tenant_id=target.key or None, identifier=wanted.fault)
    return Message("plain", target.words["said"]["cleared"])


def set_behaviour(target: Target, wanted: Behaviour) -> Message:
    """Set the given values, and reset all others to their defaults."""
    names = set(Behaviour.model_fields) - {CLOCK_SETTING}
    given: dict[str, Any] = {name: getattr(wanted, name) for name in names & wanted.model_fields_set}
    behaviour.save_settings(target.key, dict.fromkeys(names) | given)
    return Message("plain", target.words["said"]["settings"])


def reset(target: Target, wanted: ResetForm) -> Message:
    """Delete everything, and seed again."""
    word = target.words["confirm_word"]
    if wanted.word.strip().casefold() != word:
        raise InvalidForm.for_field("word", "confirm", word=word)
    setup.reset(ResetBody(tenants=wanted.tenants, members=wanted.members, seed=wanted.seed))
    return Message("plain", target.words["said"]["reset"])


#: For all tenants; a single tenant has all but the last.
ACTIONS = {
    "clock": FormAction(MoveForm, move_clock, "clock-control"),
    "fault": FormAction(FaultForm, add_fault, "faults"),
    "clear": FormAction(ClearForm, clear_faults, "faults"),
    "settings": FormAction(Behaviour, set_behaviour, "behaviour"),
    "anew": FormAction(ResetForm, reset),
}
