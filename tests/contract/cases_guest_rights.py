"""Operations 20 to 22: guests' access to areas and keys. It begins tomorrow; cleaning up ends it before."""

from dataclasses import dataclass

from tests.contract.lab import House
from tests.contract.outcomes import Differs, Unneeded
from tests.contract.registry import case
from tests.contract.shapes import Json, kind
from tests.contract.trips import SecondGuest, second_guest
from tests.contract.values import differences

_STAYS = ("use_date_start", "use_date_end", "key_return_date_end", "qrcode_data", "email", "remarks")


def _read(house: House, guest: SecondGuest) -> Json:
    return dict(house.call("read_guest", path=guest.path))


def _open_areas(read: Json) -> set[str]:
    """Return the areas that a guest can access at some time; "*" means all."""
    rights = read.get("devices_pass") or {}
    if rights.get("default_mode") == "allow_all":
        return {"*"}
    rows = rights.get("areas_list") if rights.get("default_mode") == "option" else []
    return {row["area_id"] for row in rows or [] if (row.get("pass") or {}).get("effect") != "deny_all"}


def _open_keys(read: Json) -> set[tuple[str, str]]:
    """Return the keys that a guest can use at some time; "*" means all."""
    rights = read.get("keys_pass") or {}
    if rights.get("default_mode") == "allow_all":
        return {("*", "*")}
    found = set()
    for box in (rights.get("key_devices_list") if rights.get("default_mode") == "option" else []) or []:
        if box.get("default_mode") == "allow_all":
            found.add((box["key_device_id"], "*"))
        elif box.get("default_mode") == "option":
            units = [unit for unit in box.get("units") or [] if (unit.get("pass") or {}).get("effect") != "deny_all"]
            found |= {(box["key_device_id"], unit["unit_no"]) for unit in units}
    return found


def _told(found: set[str]) -> str:
    return "all" if "*" in found else f"{len(found)} others" if found else "none"


def _areas_shown(house: House) -> SecondGuest:
    """Return the guest whose area the read can show. If only an update makes it appear, the creation lost it."""

    def look() -> SecondGuest:
        guest = second_guest(house)
        if not guest.area_id:
            raise Unneeded("create_guest", "the tenant has no areas")
        read = guest.read
        if _open_areas(read) == {guest.area_id}:
            return guest
        wrong = f"devices_pass: expected the area of area_id_list, got {_told(_open_areas(read))}"
        if house.reply("update_guest", path=guest.path, body={"area_id_list": [guest.area_id]}).fine:
            read = _read(house, guest)
            if _open_areas(read) == {guest.area_id}:
                raise Differs("create_guest", wrong)
        if read.get("devices_pass") is None:
            wrong = f"devices_pass: expected an object, got {kind(None)}"
        raise Differs("read_guest", wrong)

    return house.once("areas shown", look)  # type: ignore[no-any-return]


@case("create_guest", "gives the areas that it names, and no others", needs=("door",))
def gives_areas(house: House) -> None:
    _areas_shown(house)


@case("update_guest", "leaves areas, keys, remarks and grace when it names only the guest")
def leaves_the_rest(house: House) -> None:
    guest = second_guest(house)
    house.call("update_guest", path=guest.path, body={"remarks": "contract suite"})
    before = _read(house, guest)
    house.call("update_guest", path=guest.path, body={"guest_name": house.name("two renamed")})
    after = _read(house, guest)
    stays = {name: before[name] for name in _STAYS if before.get(name) is not None}
    wrong = list(differences(stays, after).values())
    if _open_areas(before) != _open_areas(after):
        wrong.append(f"devices_pass: {len(_open_areas(before))} areas before, {len(_open_areas(after))} after")
    if _open_keys(before) != _open_keys(after):
        wrong.append(f"keys_pass: {len(_open_keys(before))} keys before, {len(_open_keys(after))} after")
    if wrong:
        raise Differs("update_guest", f"changed though not named: {'; '.join(wrong[:3])}")


@case("update_guest", "gives and takes the areas that it names", needs=("door",))
def changes_areas(house: House) -> None:
    guest = _areas_shown(house)
    for given in ([], house.area_ids()[-1:], [guest.area_id]):
        house.call("update_guest", path=guest.path, body={"area_id_list": given})
        found = _open_areas(_read(house, guest))
        if found != set(given):
            raise Differs(
                "update_guest", f"devices_pass: expected {len(given)} areas after area_id_list, got {_told(found)}"
            )


@dataclass(frozen=True)
class _Keys:
    by_create: bool
    by_update: bool
    after_removal: bool


def _keys_shown(house: House) -> _Keys:
    """Return the guest whose key the read can show. Without the device setting for guest keys it may never appear."""

    def look() -> _Keys:
        guest = second_guest(house)
        if not guest.key_device_id:
            raise Unneeded("create_guest", "no key box takes guests; its device setting may be off")
        shown = []
        for changes in (None, {"key_devices_list": []}, {"key_devices_list": [guest.key]}):
            if changes is not None:
                house.call("update_guest", path=guest.path, body=changes)
            found = _open_keys(guest.read if changes is None else _read(house, guest))
            shown.append(bool(found & {(guest.key_device_id, guest.unit_no), (guest.key_device_id, "*"), ("*", "*")}))
        by_create, after_removal, by_update = shown
        if not by_create and not by_update:
            raise Unneeded("create_guest", "no key of a guest is shown; the device setting may be off")
        return _Keys(by_create, by_update, after_removal)

    return house.once("keys shown", look)  # type: ignore[no-any-return]


@case("create_guest", "gives the keys that it names", needs=("key_box",))
def gives_keys(house: House) -> None:
    if not _keys_shown(house).by_create:
        raise Differs("create_guest", "keys_pass: expected the key of key_devices_list, got none")


@case("update_guest", "gives and takes the keys that it names", needs=("key_box",))
def changes_keys(house: House) -> None:
    shown = _keys_shown(house)
    if shown.by_create and not shown.by_update:
        raise Differs("update_guest", "keys_pass: expected the key of key_devices_list, got none")
    if shown.by_create and shown.after_removal:
        raise Differs("update_guest", "keys_pass: expected no key after an empty key_devices_list, got one")
