"""Register the doors' alerts, follow-ups of commands, banners, search and timers."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accessapi.doors import DoorEvent
from portal.base.timers import celery_app, rounds
from portal.base.timers.clock import ClockTime, database_now
from portal.base.ui import command_palette, frame, nav, panels
from portal.base.ui.command_palette import Hit
from portal.base.ui.frame import Banner, Rank
from portal.base.ui.nav import NavEntry
from portal.devices import door_orders, holds, queries, status_reading
from portal.devices.actions import DoorCommand
from portal.devices.alert_panel import draw_door_of_alert
from portal.devices.models import Hold
from portal.devices.queries import HoldTexts, is_held
from portal.devices.status_reading import URGENT_DOORS, door_word_of
from portal.domain import events
from portal.domain.alerts import kinds
from portal.domain.alerts.kinds import AlertKind, Observation, RuleSetting, RuleValues, TenantFilter, tenants_having
from portal.domain.alerts.log_alerts import place_of
from portal.domain.alerts.models import Alert, Severity
from portal.domain.alerts.past_log import PastLog
from portal.domain.alerts.scopes import EVERYWHERE, Scope
from portal.domain.budget.priorities import Priority
from portal.domain.cameras import door_command_pictures
from portal.domain.events import MirrorKind
from portal.domain.history.models import History
from portal.domain.intents import handlers
from portal.domain.intents.handlers import Finding
from portal.domain.intents.models import Intent, Reason, State
from portal.domain.intents.words import describe_command
from portal.domain.people.text_folding import search_words
from portal.domain.places import door_states
from portal.domain.places.door_states import LOUD_STATES
from portal.domain.places.models import DoorState, PassController
from portal.domain.sync import freshness, single_reads
from tenants.access import TenantRequest
from tenants.audit_log import targets
from tenants.connections.service_clients import current_connection
from tenants.models import Tenant
from tenants.roles import Permission
from tenants.sentences import register_sentences, register_subject, register_targets


def _doors_in(states: Sequence[DoorState], minutes: int = 0) -> Iterator[Observation]:
    """Yield the doors that have been in one of these states for so many minutes."""
    before = database_now() - timedelta(minutes=minutes)
    for door in PassController.objects.filter(state__in=states, state_since__lte=before):
        facts = {"device": door.device_id, "device_name": door.device_name, "minutes": minutes}
        yield Observation(f"pass_controller:{door.device_id}", door.state_since or before, facts)


def _find_forced(tenant: Tenant, values: RuleValues) -> Iterator[Observation]:
    return _doors_in(FORCED.door_states)


def _find_left_open(tenant: Tenant, values: RuleValues) -> Iterator[Observation]:
    return _doors_in(LEFT_OPEN.door_states, values["minutes"])


def _find_offline(tenant: Tenant, values: RuleValues) -> Iterator[Observation]:
    return _doors_in(OFFLINE.door_states, values["minutes"])


def _tenants_with(*states: DoorState) -> TenantFilter:
    """Return the filter for tenants with doors in these states for as long as the rule with the shortest time."""

    def doors(rules: Collection[RuleValues]) -> QuerySet[PassController]:
        since = ClockTime() - timedelta(minutes=min(each.get("minutes", 0) for each in rules))
        return PassController.reachable_objects.filter(state__in=states, state_since__lte=since)

    return tenants_having(doors)


def _find_forced_in_records(
    tenant: Tenant, records: Sequence[History], values: RuleValues, scope: Scope
) -> Iterator[Observation]:
    states = tenant.environment.catalogue.states
    for each in records:
        forced = states.event_of([each.text]) == DoorEvent.FORCED_OPEN
        if forced and each.device_id:
            over = door_word_of(each, states) is DoorEvent.PROBLEM_OVER
            yield Observation(f"pass_controller:{each.device_id}", each.at, place_of(each), [each], has_ended=over)


def _records_of(past: PastLog, patterns: Sequence[str]) -> list[History]:
    """Return the records of a past period that contain one of these events, in order of time."""
    found: dict[str, History] = {}
    for pattern in patterns:
        words = search_words(max(pattern.split("*"), key=len))
        found |= {each.history_id: each for each in past.find(words=words)}
    return sorted(found.values(), key=lambda each: (each.at, each.pk))


def _find_forced_in_past(past: PastLog, values: RuleValues) -> Iterator[Observation]:
    patterns, over_at = past.tenant.environment.catalogue.states.forced_open, dict[str, datetime]()
    found = list(_find_forced_in_records(past.tenant, _records_of(past, patterns), values, EVERYWHERE))
    for each in reversed(found):
        if each.has_ended:
            over_at[each.subject] = each.at
        else:
            yield replace(each, over_at=over_at.get(each.subject, past.until))


def _find_left_open_in_past(past: PastLog, values: RuleValues) -> Iterator[Observation]:
    """Yield observations from records of doors left open that were not closed within the rule's minutes."""
    states, within = past.tenant.environment.catalogue.states, timedelta(minutes=values["minutes"])
    begun: dict[str, History] = {}
    for each in _records_of(past, states.left_open):
        first = begun.pop(each.device_id, None) if door_word_of(each, states) is DoorEvent.PROBLEM_OVER else None
        if first is not None and each.at - first.at >= within:
            yield Observation(f"pass_controller:{each.device_id}", first.at + within, place_of(first), over_at=each.at)
        elif door_word_of(each, states) is DoorEvent.LEFT_OPEN:
            begun.setdefault(each.device_id, each)
    for each in begun.values():
        if each.at + within <= past.until:
            yield Observation(f"pass_controller:{each.device_id}", each.at + within, place_of(each), over_at=past.until)


