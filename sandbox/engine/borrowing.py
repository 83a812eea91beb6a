"""Take keys out of key boxes and bring them back."""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from accessapi.permissions import KeyPlace, decide_place
from sandbox import behaviour, clock
from sandbox.engine import activity_log, keys, recognition, steps, temporary_keys
from sandbox.engine.device_outcomes import NO_POWER, DeviceOutcome, Verdict
from sandbox.engine.recognition import NotRecognised, Person
from sandbox.errors import not_found
from sandbox.service.models import Guest, KeyBox, KeyUse, Tenant

_ANYWHERE = {"default_mode": "allow_all"}


def take_key(
    tenant: Tenant,
    key_device_id: str,
    unit_no: str,
    kind: str,
    value: str,
    at: datetime | None = None,
    *,
    second_factor: bool = True,
) -> DeviceOutcome:
    """Show `value` to a key box and take a key; kinds as in `physical_actions.show_credential`.

    `second_factor` is whether the person proves their identity twice, which members without the privilege must. Raises
    ApiError (40401) for a box or unit that does not exist.
    """
    steps.advance(tenant)
    at = at or clock.now()
    with transaction.atomic():
        box, unit = _find_key(tenant, key_device_id, unit_no)
        if not box.has_power:
            return NO_POWER
        if unit_no in keys.return_due_keys(tenant, box, clock.now()):
            return _refused_without_record("key_out")
        try:
            person = recognition.recognise(tenant, kind, value, at)
        except NotRecognised as refusal:
            return _record_not_recognised(tenant, box, unit_no, refusal, kind, value, at)
        verdict = _may_take(tenant, box, unit, person, at, second_factor)
        if verdict.is_allowed:
            _hand_out(tenant, box, unit_no, person, at)
        return _record_outcome(tenant, box, unit_no, verdict, person, activity_log.KEY_TAKEN, at)


def return_key(
    tenant: Tenant,
    key_device_id: str,
    unit_no: str,
    kind: str,
    value: str,
    at: datetime | None = None,
    *,
    is_wrong: bool = False,
) -> DeviceOutcome:
    """Bring a key back, also one that another person took.

    Allowed throughout the use period, for guests also in their grace period. With `is_wrong`, another key is put in its
    place, which the box notices (assumed). Raises ApiError (40401) for a box or unit that does not exist.
    """
    steps.advance(tenant)
    at = at or clock.now()
    with transaction.atomic():
        box, _ = _find_key(tenant, key_device_id, unit_no)
        if not box.has_power:
            return NO_POWER
        use = keys.return_due_keys(tenant, box, clock.now()).get(unit_no)
        if use is None:
            return _refused_without_record("key_in")
        if is_wrong and use.is_replaced:
            return _refused_without_record("key_replaced")
        try:
            person = recognition.recognise(tenant, kind, value, at)
        except NotRecognised as refusal:
            return _record_not_recognised(tenant, box, unit_no, refusal, kind, value, at)
        place = KeyPlace(box.key_device_id, unit_no)
        decision = decide_place(_ANYWHERE, place, at, use_period=person.return_period)
        if decision.allowed is not True:
            return _record_outcome(tenant, box, unit_no, Verdict.from_decision(decision), person, "", at)
        use.box = box
        history = (keys.replace if is_wrong else keys.put_back)(tenant, use, at, person.record_entry())
    verdict = Verdict.from_rule("wrong_key" if is_wrong else "return", allowed=True)
    return DeviceOutcome(True, verdict.rule, verdict.reason, person, history)


def _find_key(tenant: Tenant, key_device_id: str, unit_no: str) -> tuple[KeyBox, dict[str, Any]]:
    box = KeyBox.objects.select_for_update(no_key=True).filter(tenant=tenant, key_device_id=key_device_id).first()
    if box is None:
        raise not_found("key_device_id")
    unit = next((unit for unit in box.units if unit["unit_no"] == unit_no), None)
    if unit is None:
        raise not_found("unit_no")
    return box, unit


def _may_take(
    tenant: Tenant, box: KeyBox, unit: dict[str, Any], person: Person, at: datetime, second_factor: bool
) -> Verdict:
    if not second_factor and not person.has_privilege("keys_without_2fa"):
        return Verdict.from_rule("second_factor")
    if isinstance(person.row, Guest):
        decision = person.decide(tenant, KeyPlace(box.key_device_id, unit["unit_no"]), at)
        return Verdict.from_decision(decision) if box.guest_keys_enabled else Verdict.from_rule("guest_keys_off")
    decision = person.decide(tenant, KeyPlace(box.key_device_id, unit["unit_no"]), at)
    restricted = unit.get("restriction") and not person.has_privilege("restricted_keys_enabled")
    if decision.allowed is True and not restricted:
        return Verdict.from_decision(decision)
    if temporary_keys.may_use(person.row, box, unit["unit_no"], at):
        return Verdict.from_rule("temporary_use", allowed=True)
    return Verdict.from_rule("restricted") if decision.allowed is True else Verdict.from_decision(decision)


def _hand_out(tenant: Tenant, box: KeyBox, unit_no: str, person: Person, at: datetime) -> None:
    seconds = behaviour.behaviour_of(tenant.tenant_id).keys_return_seconds
    due_at = at + timedelta(seconds=seconds)
    KeyUse.objects.create(box=box, unit_no=unit_no, holder=person.record_entry(), taken_at=at, due_at=due_at)


def _record_outcome(
    tenant: Tenant, box: KeyBox, unit_no: str, verdict: Verdict, person: Person, done: str, at: datetime
) -> DeviceOutcome:
    history = activity_log.write_record(
        tenant,
        at,
        category=activity_log.Category.NORMAL if verdict.is_allowed else activity_log.Category.WARNING,
        status=activity_log.Status.OCCUR,
        content=done if verdict.is_allowed else verdict.reason,
        member=person.record_entry(),
        device=activity_log.device_entry(box, [unit_no]),
        held_by=activity_log.held_back_by(box),
    )
    return DeviceOutcome(verdict.is_allowed, verdict.rule, verdict.reason, person, history)


def _record_not_recognised(
    tenant: Tenant, box: KeyBox, unit_no: str, refusal: NotRecognised, kind: str, value: str, at: datetime
) -> DeviceOutcome:
    verdict = Verdict.from_rule(refusal.rule)
    history = activity_log.write_record(
        tenant,
        at,
        category=activity_log.Category.SUSPICIOUS,
        status=activity_log.Status.OCCUR,
        content=verdict.reason,
        member=refusal.person.record_entry() if refusal.person else recognition.unknown_person_entry(kind, value),
        device=activity_log.device_entry(box, [unit_no]),
        held_by=activity_log.held_back_by(box),
    )
    return DeviceOutcome(False, verdict.rule, verdict.reason, refusal.person, history)


def _refused_without_record(rule: str) -> DeviceOutcome:
    verdict = Verdict.from_rule(rule)
    return DeviceOutcome(False, verdict.rule, verdict.reason)
