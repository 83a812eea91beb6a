"""List what needs attention, the most urgent first, and which data is missing."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from portal.base.ui.chips import Chip
from portal.base.ui.url_lookup import url_in_tenant
from portal.domain.alerts import overdue_keys as keys
from portal.domain.alerts.models import Alert, Severity
from portal.domain.alerts.words import AlertTexts
from portal.domain.events import MirrorKind
from portal.domain.history import visibility
from portal.domain.jobs import kinds
from portal.domain.jobs.models import Job
from portal.domain.places.models import DoorState
from portal.domain.sync import failure_reasons, freshness
from portal.domain.sync.freshness import Freshness
from portal.domain.visits.days import Day
from portal.home.figures import MOST, NAMED, OverviewFigures, stored_title
from portal.members.lists import CleanupList
from tenants.access import Access
from tenants.models import Connection
from tenants.roles import Permission

# The log is read at least this often, even if notifications report new records.
LOG_MAX_AGE = timedelta(minutes=75)


@dataclass(frozen=True)
class AttentionLine:
    """Something that needs attention. `tone` is alarm, loud, doubt or quiet; `detail` names the first items."""

    tone: str
    icon: str
    text: str
    href: str
    detail: str = ""


def attention_lines(access: Access, found: OverviewFigures, failed: Sequence[Job]) -> list[AttentionLine]:
    """Return what needs attention and this person may see. Urgent lines come first, quiet lines last."""
    parts = (_alerts, _doors, _keys, _uncertain_requests)
    urgent = [line for part in parts for line in part(access, found)]
    urgent.sort(key=lambda line: line.tone != "alarm")
    quiet = (_assigned_alerts, _keys_out, _expired_members)
    return [*urgent, *_failed_jobs(access, failed), *(line for part in quiet for line in part(access, found))]


def bounded_number(number: int) -> str:
    """Return a number as text, with "+" if it is over MOST."""
    return f"{MOST:,}+" if number > MOST else f"{number:,}"


def _alerts(access: Access, found: OverviewFigures) -> Iterator[AttentionLine]:
    if number := found.number("alerts_waiting"):
        text = ngettext("%(n)s unassigned alert", "%(n)s unassigned alerts", number) % {"n": bounded_number(number)}
        first = found.alerts
        worst = max((each.severity for each in first), default=Severity.INFO)
        tone = "alarm" if worst == Severity.ALARM else "loud"
        href = f"{url_in_tenant('alerts:index', access.tenant.slug)}?state=untaken"
        yield AttentionLine(
            tone, "alert-triangle", text, href, _names_text([_alert_name(access, each) for each in first], number)
        )


def _alert_name(access: Access, alert: Alert) -> str:
    """Return an alert's title and place. People are not named."""
    texts = AlertTexts(access, {})
    if not alert.facts.get("device"):
        return texts.title(alert)
    return _("%(name)s: %(why)s") % {"name": texts.title(alert), "why": texts.place(alert)}


def _assigned_alerts(access: Access, found: OverviewFigures) -> Iterator[AttentionLine]:
    if number := found.number("alerts_taken"):
        text = ngettext("%(n)s alert assigned, open", "%(n)s alerts assigned, open", number)
        href = f"{url_in_tenant('alerts:index', access.tenant.slug)}?state=open"
        yield AttentionLine("quiet", "user-check", text % {"n": bounded_number(number)}, href)


def _doors(access: Access, found: OverviewFigures) -> Iterator[AttentionLine]:
    if number := sum(found.door_states.values()):
        text = ngettext("%(n)s door needs attention", "%(n)s doors need attention", number) % {
            "n": bounded_number(number)
        }
        tone = "alarm" if _ALARMING & found.door_states.keys() else "loud"
        href = f"{url_in_tenant('devices:index', access.tenant.slug)}?view=board&only=attention"
        yield AttentionLine(tone, "door", text, href, " · ".join(_state_texts(found)))


def _keys(access: Access, found: OverviewFigures) -> Iterator[AttentionLine]:
    if number := found.number("keys_late"):
        text = ngettext("%(n)s key overdue", "%(n)s keys overdue", number) % {"n": bounded_number(number)}
        names = [f"{each['box']} {each['unit_no']} {each['unit_name']}".strip() for each in found.rows("keys_first")]
        href = f"{url_in_tenant('keys:index', access.tenant.slug)}?state=overdue"
        yield AttentionLine("loud", "key", text, href, _names_text(names, number))


def _keys_out(access: Access, found: OverviewFigures) -> Iterator[AttentionLine]:
    if number := found.number("keys_out"):
        text = ngettext("%(n)s key out", "%(n)s keys out", number) % {"n": bounded_number(number)}
        yield AttentionLine("quiet", "key", text, f"{url_in_tenant('keys:index', access.tenant.slug)}?state=out")


_ALARMING = {DoorState.FORCED_OPEN, DoorState.LEFT_OPEN, DoorState.HELD_OPEN, DoorState.HELD}


def _state_texts(found: OverviewFigures) -> Iterator[str]:
    for state, number in found.door_states.items():
        word = Chip(state or "unknown").word
        yield f"{word} {number}" if number > 1 else word


def may_name_people(access: Access) -> bool:
    """Check whether the overview may name people. Support staff see numbers only."""
    return access.support_session is None


