"""The freshness of the mirror, for pages: the footer with the time and the refresh button, and why a list is empty.

A list is empty because there is nothing, because nothing matches, or because it is not available: the tenant is not
connected, the service refused, or the list has not been read yet. `absence` returns the reason for the last three.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accessapi.operations import Operation
from portal.base.timers.clock import ClockTime
from portal.base.ui import batching
from portal.base.ui.tables.columns import EmptyState
from portal.base.ui.times import local
from portal.base.ui.url_lookup import url_in_tenant
from portal.base.ui.value_words import join_sentences
from portal.domain.events import READ_INTERVALS, MirrorKind
from portal.domain.sync import failure_reasons, schedule
from portal.domain.sync.models import MirrorState, SyncRun
from tenants.access import TenantRequest
from tenants.connections.call_results import LICENCE
from tenants.connections.service_clients import current_connection
from tenants.connections.words import CONTRACTS
from tenants.models import Connection, Tenant, current_tenant
from tenants.roles import Permission
from tenants.scope import tenant_scope


@dataclass(frozen=True)
class ListProgress:
    """The progress of a list that is being read: entries so far, and about how many to expect (None: unknown)."""

    done: int
    expected: int | None
    started_at: datetime

    @property
    def percent(self) -> int | None:
        return min(99, 100 * self.done // self.expected) if self.expected else None


@dataclass(frozen=True)
class KindFreshness:
    """The freshness of one kind, last read at `as_of` (None: never).

    `error` is a stable word; `failure_reasons.sentence_of` returns its sentence.
    """

    kind: MirrorKind
    as_of: datetime | None = None
    total: int = 0
    progress: ListProgress | None = None
    error: str = ""
    error_at: datetime | None = None
    known_from: datetime | None = None  # only for the log: the mirror has all records from this moment on
    next_at: datetime | None = None  # when it is read next

    @property
    def sentence(self) -> str:
        return failure_reasons.sentence_of(self.error, self.kind) if self.error else ""


@dataclass(frozen=True)
class Freshness:
    """The freshness of all kinds of a tenant; permissions of `rights_known` of `rights_total` members were read."""

    kinds: dict[MirrorKind, KindFreshness]
    rights_known: int
    rights_total: int

    def __getitem__(self, kind: MirrorKind | str) -> KindFreshness:
        return self.kinds[MirrorKind(kind)]

    def __iter__(self) -> Iterator[KindFreshness]:
        return iter(self.kinds.values())

    @property
    def last_sync(self) -> datetime | None:
        """Return when any kind was last read completely."""
        return max((each.as_of for each in self if each.as_of), default=None)


def count_members() -> int:
    """Return the entered tenant's number of members, as stored by the last reading."""
    return MirrorState.objects.filter(kind=MirrorKind.MEMBERS).values_list("total", flat=True).first() or 0


def kind_states() -> QuerySet[MirrorState]:
    """Return the states of all kinds of the entered tenant, annotated with `now` and the run in progress, if any."""
    run = SyncRun.objects.filter(kind=OuterRef("kind"), state=SyncRun.State.RUNNING).order_by("-pk")
    annotations = {f"run_{name}": Subquery(run.values(name)[:1]) for name in ("rows", "expected", "started_at")}
    return MirrorState.objects.annotate(now=ClockTime(), **annotations)


def freshness_of(tenant: Tenant, found: Iterable[MirrorState] | None = None) -> Freshness:
    """Return the freshness of a tenant from the rows of `kind_states`, or with a separate query if there are none."""
    if found is None:
        with tenant_scope(tenant):
            found = list(kind_states())
    now = timezone.now()
    known = {MirrorKind(state.kind): state for state in found}
    kinds = {kind: _kind_freshness(kind, known.get(kind), now) for kind in MirrorKind}
    total = kinds[MirrorKind.MEMBERS].total
    return Freshness(kinds, min(kinds[MirrorKind.RIGHTS].total, total), total)


def _kind_freshness(kind: MirrorKind, state: Any, now: datetime) -> KindFreshness:
    if state is None:
        return KindFreshness(kind)
    begun = state.run_started_at
    running = ListProgress(state.run_rows, state.run_expected, begun) if begun else None
    if running is None and state.lease_until is not None and state.lease_until > now and kind != MirrorKind.RIGHTS:
        running = ListProgress(0, state.total or None, now)
    since = state.memory.get("known_from")
    known_from = datetime.fromisoformat(since) if since else None
    values = (state.as_of, state.total, running, state.error, state.error_at, known_from)
    return KindFreshness(kind, *values, next_at=schedule.next_read_at(state))


