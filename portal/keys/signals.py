"""Register the keys' alerts, follow-ups of commands, search and timers."""

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db.models import Count, QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy

from accessapi.keys import KeyEvent
from portal.base.timers import celery_app, rounds
from portal.base.timers.celery_app import enqueue_after_commit
from portal.base.timers.clock import ClockTime, database_now
from portal.base.ui import batching, command_palette, nav
from portal.base.ui.command_palette import Hit
from portal.base.ui.nav import NavEntry
from portal.domain import events
from portal.domain.alerts import kinds, overdue_keys
from portal.domain.alerts.kinds import AlertKind, Observation, RuleSetting, RuleValues, tenants_having
from portal.domain.alerts.models import Alert, Severity
from portal.domain.budget.priorities import Priority
from portal.domain.events import MirrorKind
from portal.domain.history import visibility
from portal.domain.history.models import History
from portal.domain.intents import handlers
from portal.domain.intents.handlers import Finding
from portal.domain.intents.models import Intent, Reason, State
from portal.domain.intents.words import describe_command
from portal.domain.places.models import Key, KeyBox, KeyState
from portal.domain.sync import freshness, single_reads
from portal.keys import status_reading
from portal.keys.status_reading import READ_STALE
from tenants.access import TenantRequest
from tenants.audit_log import targets
from tenants.connections.service_clients import current_connection
from tenants.models import Tenant
from tenants.roles import Permission
from tenants.sentences import register_sentences, register_targets


def _find_overdue(tenant: Tenant, values: RuleValues) -> Iterator[Observation]:
    before = database_now() - timedelta(hours=values["hours"])
    for key in Key.objects.filter(state=KeyState.OUT, since__lte=before).select_related("key_box").order_by("pk"):
        yield _observation_of(key, key.since or before, hours=values["hours"])


def _find_misplaced(tenant: Tenant, values: RuleValues) -> Iterator[Observation]:
    for key in Key.objects.filter(wrong=True).select_related("key_box").order_by("pk"):
        yield _observation_of(key, key.read_at or database_now())


def _observation_of(key: Key, at: datetime, **more: int) -> Observation:
    box = key.key_box
    facts = {"device": box.key_device_id, "device_name": f"{box} {key}", **more}
    return Observation(f"key:{box.key_device_id}/{key.unit_no}", at, facts)


def _records_of_taking(tenant: Tenant, alert: Alert, records: Iterable[History]) -> list[History]:
    """Return the log records of the taking that an alert is about."""
    number, matches = alert.subject.rpartition("/")[2], list[History]()
    for each in records:
        if any(isinstance(unit, dict) and unit.get("unit_no") == number for unit in each.units):
            word = tenant.environment.catalogue.states.key_event_of(each.texts)
            matches = [each] if word is KeyEvent.TAKEN else [] if word and each.at < alert.began_at else matches
    return matches


def _keys_out_too_long(rules: Collection[RuleValues]) -> QuerySet[Key]:
    """Return the keys that have been out for as long as the strictest rule allows."""
    since = ClockTime() - timedelta(hours=min(each["hours"] for each in rules))
    return Key.reachable_objects.filter(state=KeyState.OUT, since__lte=since)


OVERDUE = AlertKind(
    name=overdue_keys.OVERDUE_RULE,
    message=gettext_lazy("%(place)s has been out for over %(hours)s hours."),
    past_message=gettext_lazy("%(place)s was out for over %(hours)s hours."),
    severity=Severity.WARNING,
    settings=(RuleSetting("hours", gettext_lazy("Out longer than (hours)"), overdue_keys.DEFAULT_HOURS, 1, 720),),
    find_current=_find_overdue,
    tenants_to_check=tenants_having(_keys_out_too_long),
    matching_records=_records_of_taking,
)
MISPLACED = AlertKind(
    name="key_wrong",
    message=gettext_lazy("%(place)s: another key is in its place."),
    past_message=gettext_lazy("%(place)s: another key was in its place."),
    severity=Severity.WARNING,
    find_current=_find_misplaced,
    tenants_to_check=tenants_having(lambda _rules: Key.reachable_objects.filter(wrong=True)),
)


