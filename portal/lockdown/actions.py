"""Actions on lockdowns and evacuations: start, confirm, rehearse, send again, release, change the settings.

The settings are changed as a safety rule and used when an evacuation starts.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from portal.base.restore import marking
from portal.base.timers.clock import ClockTime, database_now
from portal.base.ui.value_words import join_values
from portal.devices import door_orders
from portal.devices.actions import DoorCommand
from portal.devices.door_orders import DONE, LASTING, NEWER, SENDING, control_of, send_command
from portal.domain.intents import actions as intents
from portal.domain.intents.models import State as Sent
from portal.domain.intents.nonces import Nonce, NotSubmitted
from portal.domain.intents.recording import Requester, lock_target
from portal.domain.places.models import PassController, natural_key
from portal.domain.safety import changing
from portal.domain.safety.changing import ChangeResult
from portal.domain.safety.rules import SafetyRule, SettingValues, on_or_off
from portal.lockdown.door_outcomes import LockdownOutcome, door_order_of, door_outcomes
from portal.lockdown.models import (
    Kind,
    Lockdown,
    LockdownDoor,
    LockdownSetting,
    Scope,
    SecondPersonRule,
    State,
    current_setting,
)
from portal.lockdown.preview import DoorSelection, LockdownPreview
from tenants import audit
from tenants.access import access_to
from tenants.roles import Permission
from tenants.sentences import coded_sentence

# How long an order waits for a second person.
CONFIRM_WITHIN = timedelta(minutes=10)


def start(*, kind: Kind = Kind.LOCKDOWN, selection: DoorSelection, by: Requester, nonce: Nonce) -> Lockdown:
    """Create an order with one request for each door, in one transaction. The same form returns the same order.

    If a second person has to confirm it, nothing is sent before.
    """
    doors = _chosen_doors(selection)
    with transaction.atomic():
        order, is_new = _get_or_create(kind, State.REQUESTED, selection, doors, by, nonce)
        if is_new and current_setting().needs_second_person(kind):
            order.confirm_by = database_now() + CONFIRM_WITHIN
            order.save(update_fields=["confirm_by"])
            _audit(by, "asked", order, len(doors))
        elif is_new:
            _activate(order, by, nonce)
    return order


def confirm(*, order: Lockdown, by: Requester, nonce: Nonce) -> Lockdown:
    """Start an order that another person requested, if they still have the permission.

    Deadlines count from this click.
    """
    with transaction.atomic():
        _one_at_a_time(by)
        order = _lock_order(order, State.REQUESTED)
        if order.started_by == by.user:
            raise NotSubmitted(_("Nothing was sent. Another person with this permission must confirm it."))
        if order.confirm_by is None or order.confirm_by <= database_now():
            raise NotSubmitted(_("Nothing was sent. It was not confirmed in time. Start a new one."))
        access = access_to(order.started_by, order.tenant)
        if access is None or not access.can(Permission.LOCKDOWN):
            raise NotSubmitted(
                _("Nothing was sent. The person who requested it no longer has permission. Start a new one.")
            )
        Lockdown.objects.filter(pk=order.pk).update(confirmed_by=by.user)
        _activate(order, by, nonce)
    return order


def withdraw(*, order: Lockdown, by: Requester, nonce: Nonce) -> Lockdown:
    """Cancel an order that no one has confirmed yet."""
    with transaction.atomic():
        order = _lock_order(order, State.REQUESTED)
        _end(order, State.WITHDRAWN, by)
        _audit(by, "withdrawn", order, order.doors.count())
    return order


def rehearse(*, kind: Kind = Kind.LOCKDOWN, selection: DoorSelection, by: Requester, nonce: Nonce) -> Lockdown:
    """Save what would be sent to each door, and send nothing."""
    doors = _chosen_doors(selection)
    with transaction.atomic():
        order, is_new = _get_or_create(kind, State.REHEARSED, selection, doors, by, nonce)
        if is_new:
            forecasts = {door.device_id: forecast for door, forecast in LockdownPreview.of(doors).forecasts()}
            rows = list(order.doors.all())
            for row in rows:
                row.forecast = forecasts[row.device_id] or ""
            LockdownDoor.objects.bulk_update(rows, ["forecast"])
            _audit(by, "rehearsed", order, len(rows))
    return order


def send_again(*, order: Lockdown, by: Requester, nonce: Nonce) -> Lockdown:
    """Send the command again to doors that were not reached. From now on it needs this person's permission."""
    with transaction.atomic():
        order = _lock_order(order)
        rows = [each.row for each in door_outcomes(order) if each.result not in (DONE, NEWER, SENDING)]
        door_orders.lock_doors(door_order_of(order), rows)
        for row in rows:
            send_command(row, door_order_of(order), by=by, nonce=Nonce(f"{nonce.value}-{row.pk}", nonce.clicked_at))
        marking.release_row("lockdowns", order.pk)
        Lockdown.objects.filter(pk=order.pk).update(by=by.user, due_at=ClockTime())
        if rows:
            _audit(by, "sent_again", order, len(rows))
    return order


