"""Alerts that records of the log tell of: repeated refusals, suspicious events, people out of hours."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from django.utils.translation import gettext_lazy as _

from portal.core.alerts.kinds import AlertKind, Seen, Value, Values
from portal.core.alerts.kinds import register as add
from portal.core.alerts.models import Severity
from portal.core.mirror import log
from portal.core.mirror.log import Narrow
from portal.core.mirror.models import History
from tenants.models import Tenant

# Records that one question about the past looks at.
MOST = 3000


def newest(wanted: Narrow) -> list[History]:
    """Return the newest records that are wanted, as many as one question looks at."""
    return log.records(log.narrowed(log.keys(), wanted).only("id", "at")[:MOST])


def place_of(record: History) -> dict[str, str]:
    return {"device": record.device_id, "device_name": record.device_name}


def _who(record: History) -> tuple[str, str]:
    """Return whom a refusal is about: a person of the service, else an unknown credential at a device."""
    return ("member", record.member_id) if record.member_id else ("device", record.device_id)


def _refused(tenant: Tenant, records: Sequence[History], values: Values) -> Iterator[Seen]:
    words, within = tenant.environment.catalogue.records.refused, timedelta(minutes=values["minutes"])
    mine = [each for each in records if each.category in words and any(_who(each)[1:])]
    for kind, name in {_who(each) for each in mine}:
        moments = [each.at for each in mine if _who(each) == (kind, name)]
        of = {"member_id": name} if kind == "member" else {"member_id": "", "device_id": name}
        around = History.objects.filter(at__gte=min(moments) - within, at__lte=max(moments) + within, **of)
        yield from _runs(around.filter(category__in=words).order_by("at", "pk"), values)


def _runs(records: Iterable[History], values: Values) -> Iterator[Seen]:
    """Find so many refusals of one within so many minutes, in records by time."""
    lately: dict[tuple[str, str], list[History]] = defaultdict(list)
    for each in records:
        begin = each.at - timedelta(minutes=values["minutes"])
        run = lately[_who(each)] = [*(one for one in lately[_who(each)] if one.at >= begin), each]
        if len(run) >= values["count"]:
            kind, name = _who(each)
            subject = f"member:{name}" if kind == "member" else f"pass_controller:{name}"
            facts = {"n": len(run), "minutes": values["minutes"], "person": kind == "member"} | place_of(each)
            yield Seen(subject, each.at, facts, run)


def _refused_before(tenant: Tenant, since: datetime, until: datetime, values: Values) -> Iterator[Seen]:
    words = tenant.environment.catalogue.records.refused
    return _runs(reversed(newest(Narrow(since=since, until=until, categories=words))), values)


def _suspicious(tenant: Tenant, records: Sequence[History], values: Values) -> Iterator[Seen]:
    """Each record of such a category that is not about a door's own state, which other rules tell of."""
    catalogue = tenant.environment.catalogue
    for each in records:
        if each.category in catalogue.records.suspicious and not catalogue.states.event([each.text]):
            at = f"pass_controller:{each.device_id}" if each.device_id else "log"
            yield Seen(at, each.at, place_of(each), [each])


def _suspicious_before(tenant: Tenant, since: datetime, until: datetime, values: Values) -> Iterator[Seen]:
    words = tenant.environment.catalogue.records.suspicious
    return _suspicious(tenant, newest(Narrow(since=since, until=until, categories=words)), values)


def _somebody(tenant: Tenant, records: Sequence[History], values: Values) -> Iterator[Seen]:
    for each in records:
        if each.device_id and (each.member_id or each.member_name):
            yield Seen(f"pass_controller:{each.device_id}", each.at, place_of(each), [each])


def _somebody_before(tenant: Tenant, since: datetime, until: datetime, values: Values) -> Iterator[Seen]:
    return _somebody(tenant, newest(Narrow(since=since, until=until, somebody=True)), values)


def register() -> None:
    add(
        AlertKind(
            name="refused",
            said=_("%(subject)s: refused %(n)s times within %(minutes)s minutes, last at %(place)s."),
            severity=Severity.WARNING,
            values=(
                Value("count", _("Refusals"), 5, 2, 100),
                Value("minutes", _("Within (minutes)"), 10, 1, 1440, larger_alerts_more=True),
            ),
            heard=_refused,
            past=_refused_before,
        )
    )
    add(
        AlertKind(
            name="suspicious",
            said=_("Suspicious event at %(place)s."),
            severity=Severity.WARNING,
            heard=_suspicious,
            past=_suspicious_before,
        )
    )
    add(
        AlertKind(
            name="out_of_hours",
            said=_("Somebody was at %(place)s out of hours."),
            severity=Severity.WARNING,
            is_on=False,
            by_hours=True,
            heard=_somebody,
            past=_somebody_before,
        )
    )
