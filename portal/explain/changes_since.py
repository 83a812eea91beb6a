"""Known changes since a moment. An answer about the past is computed from today's rights, so changes must be shown.

There are three sources: requests about this member, bulk changes, and differences between two readings of the rights
(changes made elsewhere). The log's records of the person around the moment are added. No call is made.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F
from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.translation import gettext as _

from portal.domain.history import visibility
from portal.domain.history.coverage import Coverage, load_coverage
from portal.domain.history.models import History
from portal.domain.intents.models import Intent, State, target_of
from portal.domain.jobs import kinds
from portal.domain.jobs import words as bulk_words
from portal.domain.jobs.models import Row, RowState
from portal.domain.people.member_fields import CARD, DOORS_AND_KEYS, END, QR, START
from portal.domain.people.models import Member, RightsChange
from portal.domain.rights import words
from portal.explain.questions import CheckedPlace
from tenants.access import Access
from tenants.models import AuditEntry

MOST, RECORDS = 20, 6
# How far before and after the moment the log is searched.
AROUND = timedelta(hours=12)
_RIGHTS = tuple(each.name for each in DOORS_AND_KEYS)
_ACCESS_FIELDS = {START.name, END.name, CARD.name, QR.name, *_RIGHTS}
Fields = list[tuple[str, str, str]]


@dataclass(frozen=True)
class AccessChange:
    """A change of data that decides about access, made at `at`, or between `since` and `at`.

    `by` is empty if the change was not made in the portal. `href` leads to details.
    """

    at: datetime
    by: str
    fields: Fields
    href: str = ""
    since: datetime | None = None
    uncertain: bool = False


class ChangesSince:
    """Changes of a member since a moment in the past, newest first, and log records around it."""

    def __init__(self, member: Member, place: CheckedPlace, at: datetime, access: Access) -> None:
        self.member, self.place, self.at, self.access = member, place, at, access
        self.slug = access.tenant.slug

    @property
    def may_see_records(self) -> bool:
        return visibility.may_view_log(self.access)

    @cached_property
    def changes(self) -> list[AccessChange]:
        found = [*self._own_changes(), *self._bulk_changes(), *self._outside_changes()]
        return sorted(found, key=lambda change: change.at, reverse=True)[:MOST]

    @property
    def visible_from(self) -> datetime | None:
        """Return from when the person has access to records, if that hides some around the moment."""
        begin = visibility.visible_since(self.access)
        return begin if begin is not None and begin > self.at - AROUND else None

    @property
    def no_records_text(self) -> str:
        """Return the text for missing records; empty if they prove nothing, as on days that the person cannot see."""
        begin, end = self.visible_from, self.log.through
        if not self.log_covers or end is None:
            return ""
        if begin is None:
            return _("No activity in the 12 hours before and after.")
        is_loaded = begin <= min(self.at + AROUND, end)
        return _("No activity today in the 12 hours before and after.") if is_loaded else ""

    @cached_property
    def records(self) -> list[History]:
        """Return the nearest records before and after the moment, oldest first."""
        records = visibility.visible_records(self.access).filter(member_id=self.member.member_id).order_by("-at", "-pk")
        before = records.filter(at__lte=self.at, at__gte=self.at - AROUND)[:RECORDS]
        after = records.filter(at__gt=self.at, at__lte=self.at + AROUND).order_by("at", "pk")[:RECORDS]
        return [*reversed(before), *after]

    @cached_property
    def log(self) -> Coverage:
        return load_coverage()

    @property
    def log_covers(self) -> bool:
        """Return whether the log is loaded for the moment. Otherwise missing records prove nothing."""
        begin, end = self.log.known_from, self.log.through
        return begin is not None and end is not None and begin <= self.at <= end

    @cached_property
    def _places(self) -> words.PlaceNames:
        return words.load_place_names()

    def _own_changes(self) -> Iterable[AccessChange]:
        """Yield requests about this member alone that were applied, or may have been."""
        requests = Intent.objects.filter(
            target=target_of("member", self.member.member_id),
            operation__in=["create_member", "update_member"],
            state__in=[State.SUCCEEDED, State.UNCERTAIN],
            created_at__gt=self.at,
        )
        intents = {str(each.pk): each for each in requests.select_related("by").order_by("-id")[:MOST]}
        trail = AuditEntry.objects.filter(intent_id__in=intents, action__in=["create_member", "update_member"])
        for entry in trail if intents else ():
            intent = intents[entry.intent_id]
            fields = self._field_changes(entry.before or {}, entry.after or {})
            if fields or intent.operation == "create_member":
                yield AccessChange(
                    intent.finished_at or intent.created_at,
                    entry.who,
                    fields,
                    reverse("intents:page", args=[self.slug, intent.pk]),
                    uncertain=intent.state == State.UNCERTAIN,
                )

    def _bulk_changes(self) -> Iterable[AccessChange]:
        """Yield rows of jobs that were applied."""
        rows = Row.objects.filter(member_id=self.member.member_id, state=RowState.SUCCEEDED, part__isnull=False)
        later = rows.filter(part__intent__created_at__gt=self.at).annotate(done_at=F("part__intent__finished_at"))
        for row in later.select_related("job__by", "job__tenant", "part__intent").order_by("-id")[:MOST]:
            if _ACCESS_FIELDS & row.content.get("body", {}).keys():
                fields = [(str(kinds.kind_of(row.job).title_of(row.job)), "", ""), *self._row_changes(row)]
                at = row.done_at or row.part.intent.created_at  # type: ignore[union-attr]  # these rows have one
                yield AccessChange(at, str(row.job.by), fields, kinds.page_address(row.job))

    def _row_changes(self, row: Row) -> Fields:
        own = kinds.kind_of(row.job).changes
        return list(own(row)) if own is not None else bulk_words.field_changes(row, {})

    def _outside_changes(self) -> Iterable[AccessChange]:
        rows = RightsChange.objects.filter(member_id=self.member.member_id, read_at__gt=self.at)
        for row in rows.order_by("-read_at")[:MOST]:
            yield AccessChange(row.read_at, "", self._rights_changes(row.before, row.after), since=row.since)

    def _field_changes(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> Fields:
        fields = [
            (str(each.label), each.format_value(before.get(each.name)), each.format_value(after.get(each.name)))
            for each in (START, END)
            if each.name in after
        ]
        fields += [
            (str(each.label), str(before.get(each.audit_name) or ""), str(after.get(each.audit_name) or ""))
            for each in (CARD, QR)
            if each.audit_name in after
        ]
        if any(name in after for name in _RIGHTS):
            fields += self._rights_changes(before, {**before, **after})
        return fields

    def _rights_changes(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> Fields:
        return [(each.place, each.before, each.after) for each in words.differences(before, after, self._places)]


def changes_since(
    member: Member, place: CheckedPlace, at: datetime, now: datetime, access: Access
) -> ChangesSince | None:
    """Return the changes for a past moment; None for now and later, where today's rights apply."""
    return ChangesSince(member, place, at, access) if at < now - timedelta(minutes=1) else None