def release(*, order: Lockdown, by: Requester, nonce: Nonce) -> Lockdown:
    """End the order: stop retries and withdraw requests that are not sent yet. No door is unlocked by this.

    Doors that are held for an evacuation are locked again, by a separate order, which is then returned.
    """
    with transaction.atomic():
        _one_at_a_time(by)
        order = _lock_order(order)
        found = door_outcomes(order)
        for each in found:
            if each.row.request is not None and each.row.request.state == Sent.QUEUED:
                intents.stop(each.row.request)
        _end(order, State.RELEASED, by)
        _audit(by, "released", order, len(found))
        if not order.is_evacuation or not (to_lock := _doors_to_lock(found)):
            return order
        selection = DoorSelection(Scope.CHOSEN, chosen=tuple(door.device_id for door in to_lock))
        relock, is_new = _get_or_create(Kind.RELOCK, State.REQUESTED, selection, to_lock, by, nonce)
        if is_new:
            _activate(relock, by, nonce)
        return relock


def _doors_to_lock(found: Sequence[LockdownOutcome]) -> list[PassController]:
    """Return the doors that the release of an evacuation locks: all but those with a newer command to lock or hold.

    Such a command may still be on its way.
    """
    newer = door_orders.newer_requests([each.row for each in found], DoorCommand.LOCK)
    lasting = {device_id for device_id, each in newer.items() if each.is_command or control_of(each.intent) in LASTING}
    return [each.door for each in found if each.door is not None and each.row.device_id not in lasting]


def _chosen_doors(selection: DoorSelection) -> list[PassController]:
    doors = selection.doors()
    if not doors:
        raise NotSubmitted(_("Nothing was sent. Select at least one door."))
    return doors


def _one_at_a_time(by: Requester) -> None:
    """Block other orders of this tenant until the transaction ends."""
    lock_target(by.tenant, "lockdown")


def _get_or_create(
    kind: Kind, state: State, selection: DoorSelection, doors: list[PassController], by: Requester, nonce: Nonce
) -> tuple[Lockdown, bool]:
    """Return the order of this form with a row for each door, and whether it is new."""
    _one_at_a_time(by)
    made = Lockdown.objects.filter(nonce=nonce.value).first()
    if made is not None:
        return made, False
    order = Lockdown.objects.create(
        nonce=nonce.value,
        kind=kind,
        state=state,
        scope=selection.scope,
        area_name=selection.area_name,
        by=by.user,
        started_by=by.user,
        ended_at=database_now() if state is State.REHEARSED else None,
    )
    LockdownDoor.objects.bulk_create(
        LockdownDoor(lockdown=order, device_id=door.device_id, name=str(door), before=door.state or "")
        for door in doors
    )
    return order, True


def _activate(order: Lockdown, by: Requester, nonce: Nonce) -> None:
    """Activate an order and send its requests. It replaces the previous active order of its kind.

    Other doors of the previous order are added to the new order, with their outcomes.
    """
    former = Lockdown.objects.select_for_update().filter(kind=order.kind, state=State.ACTIVE).first()
    if former is not None:
        _end(former, State.REPLACED, by)
        _audit(by, "replaced", former, former.doors.count())
    order.state, order.by, order.due_at = State.ACTIVE, by.user, database_now()
    order.save(update_fields=["state", "by", "due_at"])
    rows = list(order.doors.order_by("pk"))  # doors that are not locked come first
    door_orders.lock_doors(door_order_of(order), rows)
    for row in rows:
        send_command(row, door_order_of(order), by=by, nonce=Nonce(f"{nonce.value}-{row.pk}", nonce.clicked_at))
    if former is not None:
        _copy_other_doors(former, order)
    _audit(by, "started", order, len(rows))