def _record_finder(*words: DoorEvent) -> Callable[[Tenant, Alert, Iterable[History]], list[History]]:
    """Return the function that finds the records of an alert with one of these events.

    Records of an earlier problem that was over before the alert began are left out.
    """

    def found(tenant: Tenant, alert: Alert, records: Iterable[History]) -> list[History]:
        states, matches = tenant.environment.catalogue.states, list[History]()
        for each in records:
            word = door_word_of(each, states)
            if word in words:
                matches.append(each)
            elif word is DoorEvent.PROBLEM_OVER and each.at < alert.began_at:
                matches = []
        return matches

    return found


FORCED = AlertKind(
    name="forced",
    message=gettext_lazy("%(place)s has been forced open."),
    past_message=gettext_lazy("%(place)s was forced open."),
    severity=Severity.ALARM,
    has_scope=True,
    is_about_door=True,
    door_states=(DoorState.FORCED_OPEN,),
    find_in_new_records=_find_forced_in_records,
    find_current=_find_forced,
    tenants_to_check=_tenants_with(DoorState.FORCED_OPEN),
    find_in_past=_find_forced_in_past,
    matching_records=_record_finder(DoorEvent.FORCED_OPEN),
)
LEFT_OPEN = AlertKind(
    name="left_open",
    message=gettext_lazy("%(place)s has been open for over %(minutes)s minutes."),
    past_message=gettext_lazy("%(place)s was open for over %(minutes)s minutes."),
    severity=Severity.WARNING,
    settings=(RuleSetting("minutes", gettext_lazy("Open longer than (minutes)"), 5, 1, 1440),),
    has_scope=True,
    is_about_door=True,
    door_states=(DoorState.LEFT_OPEN, DoorState.OPEN),
    find_current=_find_left_open,
    tenants_to_check=_tenants_with(DoorState.LEFT_OPEN, DoorState.OPEN),
    find_in_past=_find_left_open_in_past,
    matching_records=_record_finder(DoorEvent.LEFT_OPEN),
)
OFFLINE = AlertKind(
    name="offline",
    message=gettext_lazy("%(place)s has been offline for over %(minutes)s minutes."),
    past_message=gettext_lazy("%(place)s was offline for over %(minutes)s minutes."),
    severity=Severity.WARNING,
    settings=(RuleSetting("minutes", gettext_lazy("Offline longer than (minutes)"), 15, 1, 1440),),
    has_scope=True,
    door_states=(DoorState.OFFLINE,),
    find_current=_find_offline,
    tenants_to_check=_tenants_with(DoorState.OFFLINE),
)

