"""Alerts from log records: repeated refusals, suspicious events, access outside hours."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta

from django.utils.translation import gettext_lazy as _

from portal.domain.alerts.kinds import AlertKind, Observation, RuleSetting, RuleValues
from portal.domain.alerts.models import Severity
from portal.domain.alerts.past_log import PastLog
from portal.domain.alerts.scopes import EVERYWHERE, Scope
from portal.domain.history.models import History
from tenants.models import Tenant


def place_of(record: History) -> dict[str, str]:
    return {"device": record.device_id, "device_name": record.device_name}


def _person_or_device(record: History) -> tuple[str, str]:
    """Return the subject of a refusal: a person, or the device of an unknown credential."""
    return ("member", record.member_id) if record.member_id else ("device", record.device_id)


def _find_refusals(
    tenant: Tenant, records: Sequence[History], values: RuleValues, scope: Scope
) -> Iterator[Observation]:
    categories, within = tenant.environment.catalogue.records.refused, timedelta(minutes=values["minutes"])
    mine = [each for each in records if each.category in categories and any(_person_or_device(each)[1:])]
    for kind, name in {_person_or_device(each) for each in mine}:
        moments = [each.at for each in mine if _person_or_device(each) == (kind, name)]
        of = {"member_id": name} if kind == "member" else {"member_id": "", "device_id": name}
        around = History.objects.filter(at__gte=min(moments) - within, at__lte=max(moments) + within, **of)
        if scope.device_ids is not None:
            around = around.filter(device_id__in=scope.device_ids)
        yield from _find_series(around.filter(category__in=categories).order_by("at", "pk"), values)


def _find_series(records: Iterable[History], values: RuleValues) -> Iterator[Observation]:
    """Yield series of refusals of one subject within the rule's minutes, from records in order of time."""
    recent: dict[tuple[str, str], list[History]] = defaultdict(list)
    for each in records:
        begin = each.at - timedelta(minutes=values["minutes"])
        run = recent[_person_or_device(each)] = [
            *(one for one in recent[_person_or_device(each)] if one.at >= begin),
            each,
        ]
        if len(run) >= values["count"]:
            kind, name = _person_or_device(each)
            subject = f"member:{name}" if kind == "member" else f"pass_controller:{name}"
            facts = {"n": len(run), "minutes": values["minutes"], "person": kind == "member"} | place_of(each)
            yield Observation(subject, each.at, facts, run)


def _find_past_refusals(past: PastLog, values: RuleValues) -> Iterator[Observation]:
    categories = past.tenant.environment.catalogue.records.refused
    return _find_series(reversed(past.find(categories=categories)), values)


def _find_suspicious(
    tenant: Tenant, records: Sequence[History], values: RuleValues, scope: Scope
) -> Iterator[Observation]:
    """Yield each record of a suspicious category, except for doors' own states, which have other rules."""
    catalogue = tenant.environment.catalogue
    for each in records:
        if each.category in catalogue.records.suspicious and not catalogue.states.event_of([each.text]):
            at = f"pass_controller:{each.device_id}" if each.device_id else "log"
            yield Observation(at, each.at, place_of(each), [each])


def _find_past_suspicious(past: PastLog, values: RuleValues) -> Iterator[Observation]:
    categories = past.tenant.environment.catalogue.records.suspicious
    return _find_suspicious(past.tenant, past.find(categories=categories), values, EVERYWHERE)


def _find_people(tenant: Tenant, records: Sequence[History], values: RuleValues, scope: Scope) -> Iterator[Observation]:
    for each in records:
        if each.device_id and (each.member_id or each.member_name):
            yield Observation(f"pass_controller:{each.device_id}", each.at, place_of(each), [each])


def _find_past_people(past: PastLog, values: RuleValues) -> Iterator[Observation]:
    return _find_people(past.tenant, past.find(has_person=True), values, EVERYWHERE)


LOG_ALERTS = (
    AlertKind(
        name="refused",
        message=_("%(subject)s: refused %(n)s times within %(minutes)s minutes, last at %(place)s."),
        severity=Severity.WARNING,
        settings=(
            RuleSetting("count", _("Refusals"), 5, 2, 100),
            RuleSetting("minutes", _("Within (minutes)"), 10, 1, 1440, is_stricter_when_larger=True),
        ),
        has_scope=True,
        find_in_new_records=_find_refusals,
        find_in_past=_find_past_refusals,
    ),
    AlertKind(
        name="suspicious",
        message=_("Suspicious event at %(place)s."),
        severity=Severity.WARNING,
        has_scope=True,
        find_in_new_records=_find_suspicious,
        find_in_past=_find_past_suspicious,
    ),
    AlertKind(
        name="out_of_hours",
        message=_("Access to %(place)s outside hours"),
        severity=Severity.WARNING,
        is_on=False,
        has_hours=True,
        has_scope=True,
        find_in_new_records=_find_people,
        find_in_past=_find_past_people,
    ),
)