_REFRESH = "mirror:refresh"


_FOOTERS = {"groups": (MirrorKind.GROUPS, _REFRESH), "devices": (MirrorKind.PASS_CONTROLLERS, _REFRESH)}


def register_footer(app_name: str, kind: MirrorKind, *, refresh_url_name: str = _REFRESH) -> None:
    """Register the kind that the footer of an app's pages is about.

    `refresh_url_name` takes the tenant's slug and a kind, like the mirror's own URL. Apps whose users cannot view the
    rest of the tenant register their own (`views.refresh_view`).
    """
    _FOOTERS[app_name] = (kind, refresh_url_name)


def freshness_for(request: TenantRequest) -> Freshness:
    """Return the freshness of the request's tenant, read once for each request."""
    found: Freshness | None = getattr(request, "mirror_freshness", None)
    if found is None:
        found = freshness_of(request.tenant, batching.load_rows(request, "freshness"))
        setattr(request, "mirror_freshness", found)  # noqa: B010 - a name that the type of requests does not have
    return found


def footer_values(request: TenantRequest) -> Mapping[str, Any]:
    """Return the freshness of the data on the current app's pages, and the URL for a refresh.

    People who can view the tenant use the mirror's URL; the app's own URL is for people who cannot.
    """
    tenant, access = request.tenant, request.access
    match = request.resolver_match
    kind, own = _FOOTERS.get(match.app_name if match else "", (MirrorKind.MEMBERS, _REFRESH))
    refresh = _REFRESH if access.can(Permission.TENANT_VIEW) else own
    fresh = freshness_for(request)
    return {
        "as_of": fresh[kind].as_of,
        "last_sync": fresh.last_sync,
        "running": fresh[kind].progress,
        "refresh_url": url_in_tenant(refresh, tenant.slug, str(kind)),
    }


_LISTS = {
    MirrorKind.MEMBERS: "list_members",
    MirrorKind.GROUPS: "list_membergroups",
    MirrorKind.AREAS: "list_areas",
    MirrorKind.PASS_CONTROLLERS: "list_pass_controllers",
    MirrorKind.KEY_BOXES: "list_key_boxes",
    MirrorKind.GUESTS: "list_guests",
    MirrorKind.HISTORIES: "list_histories",
}
# A list is out of date when it could not be read for this many intervals.
_MAX_MISSED_TURNS = 3
_OWNER_CAN_RECONNECT = _("An owner can reconnect it on the connection page.")
_OWNER_CAN_ADD_SCOPE = _("An owner can reconnect the tenant once the vendor has registered the permission.")
_ANYONE_CAN_REFRESH = _("Once it is added, use “Refresh” to load the list.")
_VENDOR_CAN_ADD = _("The vendor can add it to the contract.")


@dataclass(frozen=True)
class Absence:
    """A reason why data is not available: `sentence` explains it, `remedy` names the next step.

    `is_refused`: waiting does not help.
    """

    sentence: str | Promise
    remedy: str | Promise = ""
    is_refused: bool = False
    icon: str = "lock"

    @property
    def text(self) -> str:
        return join_sentences([self.sentence, self.remedy])


def absence(request: TenantRequest, kind: MirrorKind | None, operation: str = "") -> Absence | None:
    """Return why a kind of the tenant is missing or out of date; None when it is read as usual.

    With `operation` (an action that belongs to the kind), refusals of that operation count as well; without a kind,
    only those count.
    """
    line = getattr(request.tenant, "connection", None) or current_connection()
    return _absence_by_service(line, kind, operation) or (
        _absence_by_reading(freshness_for(request)[kind]) if kind else None
    )


def describe_outdated(fresh: Freshness, *kinds: MirrorKind) -> list[str]:
    """Return sentences about those of these lists that are out of date, with the time and the reason.

    For reports and files, which are read later.
    """
    line = current_connection()
    found = ((fresh[kind], _absence_by_service(line, kind) or _absence_by_reading(fresh[kind])) for kind in kinds)
    return [_outdated_sentence(state, why) for state, why in found if why is not None]