panels.register("alert_door", draw_door_of_alert)


_DOOR_WORDS = {
    DoorCommand.HOLD.value: DoorEvent.HELD_UNLOCKED,
    DoorCommand.LOCK.value: DoorEvent.LOCKED,
    DoorCommand.UNLOCK.value: DoorEvent.PASSING,
    DoorCommand.IN.value: DoorEvent.PASSING,
    DoorCommand.OUT.value: DoorEvent.PASSING,
}


def find_outcome(intent: Intent) -> Finding:
    """Read the door once.

    Only locking can be proven by reading, because an unlocked door may have been locked again.

    If a hold's answer was lost and the door is held unlocked, this is recorded so that every page shows it.
    """
    connection = current_connection()
    status = single_reads.read_door_status(connection, intent.path["device_id"], Priority.DOORS)
    door = status.door_status
    lock_word = str(getattr(door, "lock", "") or "")
    evidence = {
        "read": database_now().isoformat(timespec="seconds"),
        "lock": lock_word,
        "door": str(getattr(door, "door", "") or ""),
    }
    lock = connection.tenant.environment.catalogue.states.lock_state(lock_word)
    if _control(intent) == DoorCommand.HOLD and lock == "unlocked":
        door_states.apply_event(connection.tenant, intent.path["device_id"], DoorEvent.HELD_UNLOCKED)
    return Finding(True if intent.is_lock and lock == "locked" else None, evidence)


def on_command_finished(intent: Intent) -> None:
    """Store the command's control as plain text, and update holds, pictures and the door's state."""
    control, device_id = _control(intent), intent.path.get("device_id", "")
    intent.result["control"] = control
    intent.save(update_fields=["result"])
    holds.on_command(intent, control)
    door_command_pictures.schedule_pictures(intent, device_id)
    if intent.state == State.SUCCEEDED and control in _DOOR_WORDS:
        door_states.apply_event(intent.tenant, device_id, _DOOR_WORDS[control])
    elif intent.reason == Reason.REQUEST_FAILED and door_states.request_reading(device_id):
        URGENT_DOORS.wake(intent.tenant_id)


def _control(intent: Intent) -> str:
    return str((intent.body or {}).get("control", ""))


# More banners would leave too little room for the page.
MAX_BANNERS = 4


def door_banners(request: TenantRequest) -> Iterator[Banner]:
    """Yield a banner for each door that is forced open, left open or held unlocked, the most serious first."""
    if not request.access.can(Permission.DEVICES_VIEW):
        return
    found = list(alarming_doors().defer("status", "extra", "events"))
    found.sort(key=lambda door: (LOUD_STATES.index(DoorState(door.state)), door.name_order, door.pk))
    held = holds.active_holds(door.device_id for door in found[:MAX_BANNERS] if is_held(door))
    for door in found[:MAX_BANNERS]:
        yield _banner_of(request, door, held.get(door.device_id))
    if more := found[MAX_BANNERS:]:
        yield Banner(
            "alarm",
            ngettext("%(n)d more door needs attention.", "%(n)d more doors need attention.", len(more))
            % {"n": len(more)},
            icon="door-enter",
            action=_("All doors"),
            action_url=reverse("devices:index", args=[request.tenant.slug]),
            is_link=True,
        )


def alarming_doors() -> QuerySet[PassController]:
    """Return the doors that are forced open, left open or held unlocked."""
    return PassController.objects.filter(state__in=LOUD_STATES)


def _banner_of(request: TenantRequest, door: PassController, hold: Hold | None) -> Banner:
    lockable = is_held(door) and request.access.can(Permission.DOORS_OPERATE)
    state = DoorState(door.state)
    usual = str(_BANNER_TEXTS[state]) % {"door": door}
    title = usual if hold is None else queries.describe_hold(hold, door, _HELD_TEXTS[state])
    return Banner(
        "alarm",
        title,
        queries.describe_relock(hold) if hold is not None else "",
        icon="door-enter" if is_held(door) else "alert-triangle",
        since=door.since if hold is None else None,
        action=_("Lock now") if lockable else _("Show door"),
        action_url=reverse("devices:door", args=[request.tenant.slug, door.device_id]),
        is_link=True,
        rank=_BANNER_RANKS[DoorState(door.state)],
    )


