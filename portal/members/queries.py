"""Queries for the pages of members: members, requests, audit log entries, and the command palette (Ctrl-K)."""

from collections.abc import Iterator

from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from portal.base.ui import command_palette
from portal.base.ui.command_palette import Hit
from portal.domain.intents import queries as intents
from portal.domain.intents.models import Intent, target_of
from portal.domain.jobs import bulk_executor, member_jobs
from portal.domain.jobs.words import changes_of
from portal.domain.mirror import member_search
from portal.domain.mirror import queries as mirror
from portal.domain.mirror.fields.members import CARD, GROUP, MEMBER, QR, RIGHTS_NAMES
from portal.domain.mirror.models import Group, Member
from portal.domain.mirror.row_building import MemberRowBuilder
from portal.domain.mirror.text_folding import sort_key
from tenants.access import Access, TenantRequest
from tenants.audit_log.changes import RecordedChange, changed_fields
from tenants.compiled_queries import CompiledQuery
from tenants.models import AuditEntry
from tenants.scope import current_tenant_id
from tenants.sentences import TARGETS

Choices = list[tuple[str, str]]

# Labels for audit log entries that are not fields of a member.
_LABELS = {
    "qr_timestep": _("Code changes every (seconds)"),
    "qr_skew": _("Neighbouring codes accepted"),
    "keys": _("Keys"),
    "time": _("Time"),
    "info": _("For the log"),
}
# How many audit log entries a member's page shows.
_MAX_ENTRIES = 20
# Audit log codes of actions on one member.
_ACTS = [
    "create_member", "update_member", "delete_member", "register_face_image", "delete_face_image",
    "register_profile_image", "temporary_use", "member.reveal_card", "member.reveal_qr", "member.reveal_one_time",
]  # fmt: skip


def group_names() -> QuerySet[Group, tuple[str, str]]:
    """Return the tenant's groups by name, as choices of a form or filter."""
    return mirror.groups().values_list("membergroup_id", "membergroup_name")


_groups = CompiledQuery[tuple[str, str]](group_names)


def group_choices() -> Choices:
    """Return the same choices as a list, loaded now."""
    return _groups.rows()


def intents_about(member: Member) -> list[Intent]:
    """Return the newest requests about this member by any person, the newest first."""
    return list(
        intents.latest_intents(target_of("member", member.member_id)).select_related("tenant__environment")[:40]
    )


def staff_changes(access: Access, member: Member, asked: list[Intent]) -> list[RecordedChange]:
    """Return what staff did to this member, the newest first: changes, and secrets that were viewed.

    Outcomes are shown with the intents.
    """
    mine = Q(target=target_of("member", member.member_id)) | Q(intent_id__in=[str(intent.pk) for intent in asked])
    rows = AuditEntry.objects.filter(mine, action__in=_ACTS).select_related("support_session").order_by("-at", "-pk")
    entries = [(entry, changed_fields(entry)) for entry in rows[:_MAX_ENTRIES]]
    groups = {member.membergroup_id: member.membergroup_name}
    named = {
        value for _, fields in entries for name, *values in fields if name == GROUP.name for value in values if value
    }
    if named - groups.keys():
        groups |= dict(group_choices())
    pages = member_jobs.job_pages_of(access, [entry.intent_id for entry, _fields in entries])
    alone = [
        RecordedChange(
            entry,
            [_describe_change(field, groups) for field in fields if field[0].partition(".")[0] not in RIGHTS_NAMES],
            pages.get(entry.intent_id, ""),
        )
        for entry, fields in entries  # access rights are shown as text there; the audit log has the full values
    ]
    found = [*alone, *_bulk_changes(access, member)]
    return sorted(found, key=lambda change: (change.entry.at, change.entry.pk), reverse=True)[:_MAX_ENTRIES]


def _bulk_changes(access: Access, member: Member) -> list[RecordedChange]:
    """Return what bulk changes and imports did to this member. Each links to its page, if the person has access."""
    rows = {
        str(row.part.intent_id): row for row in member_jobs.rows_applied_to(member.member_id, _MAX_ENTRIES) if row.part
    }
    if not rows:
        return []
    groups = dict(group_choices())
    entries = AuditEntry.objects.filter(intent_id__in=rows, action__in=bulk_executor.OPERATIONS.values())
    found = []
    for entry in entries.select_related("support_session"):
        row = rows[entry.intent_id]
        row.group_names = groups
        found.append(RecordedChange(entry, changes_of(row), member_jobs.page_for(access, row.job)))
    return found


def trail_condition(text: str) -> Q:
    """Return the condition for audit log entries about members whose ID, code or name matches a text."""
    named = text.removeprefix(f"{TARGETS['member']} ").removeprefix("member:")
    if not named:
        return Q(pk=None)
    key = sort_key(named)  # search in indexed columns: a tenant may have 200,000 members
    wanted = Q(member_id=named) | Q(code_key=key) | Q(name_key=key)
    ids = list(Member.objects.filter(wanted).values_list("member_id", flat=True)[:_MAX_ENTRIES]) or [named]
    targets = [target_of("member", each) for each in ids]
    return Q(target__in=targets) | member_jobs.audit_filter_for_members(ids)


def _describe_change(field: tuple[str, str, str], groups: dict[str, str]) -> tuple[str, str, str]:
    """Return a changed field with its label and values as the page shows them."""
    name, *values = field
    known = MEMBER.get(name)
    if known is not None and known not in (CARD, QR):  # these two are already stored in a form that may be shown
        values = [known.format_value(value, groups) if value else "" for value in values]
    return str(known.label if known else _LABELS.get(name, name)), values[0], values[1]


def holder_of_card(card: str) -> Member | None:
    """Return the member with this card, as far as the mirror is up to date."""
    print_ = MemberRowBuilder(current_tenant_id()).card_fingerprint(card)
    return mirror.members().filter(has_card=True, card_fingerprint=print_).first()


def find_hits(request: TenantRequest, text: str) -> Iterator[Hit]:
    """Yield the first members by name that match `text`, for the palette."""
    for member in member_search.search_for_reader(request.access, text)[: command_palette.MAX_HITS]:
        address = reverse("members:page", args=[request.tenant.slug, member.member_id])
        hint = " · ".join(filter(None, (member.member_code, member.membergroup_name)))
        yield Hit(member.member_name or member.member_id, address, "user", hint)