def unreliable_kinds(fresh: Freshness, kinds: Iterable[MirrorKind], now: datetime) -> Iterator[tuple[MirrorKind, bool]]:
    """Yield the lists of the entered tenant that are unreliable, each with whether it was never read.

    Lists that the contract does not include are left out.
    """
    line = current_connection()
    for kind in kinds:
        state, operation = fresh[kind], current_tenant().environment.catalogue.find(_LISTS[kind])
        if state.error == failure_reasons.NO_CONTRACT or operation.contract in line.contracts_refused:
            continue
        is_late = (
            state.error
            and state.as_of
            and now - state.as_of > timedelta(seconds=_MAX_MISSED_TURNS * READ_INTERVALS[kind])
        )
        if state.as_of is None or is_late or _absence_by_refusal(line, operation):
            yield kind, state.as_of is None


def describe_unread(request: TenantRequest, kind: MirrorKind) -> str:
    """Return the sentence about an outdated list for a search without results; "" when the list is read as usual.

    The sentence leaves out the reason for people who cannot view the tenant's pages.
    """
    why = absence(request, kind)
    return (
        _outdated_sentence(freshness_for(request)[kind], why, is_brief=not request.access.can(Permission.TENANT_VIEW))
        if why
        else ""
    )


def _outdated_sentence(state: KindFreshness, why: Absence, *, is_brief: bool = False) -> str:
    name, reason = state.kind.label, "" if is_brief else why.sentence
    if state.as_of is None:
        return join_sentences([_fill_in_name(_("%(name)s not loaded."), name), reason if why.is_refused else ""])
    at = f"{local(state.as_of):%Y-%m-%d %H:%M}"
    return join_sentences([_("%(name)s not updated since %(time)s.") % {"name": name, "time": at}, reason])


def _absence_by_service(line: Connection, kind: MirrorKind | None, operation: str = "") -> Absence | None:
    """Return why a list or an operation is not available to anyone: no connection, or a refusal by the service."""
    if not line.is_connected:
        return Absence(
            _("This tenant is not connected to the service."), _OWNER_CAN_RECONNECT, is_refused=True, icon="plug-off"
        )
    catalogue = current_tenant().environment.catalogue
    named = [catalogue.find(name) for name in (kind and _LISTS.get(kind), operation) if name]
    refusals = (_absence_by_refusal(line, each) for each in named)
    return next(filter(None, refusals), None)


def empty_state(
    request: TenantRequest, usual: EmptyState | None, kind: MirrorKind, operation: str = ""
) -> EmptyState | None:
    """Return the empty state of a list: why it is not available, or else `usual`. `operation` is as in `absence`."""
    why = absence(request, kind, operation)
    if why is None:
        return usual
    return EmptyState(_("Not available") if why.is_refused else _("Not loaded yet"), why.text, why.icon)


def is_refused(line: Connection, kind: MirrorKind) -> bool:
    """Return whether the service's last responses show that a kind cannot be read without a contract or scope."""
    return is_operation_refused(line, _LISTS[kind])


def is_operation_refused(line: Connection, name: str) -> bool:
    """Return whether the service's last responses show that an operation lacks a contract, scope or licence."""
    return _absence_by_refusal(line, current_tenant().environment.catalogue.find(name)) is not None


def _absence_by_refusal(line: Connection, operation: Operation) -> Absence | None:
    """Return what is missing for an operation according to the service's last responses."""
    if operation.contract in line.contracts_refused:
        text = _("The contract with the service does not include this: %(name)s.")
        return Absence(_fill_in_name(text, CONTRACTS[str(operation.contract)]), _VENDOR_CAN_ADD, is_refused=True)
    if operation.scope in line.scopes_refused:
        text = _("The connection lacks the permission %(name)s.")
        return Absence(_fill_in_name(text, operation.scope), _OWNER_CAN_ADD_SCOPE, is_refused=True)
    if operation.needs_licence and LICENCE in line.contracts_refused:
        text = _("The remote-operation licence is missing.")
        return Absence(text, _VENDOR_CAN_ADD, is_refused=True)
    return None


def _absence_by_reading(state: KindFreshness) -> Absence | None:
    if state.error:
        refused = failure_reasons.is_permanent(state.error)
        return Absence(
            state.sentence, _ANYONE_CAN_REFRESH if refused else _("Retries automatically."), is_refused=refused
        )
    if state.as_of is None:
        return Absence(_("This list has not been loaded from the service yet."), icon="loader")
    return None


def _fill_in_name(text: str | Promise, name: object) -> str:
    return str(text) % {"name": name}