def _uncertain_requests(access: Access, found: OverviewFigures) -> Iterator[AttentionLine]:
    if number := found.number("uncertain"):
        text = ngettext("%(n)s uncertain request", "%(n)s uncertain requests", number) % {"n": bounded_number(number)}
        first = found.rows("uncertain_first")
        titles = [str(stored_title(each["title"])) for each in first] if may_name_people(access) else []
        slug = access.tenant.slug
        every = f"{url_in_tenant('intents:index', slug)}?show=open" if access.can(Permission.AUDIT_VIEW) else ""
        href = url_in_tenant("intents:page", slug, first[0]["id"]) if number == 1 or not every else every
        yield AttentionLine("doubt", "question-mark", text, href, _names_text(titles, number))


def _failed_jobs(access: Access, jobs: Sequence[Job]) -> Iterator[AttentionLine]:
    """Yield a line for each family of jobs. It links to the job, or to the list if there are several."""
    families: dict[str, list[Job]] = defaultdict(list)
    for job in jobs:
        families[kinds.kind_of(job).family].append(job)
    for family, found in families.items():
        number = len(found)
        text = ngettext("%(n)s job with failed rows", "%(n)s jobs with failed rows", number)
        titles = [str(kinds.kind_of(job).title_of(job)) for job in found[:NAMED]]
        several = _LISTS.get(family) if number > 1 else None
        href = url_in_tenant(several, access.tenant.slug) if several else kinds.page_address(found[0])
        yield AttentionLine(
            "loud", "table-import", text % {"n": bounded_number(number)}, href, _names_text(titles, number)
        )


# The list page of each family of jobs.
_LISTS = {"import": "imports:index", "change": "changes:index"}


def _expired_members(access: Access, found: OverviewFigures) -> Iterator[AttentionLine]:
    if number := found.number("expired"):
        text = ngettext("%(n)s expired member not deleted", "%(n)s expired members not deleted", number)
        href = url_in_tenant("members:leavers_of", access.tenant.slug, CleanupList.ENDED.value)
        yield AttentionLine("quiet", "clock-x", text % {"n": bounded_number(number)}, href)


def _names_text(names: Sequence[str], number: int) -> str:
    return " · ".join(names) + (" …" if names and number > NAMED else "")


def unknowns(access: Access, found: OverviewFigures, fresh: Freshness, now: datetime) -> list[str]:
    """Return missing data, so that an empty list is not taken for "all clear"."""
    line: Connection | None = getattr(access.tenant, "connection", None)
    texts = [] if line is not None and line.is_connected else [_("not connected to the service")]
    if visibility.may_view_log(access) or access.can(Permission.ALERTS_VIEW):
        texts += _unknown_log(fresh, now)
    texts += _unknown_lists(access, fresh, now)
    if unread := found.number("unread"):
        texts.append(
            ngettext("%(n)s door not loaded", "%(n)s doors not loaded", unread) % {"n": bounded_number(unread)}
        )
    if lost := found.number("keys_unknown"):
        text = ngettext("%(n)s key: location unknown", "%(n)s keys: location unknown", lost)
        texts.append(text % {"n": bounded_number(lost)})
    words_of = access.tenant.environment.catalogue.states
    if away := sum(each["n"] for each in found.rows("box_lines") if not words_of.is_connected(each["line"])):
        texts.append(keys.offline_text(away) % {"n": away})
    return texts


# The lists that the overview uses: the permission to see them, and the texts for "never loaded" and "not updated".
_USED_LISTS: dict[MirrorKind, tuple[Permission, str | Promise, str | Promise]] = {
    MirrorKind.PASS_CONTROLLERS: (
        Permission.DEVICES_VIEW,
        gettext_lazy("doors not loaded"),
        gettext_lazy("doors not updated"),
    ),
    MirrorKind.KEY_BOXES: (
        Permission.DEVICES_VIEW,
        gettext_lazy("key boxes not loaded"),
        gettext_lazy("key boxes not updated"),
    ),
    MirrorKind.MEMBERS: (
        Permission.MEMBERS_VIEW,
        gettext_lazy("members not loaded"),
        gettext_lazy("members not updated"),
    ),
    MirrorKind.GUESTS: (Permission.GUESTS_VIEW, gettext_lazy("guests not loaded"), gettext_lazy("guests not updated")),
}


def _unknown_lists(access: Access, fresh: Freshness, now: datetime) -> Iterator[str]:
    kinds = [kind for kind, (permission, *_words) in _USED_LISTS.items() if access.can(permission)]
    for kind, never in freshness.unreliable_kinds(fresh, kinds, now):
        _permission, unread, late = _USED_LISTS[kind]
        yield str(unread if never else late)


def _unknown_log(fresh: Freshness, now: datetime) -> list[str]:
    log = fresh[MirrorKind.HISTORIES]
    if log.as_of is None:
        return [_("activity log not loaded")]
    if log.error and log.next_at and not failure_reasons.is_permanent(log.error):
        return [_("activity log not updated, next try at %(time)s") % {"time": Day.today().time_text(log.next_at)}]
    return [_("activity log not updated")] if log.error or now - log.as_of > LOG_MAX_AGE else []