def _copy_other_doors(former: Lockdown, order: Lockdown) -> None:
    known = set(order.doors.values_list("device_id", flat=True))
    rows = list(former.doors.exclude(device_id__in=known))
    for row in rows:
        row.pk, row.lockdown = None, order
    LockdownDoor.objects.bulk_create(rows)


def _lock_order(order: Lockdown, state: State = State.ACTIVE) -> Lockdown:
    """Return the order with its row locked, so that no retry runs. Raises NotSubmitted if it is in another state."""
    rows = Lockdown.objects.select_related("tenant__environment", "started_by").select_for_update(of=("self",))
    found = rows.filter(pk=order.pk, state=state).first()
    if found is None:
        raise NotSubmitted(_("Nothing was sent. This has already ended or changed. Reload the page."))
    return found


def _end(order: Lockdown, state: State, by: Requester) -> None:
    Lockdown.objects.filter(pk=order.pk).update(state=state, ended_at=ClockTime(), ended_by=by.user, due_at=None)


def _audit(by: Requester, action: str, order: Lockdown, doors: int) -> None:
    names = sorted(order.doors.values_list("name", flat=True), key=natural_key)
    starter = {} if order.started_by_id == by.user.pk else {"started_by": str(order.started_by)}
    audit.record(
        **by.audit_author,
        action=f"{order.kind}.{action}",
        target=f"lockdown:{order.pk}",
        summary=coded_sentence(f"{order.kind}.{action}", n=doors),
        after={"scope": order.scope, "area": order.area_name, "doors": names, **starter},
    )


def change_settings(*, evacuation: bool, doors: Sequence[str], second: SecondPersonRule, by: Requester) -> ChangeResult:
    """Change the settings; unknown doors are dropped. Raises NotChanged."""
    known = PassController.objects.order_by("name_order", "pk").values_list("device_id", flat=True)
    values = {"evacuation": evacuation, "doors": [each for each in known if each in doors], "second": second.value}
    return changing.change(SETTINGS_RULE, values, by=by)


def evacuation_doors() -> DoorSelection:
    """Return the doors that an evacuation unlocks. Raises NotSubmitted if evacuations are switched off."""
    setting = current_setting()
    if not setting.evacuation:
        raise NotSubmitted(_("Nothing was sent. Evacuation unlock is off. Choose its doors in the lockdown settings."))
    return DoorSelection(Scope.CHOSEN, chosen=tuple(setting.doors))


def _read_settings(_subject: str) -> dict[str, object]:
    setting = current_setting()
    return {"evacuation": setting.evacuation, "doors": list(setting.doors), "second": setting.second}


def _is_looser(_subject: str, before: SettingValues, after: SettingValues) -> bool:
    """Check whether fewer orders would need a second person, or an evacuation would unlock more doors."""
    old, new = LockdownSetting(**before), LockdownSetting(**after)
    if any(old.needs_second_person(kind) and not new.needs_second_person(kind) for kind in Kind):
        return True
    opened = set(old.doors) if old.evacuation else set()
    return new.evacuation and not (old.evacuation and set(new.doors) <= opened)


def _save_settings(subject: str, after: SettingValues, by: Requester) -> None:
    before = _read_settings(subject)
    LockdownSetting.objects.update_or_create(defaults=dict(after))
    summary = coded_sentence("lockdown.settings")
    audit.record(**by.audit_author, action="lockdown.settings", summary=summary, before=before, after=dict(after))


def _describe_settings(_subject: str, values: SettingValues) -> Mapping[str, str]:
    rows: Any = PassController.objects.filter(device_id__in=values["doors"]).order_by("name_order", "pk")
    return {
        _("Evacuation unlock"): on_or_off(values["evacuation"]),
        _("Doors of the evacuation unlock"): join_values(map(str, rows)),
        _("Second confirmation required for"): str(SecondPersonRule(values["second"]).label),
    }


SETTINGS_RULE = SafetyRule(
    name="lockdown",
    permission=Permission.LOCKDOWN_MANAGE,
    title=lambda _subject: coded_sentence("safety_rule.lockdown"),
    read=_read_settings,
    is_looser=_is_looser,
    save=_save_settings,
    describe=_describe_settings,
    page_route=lambda _subject: ("lockdown:settings",),
)
