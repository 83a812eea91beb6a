"""Alerts about keys: out longer than the tenant's rule allows, or in another key's place."""

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime, timedelta

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy

from accessapi.keys import KeyEvent
from portal.base.timers.clock import ClockTime, database_now
from portal.domain.alerts.kinds import AlertKind, Observation, RuleSetting, RuleValues, tenants_having
from portal.domain.alerts.models import Alert, Severity
from portal.domain.keys import states
from portal.domain.mirror.models import History, Key, KeyState
from tenants.models import Tenant


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
    number, told = alert.subject.rpartition("/")[2], list[History]()
    for each in records:
        if any(isinstance(unit, dict) and unit.get("unit_no") == number for unit in each.units):
            word = tenant.environment.catalogue.states.key_event_of(each.texts)
            told = [each] if word is KeyEvent.TAKEN else [] if word and each.at < alert.began_at else told
    return told


def _keys_out_too_long(rules: Collection[RuleValues]) -> QuerySet[Key]:
    """Return the keys that have been out for as long as the strictest rule allows."""
    since = ClockTime() - timedelta(hours=min(each["hours"] for each in rules))
    return Key.reachable_objects.filter(state=KeyState.OUT, since__lte=since)


OVERDUE = AlertKind(
    name=states.OVERDUE_RULE,
    message=gettext_lazy("%(place)s was out for more than %(hours)s hours."),
    severity=Severity.WARNING,
    settings=(RuleSetting("hours", gettext_lazy("Out longer than (hours)"), states.DEFAULT_HOURS, 1, 720),),
    find_current=_find_overdue,
    tenants_to_check=tenants_having(_keys_out_too_long),
    matching_records=_records_of_taking,
)
MISPLACED = AlertKind(
    name="key_wrong",
    message=gettext_lazy("%(place)s: another key is in its place."),
    severity=Severity.WARNING,
    find_current=_find_misplaced,
    tenants_to_check=tenants_having(lambda _rules: Key.reachable_objects.filter(wrong=True)),
)