_BANNER_RANKS = {
    DoorState.FORCED_OPEN: Rank.FORCED,
    DoorState.LEFT_OPEN: Rank.LEFT_OPEN,
    DoorState.HELD_OPEN: Rank.HELD,
    DoorState.HELD: Rank.HELD,
}
_BANNER_TEXTS = {
    DoorState.FORCED_OPEN: gettext_lazy("%(door)s has been forced open."),
    DoorState.LEFT_OPEN: gettext_lazy("%(door)s has been left open."),
    DoorState.HELD_OPEN: gettext_lazy("%(door)s is held unlocked and is open."),
    DoorState.HELD: gettext_lazy("%(door)s is held unlocked."),
}
_HELD_TEXTS = {
    DoorState.HELD_OPEN: HoldTexts(
        gettext_lazy("%(door)s is open and held unlocked until locked manually (%(who)s)."),
        gettext_lazy("%(door)s is open and held unlocked until %(at)s (%(who)s)."),
    ),
    DoorState.HELD: HoldTexts(
        gettext_lazy("%(door)s is held unlocked until locked manually (%(who)s)."),
        gettext_lazy("%(door)s is held unlocked until %(at)s (%(who)s)."),
    ),
}


def find_doors(request: TenantRequest, text: str) -> Iterator[Hit]:
    """Yield the first doors by name that contain `text`."""
    found = PassController.objects.filter(device_name__icontains=text).order_by("name_order", "pk")
    for door in found[: command_palette.MAX_HITS]:
        yield Hit(str(door), reverse("devices:door", args=[request.tenant.slug, door.device_id]), "door")


nav.register(
    NavEntry(
        "devices",
        gettext_lazy("Doors"),
        "door",
        "devices:index",
        Permission.DEVICES_VIEW,
        contract="door",
    )
)
kinds.register(FORCED)
kinds.register(LEFT_OPEN)
kinds.register(OFFLINE)
handlers.register(
    "operate_door",
    on_finished=on_command_finished,
    reconcile=find_outcome,
    describe=partial(
        describe_command,
        uncertain=gettext_lazy("The door may have opened. The command will not be sent again."),
        failed=gettext_lazy("The service accepted it, then reported a failure. The door may have opened."),
        failed_lock=gettext_lazy("The service accepted it, then reported a failure. The door may not be locked."),
        advice=gettext_lazy("Check the door or its status before you try again."),
    ),
)
command_palette.register(
    "doors",
    gettext_lazy("Doors"),
    find_doors,
    Permission.DEVICES_VIEW,
    partial(freshness.describe_unread, kind=MirrorKind.PASS_CONTROLLERS),
)
frame.register_banners(door_banners, rows=lambda: alarming_doors().only("pk"))
door_orders.register(holds.HOLDS, holds.open_holds)
events.subscribe(MirrorKind.HISTORIES, status_reading.on_histories)
celery_app.declare(status_reading.READ_STALE, status_reading.read_stale, queue="sync", seconds=280)
rounds.register(
    "doors",
    rounds.enqueue_steps(status_reading.READ_STALE, status_reading.due_doors),
    every=60.0,
    queue="sync",
)
URGENT_DOORS.register()


register_subject("devices", gettext_lazy("Doors"), "door operate_door operate_keys")
register_sentences(
    {
        "door.unlock": gettext_lazy("Unlock: %(door)s"),
        "door.lock": gettext_lazy("Lock: %(door)s"),
        "door.cont_unlock": gettext_lazy("Hold unlocked: %(door)s"),
        "door.in_unlock": gettext_lazy("Unlock for entry: %(door)s"),
        "door.out_unlock": gettext_lazy("Unlock for exit: %(door)s"),
        "alert_kind.forced": gettext_lazy("Door forced open"),
        "alert_kind.left_open": gettext_lazy("Door left open"),
        "alert_kind.offline": gettext_lazy("Device offline"),
    }
)
register_targets({"pass_controller": gettext_lazy("Door")})
targets.register_names("pass_controller", PassController, "device_id", "device_name")