def find_outcome(intent: Intent) -> Finding:
    """Read the box once. Only locking can be proven: a key that is locked now may have been released before."""
    connection = current_connection()
    status = single_reads.read_key_box_status(connection, intent.path["key_device_id"], Priority.DOORS)
    requested = set((intent.body or {}).get("targets", ()))
    lock_words = {unit.unit_no: str(unit.lock or "") for unit in status.units_status if unit.unit_no in requested}
    states = connection.tenant.environment.catalogue.states
    locked = set(lock_words) == requested and all(states.lock_state(word) == "locked" for word in lock_words.values())
    evidence = {
        "read": database_now().isoformat(timespec="seconds"),
        "lock": ", ".join(f"{number} {word}" for number, word in sorted(lock_words.items())),
    }
    return Finding(True if intent.is_lock and locked else None, evidence)


def on_command_finished(intent: Intent) -> None:
    """Save the request's details unencrypted, and make the box due: its keys may change soon."""
    intent.result["control"] = str((intent.body or {}).get("control", ""))
    intent.save(update_fields=["result"])
    if intent.state == State.SUCCEEDED or intent.reason == Reason.REQUEST_FAILED:
        box = KeyBox.objects.filter(key_device_id=intent.path.get("key_device_id", ""))
        if box.update(look_at=ClockTime()):
            enqueue_after_commit(READ_STALE, intent.tenant_id)


def find_boxes(request: TenantRequest, text: str) -> Iterator[Hit]:
    """Yield the first key boxes by name that contain `text`."""
    found = KeyBox.objects.filter(key_device_name__icontains=text).order_by("name_order", "pk")
    for box in found.only("tenant_id", "key_device_id", "key_device_name")[: command_palette.MAX_HITS]:
        yield Hit(str(box), reverse("keys:box", args=[request.tenant.slug, box.key_device_id]), "key")


def count_late_keys() -> QuerySet[Any, Any]:
    """Return the number of overdue keys by the activity log, as one row."""
    late = Key.objects.filter(state=KeyState.OUT, since__lte=overdue_keys.overdue_at())
    return late.order_by().values("tenant").annotate(n=Count("pk")).values_list("n")


def count_overdue(request: TenantRequest) -> int:
    """Return the number of overdue keys, for people who may see the log, as on the page of keys."""
    rows = batching.load_rows(request, "keys_overdue") if visibility.may_view_log(request.access) else []
    return sum(number for (number,) in rows)


batching.register_query("keys_overdue", count_late_keys)
nav.register_count("keys", count_overdue)
nav.register(NavEntry("keys", gettext_lazy("Keys"), "key", "keys:index", Permission.DEVICES_VIEW, contract="key_box"))
kinds.register(OVERDUE)
kinds.register(MISPLACED)
handlers.register(
    "operate_keys",
    on_finished=on_command_finished,
    reconcile=find_outcome,
    describe=partial(
        describe_command,
        uncertain=gettext_lazy("The key may have been released. The command will not be sent again."),
        failed=gettext_lazy("The service accepted it, then reported a failure. The key may have been released."),
        failed_lock=gettext_lazy("The service accepted it, then reported a failure. The key may not be locked."),
        advice=gettext_lazy("Check the key box or its status before you try again."),
    ),
)
command_palette.register(
    "key_boxes",
    gettext_lazy("Key boxes"),
    find_boxes,
    Permission.DEVICES_VIEW,
    partial(freshness.describe_unread, kind=MirrorKind.KEY_BOXES),
)
events.subscribe(MirrorKind.HISTORIES, status_reading.on_histories)
celery_app.declare(status_reading.READ_STALE, status_reading.read_due_boxes, queue="sync", seconds=280)
rounds.register(
    "key_boxes",
    rounds.enqueue_steps(status_reading.READ_STALE, status_reading.due_boxes),
    every=60.0,
    queue="sync",
)


register_sentences(
    {
        "key.unlock": gettext_lazy("Release key %(numbers)s: %(box)s"),
        "key.lock": gettext_lazy("Lock key %(numbers)s: %(box)s"),
        "alert_kind.key_overdue": gettext_lazy("Key overdue"),
        "alert_kind.key_wrong": gettext_lazy("Key in the wrong place"),
    }
)
register_targets({"key_box": gettext_lazy("Key box")})
targets.register_names("key_box", KeyBox, "key_device_id", "key_device_name")
