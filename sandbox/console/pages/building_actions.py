"""Actions of people in a building: show something to a device, break things, and repair them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from pydantic import Field

from sandbox import clock
from sandbox.console.pages.words import Words, sentences
from sandbox.console.request_bodies import RequestBody
from sandbox.engine import physical_actions
from sandbox.engine.device_outcomes import DeviceOutcome
from sandbox.engine.recognition import CredentialKind
from sandbox.service.models import Guest, KeyBox, Member, PassController, Tenant

from . import people
from .actions import FormAction
from .forms import InvalidForm
from .messages import Message


@dataclass(frozen=True)
class BuildingSelection:
    """The tenant, the chosen device, and the chosen person; device and person may be empty."""

    tenant: Tenant
    device_id: str
    person_id: str
    words: Words

    @cached_property
    def door(self) -> PassController | None:
        """Return the chosen door."""
        rows = PassController.objects.select_related("area")
        return rows.filter(tenant=self.tenant, device_id=self.device_id).first()

    @cached_property
    def box(self) -> KeyBox | None:
        """Return the chosen key box."""
        return KeyBox.objects.filter(tenant=self.tenant, key_device_id=self.device_id).first()

    @cached_property
    def person(self) -> Member | Guest | None:
        """Return the chosen member or guest."""
        return people.find(self.tenant, self.person_id)

    @property
    def device_name(self) -> str:
        device = self.door or self.box
        return device.name if device else ""

    def value_of(self, kind: str) -> str:
        """Return what the chosen person shows of this kind at this moment. Raises InvalidForm."""
        if self.person is None:
            raise InvalidForm.for_field("shows", "no_person")
        found = next(
            (item for item in people.credentials_of(self.person, clock.now(), self.words) if item.kind == kind), None
        )
        if found is None:
            raise InvalidForm.for_field("shows", "not_carried")
        return found.value


class CredentialForm(RequestBody):
    """A credential that is shown to the device: the chosen person's, or a typed one."""

    shows: CredentialKind | Literal["typed"]
    kind: CredentialKind = "card"
    value: str = Field("", max_length=1000)

    def credential_of(self, chosen: BuildingSelection) -> tuple[str, str]:
        """Return (kind, value) as the device reads it. Raises InvalidForm."""
        if self.shows != "typed":
            return self.shows, chosen.value_of(self.shows)
        if not self.value:
            raise InvalidForm.for_field("value", "missing")
        return self.kind, self.value


class KeyForm(CredentialForm):
    """The same at a key box; the unit names the key that is taken, brought back, or replaced by another."""

    take: str = Field("", max_length=2)
    bring: str = Field("", max_length=2)
    replace: str = Field("", max_length=2)
    second_factor: bool = False


class DoorForm(RequestBody):
    do: Literal["force", "hold", "close"]


class LinesForm(RequestBody):
    do: Literal["cut_power", "cut_connection", "restore_power", "restore_connection"]


class BoxForm(RequestBody):
    guest_keys_enabled: bool = False
    temporary_use_enabled: bool = False


def show_credential(chosen: BuildingSelection, wanted: CredentialForm) -> Message:
    """Show something at the door."""
    outcome = physical_actions.show_credential(chosen.tenant, _device_id(chosen), *wanted.credential_of(chosen))
    return _outcome_message(chosen, outcome, "admitted", "refused")


def use_key(chosen: BuildingSelection, wanted: KeyForm) -> Message:
    """Take a key, bring one back, or put a wrong one in its place."""
    kind, value = wanted.credential_of(chosen)
    if wanted.take:
        outcome = physical_actions.take_key(
            chosen.tenant, _device_id(chosen), wanted.take, kind, value, second_factor=wanted.second_factor
        )
        return _outcome_message(chosen, outcome, "taken", "not_taken")
    place, is_wrong = wanted.bring or wanted.replace, bool(wanted.replace)
    outcome = physical_actions.return_key(chosen.tenant, _device_id(chosen), place, kind, value, is_wrong=is_wrong)
    return _outcome_message(chosen, outcome, "replaced" if is_wrong else "returned", "not_returned")


def move_door(chosen: BuildingSelection, wanted: DoorForm) -> Message:
    """Force, hold or close the door."""
    ways = {
        "force": physical_actions.force_door,
        "hold": physical_actions.leave_door_open,
        "close": physical_actions.close_door,
    }
    history = ways[wanted.do](chosen.tenant, _device_id(chosen))
    return _change_message(chosen, wanted.do, history.history_id if history else "")


def change_lines(chosen: BuildingSelection, wanted: LinesForm) -> Message:
    """Cut or restore power or connection."""
    verb, _, line = wanted.do.partition("_")
    on = verb == "restore"
    found = physical_actions.set_power_and_connection(
        chosen.tenant,
        _device_id(chosen),
        has_power=on if line == "power" else None,
        is_connected=on if line == "connection" else None,
    )
    return _change_message(chosen, wanted.do, found[0].history_id if found else "")


def set_box(chosen: BuildingSelection, wanted: BoxForm) -> Message:
    """Set what a key box may be used for, as on the member site."""
    if chosen.box is None:
        raise InvalidForm.for_field("", "no_device")
    KeyBox.objects.filter(pk=chosen.box.pk).update(**wanted.model_dump())
    return _change_message(chosen, "box", "")


ACTIONS = {
    "present": FormAction(CredentialForm, show_credential, "here"),
    "key": FormAction(KeyForm, use_key, "here"),
    "door": FormAction(DoorForm, move_door, "here"),
    "lines": FormAction(LinesForm, change_lines, "here"),
    "box": FormAction(BoxForm, set_box, "here"),
}


def _device_id(chosen: BuildingSelection) -> str:
    if not chosen.device_name:
        raise InvalidForm.for_field("", "no_device")
    return chosen.device_id


def _outcome_message(chosen: BuildingSelection, outcome: DeviceOutcome, good: str, bad: str) -> Message:
    words = chosen.words
    who = outcome.person.name if outcome.person else ""
    title = f"{words[good if outcome.is_admitted else bad]} · {chosen.device_name}" + (f" · {who}" if who else "")
    history_id = outcome.history.history_id if outcome.history else "-"
    return Message(
        "good" if outcome.is_admitted else "bad", title, sentences.translate_sentence(outcome.reason, words), history_id
    )


def _change_message(chosen: BuildingSelection, word: str, history_id: str) -> Message:
    return Message("plain", f"{chosen.words['said'][word]} · {chosen.device_name}", history_id=history_id)
