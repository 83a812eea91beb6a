"""What a person can do in a house: show something to a device, break things, and repair them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from pydantic import Field

from sandbox import clock
from sandbox.console.pages.words import Words, sentences
from sandbox.console.requests import Control
from sandbox.engine import world
from sandbox.engine.outcomes import Outcome
from sandbox.engine.people import Kind
from sandbox.service.models import Guest, KeyBox, Member, PassController, Tenant

from . import people
from .actions import Act
from .forms import Wrong
from .messages import Message


@dataclass(frozen=True)
class Stage:
    """The tenant, the chosen device, and the chosen person; device and person may be empty."""

    tenant: Tenant
    device_id: str
    person_id: str
    words: Words

    @cached_property
    def door(self) -> PassController | None:
        """Return the door that was chosen."""
        rows = PassController.objects.select_related("area")
        return rows.filter(tenant=self.tenant, device_id=self.device_id).first()

    @cached_property
    def box(self) -> KeyBox | None:
        """Return the key box that was chosen."""
        return KeyBox.objects.filter(tenant=self.tenant, key_device_id=self.device_id).first()

    @cached_property
    def who(self) -> Member | Guest | None:
        """Return the member or guest who was chosen."""
        return people.find(self.tenant, self.person_id)

    @property
    def place(self) -> str:
        """Return the name of the device."""
        device = self.door or self.box
        return device.name if device else ""

    def value_of(self, kind: str) -> str:
        """Return what the chosen person shows of this kind at this moment. Raises Wrong."""
        if self.who is None:
            raise Wrong.at("shows", "no_person")
        found = next((item for item in people.carried(self.who, clock.now(), self.words) if item.kind == kind), None)
        if found is None:
            raise Wrong.at("shows", "not_carried")
        return found.value


class Showing(Control):
    """What is shown to the device: something the chosen person carries, or what was typed."""

    shows: Kind | Literal["typed"]
    kind: Kind = "card"
    value: str = Field("", max_length=1000)

    def read_by(self, stage: Stage) -> tuple[str, str]:
        """Return (kind, value) as the device reads it. Raises Wrong."""
        if self.shows != "typed":
            return self.shows, stage.value_of(self.shows)
        if not self.value:
            raise Wrong.at("value", "missing")
        return self.kind, self.value


class AtBox(Showing):
    """The same at a key box; the unit names the key that is taken or brought back."""

    take: str = Field("", max_length=2)
    bring: str = Field("", max_length=2)
    second_factor: bool = False


class ToDoor(Control):
    do: Literal["force", "hold", "close"]


class ToLines(Control):
    do: Literal["cut_power", "cut_connection", "restore_power", "restore_connection"]


class BoxSettings(Control):
    guest_keys_enabled: bool = False
    temporary_use_enabled: bool = False


def present(stage: Stage, wanted: Showing) -> Message:
    """Show something at the door."""
    outcome = world.present(stage.tenant, _chosen(stage), *wanted.read_by(stage))
    return _came_of_it(stage, outcome, "admitted", "refused")


def use_key(stage: Stage, wanted: AtBox) -> Message:
    """Take a key, or bring one back."""
    kind, value = wanted.read_by(stage)
    if wanted.take:
        outcome = world.take_key(
            stage.tenant, _chosen(stage), wanted.take, kind, value, second_factor=wanted.second_factor
        )
        return _came_of_it(stage, outcome, "taken", "not_taken")
    outcome = world.return_key(stage.tenant, _chosen(stage), wanted.bring, kind, value)
    return _came_of_it(stage, outcome, "returned", "not_returned")


def to_door(stage: Stage, wanted: ToDoor) -> Message:
    """Break, hold or shut the door."""
    ways = {"force": world.force_door, "hold": world.hold_door, "close": world.close_door}
    history = ways[wanted.do](stage.tenant, _chosen(stage))
    return _done(stage, wanted.do, history.history_id if history else "")


def to_lines(stage: Stage, wanted: ToLines) -> Message:
    """Cut or restore power or connection."""
    verb, _, line = wanted.do.partition("_")
    on = verb == "restore"
    found = world.set_lines(
        stage.tenant,
        _chosen(stage),
        has_power=on if line == "power" else None,
        is_connected=on if line == "connection" else None,
    )
    return _done(stage, wanted.do, found[0].history_id if found else "")


def set_box(stage: Stage, wanted: BoxSettings) -> Message:
    """Set what a key box may be used for, as on the member site."""
    if stage.box is None:
        raise Wrong.at("", "no_device")
    KeyBox.objects.filter(pk=stage.box.pk).update(**wanted.model_dump())
    return _done(stage, "box", "")


ACTS = {
    "present": Act(Showing, present, "here"),
    "key": Act(AtBox, use_key, "here"),
    "door": Act(ToDoor, to_door, "here"),
    "lines": Act(ToLines, to_lines, "here"),
    "box": Act(BoxSettings, set_box, "here"),
}


def _chosen(stage: Stage) -> str:
    if not stage.place:
        raise Wrong.at("", "no_device")
    return stage.device_id


def _came_of_it(stage: Stage, outcome: Outcome, good: str, bad: str) -> Message:
    words = stage.words
    who = outcome.person.name if outcome.person else ""
    title = f"{words[good if outcome.admitted else bad]} · {stage.place}" + (f" · {who}" if who else "")
    history_id = outcome.history.history_id if outcome.history else "-"
    return Message("good" if outcome.admitted else "bad", title, sentences.of(outcome.reason, words), history_id)


def _done(stage: Stage, word: str, history_id: str) -> Message:
    return Message("plain", f"{stage.words['said'][word]} · {stage.place}", history_id=history_id)
