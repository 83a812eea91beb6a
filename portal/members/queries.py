"""Queries for the pages of members: members, their page, requests, audit log entries, and candidates.

Candidates are members who may be a new one whose creation's answer was lost. A new member with the same code or card,
and all other values equal, is ours. Name and group alone prove nothing if a member is found: another person may have
created one with the same name. If none is found, it was not created.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from accessapi.meanings import RefusalCause
from portal.base.ui import command_palette
from portal.base.ui.command_palette import Hit
from portal.domain.intents import queries as intents
from portal.domain.intents import refusals
from portal.domain.intents.form_handling import AfterSubmit, address_of_target
from portal.domain.intents.models import Intent, target_of
from portal.domain.intents.refusals import Explanation
from portal.domain.jobs import bulk_executor, kinds, suspensions, undoing
from portal.domain.jobs import queries as job_queries
from portal.domain.jobs.models import Row, RowState
from portal.domain.jobs.words import changes_of, describe_row
from portal.domain.people import queries as mirror
from portal.domain.people.member_fields import CARD, CODE, GROUP, MEMBER, QR, RIGHTS_NAMES
from portal.domain.people.models import Member
from portal.domain.people.row_building import MemberRowBuilder
from portal.domain.people.text_folding import stored_forms
from portal.members import faces, status, temporary_keys
from tenants.access import Access, TenantRequest
from tenants.audit_log.changes import RecordedChange, changed_fields
from tenants.audit_log.queries import fill_results
from tenants.models import AuditEntry
from tenants.postgresql.compiled_queries import CompiledQuery
from tenants.roles import Permission
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


_groups = CompiledQuery[tuple[str, str]](mirror.group_names)


def group_choices() -> Choices:
    """Return the tenant's groups by name, as choices of a form or filter."""
    return _groups.rows()


def intents_about(member: Member) -> list[Intent]:
    """Return the newest requests about this member by any person, the newest first."""
    return list(
        intents.latest_intents(target_of("member", member.member_id)).select_related("tenant__environment")[:40]
    )


def staff_changes(access: Access, member: Member, intents: list[Intent]) -> list[RecordedChange]:
    """Return what staff did to this member, the newest first: changes, and secrets that were viewed.

    A request that was not done has its result.
    """
    condition = Q(target=target_of("member", member.member_id)) | Q(
        intent_id__in=[str(intent.pk) for intent in intents]
    )
    rows = (
        AuditEntry.objects.filter(condition, action__in=_ACTS).select_related("support_session").order_by("-at", "-pk")
    )
    entries = [(entry, changed_fields(entry)) for entry in rows[:_MAX_ENTRIES]]
    fill_results([entry for entry, _fields in entries])
    groups = {member.membergroup_id: member.membergroup_name}
    named = {
        value for _, fields in entries for name, *values in fields if name == GROUP.name for value in values if value
    }
    if named - groups.keys():
        groups |= dict(group_choices())
    pages = job_queries.job_pages_of(access, [entry.intent_id for entry, _fields in entries])
    single_changes = [
        RecordedChange(
            entry,
            [_describe_change(field, groups) for field in fields if field[0].partition(".")[0] not in RIGHTS_NAMES],
            pages.get(entry.intent_id, ""),
            result="" if entry.ended == "succeeded" else str(entry.outcome),
        )
        for entry, fields in entries  # access rights are shown as text there; the audit log has the full values
    ]
    found = [*single_changes, *_bulk_changes(access, member)]
    return sorted(found, key=lambda change: (change.entry.at, change.entry.pk), reverse=True)[:_MAX_ENTRIES]


def _bulk_changes(access: Access, member: Member) -> list[RecordedChange]:
    """Return what bulk changes and imports did to this member, or failed to do.

    Each links to its page, if the person has access. A row that was never in a request has the entry of its job.
    """
    found = job_queries.rows_about(member.member_id, _MAX_ENTRIES)
    if not found:
        return []
    requests = {str(row.part.intent_id): row for row in found if row.part and row.part.intent_id}
    starts = [(kinds.describe_for_audit(row.job, "started"), row) for row in found if row.part is None]
    rows: dict[str, Row] = requests | {each.target: row for each, row in starts}
    condition = Q(intent_id__in=requests, action__in=bulk_executor.OPERATIONS.values())
    condition |= Q(intent_id="", target__in=rows, action__in=[each.action for each, _row in starts])
    groups = dict(group_choices())
    with_undo = undoing.undoable(row.job for row in found if row.state == RowState.SUCCEEDED)
    changes = []
    for entry in AuditEntry.objects.filter(condition).select_related("support_session"):
        row = rows[entry.intent_id or entry.target]
        row.group_names = groups
        changes.append(_bulk_change(access, entry, row, with_undo))
    return changes


def _bulk_change(access: Access, entry: AuditEntry, row: Row, with_undo: Collection[int]) -> RecordedChange:
    href, is_done = job_queries.page_for(access, row.job), row.state == RowState.SUCCEEDED
    return RecordedChange(
        entry,
        changes_of(row),
        href,
        can_undo=is_done and bool(href) and row.job_id in with_undo,
        result="" if is_done else str(RowState(row.state).label),
        reasons=describe_row(row, row.job) if row.state == RowState.FAILED else (),
    )


def trail_condition(text: str) -> Q:
    """Return the condition for audit log entries about members whose ID, code or name matches a text."""
    named = text.removeprefix(f"{TARGETS['member']} ").removeprefix("member:")
    if not named:
        return Q(pk=None)
    forms = stored_forms(named)  # search in indexed columns: a tenant may have 200,000 members
    condition = Q(member_id=named) | Q(code_key__in=forms) | Q(name_key__in=forms)
    ids = list(Member.objects.filter(condition).values_list("member_id", flat=True)[:_MAX_ENTRIES]) or [named]
    targets = [target_of("member", each) for each in ids]
    return Q(target__in=targets) | job_queries.audit_filter_for_members(ids)


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
    for member in mirror.search_for_reader(request.access, text)[: command_palette.MAX_HITS]:
        address = reverse("members:page", args=[request.tenant.slug, member.member_id])
        hint = " · ".join(filter(None, (member.member_code, member.membergroup_name)))
        yield Hit(member.member_name or member.member_id, address, "user", hint)


def search_hint(request: TenantRequest, text: str) -> str:
    """Return a hint for the palette, if the text found nothing."""
    return mirror.scanner_hint(text, may_see_cards=request.access.can(Permission.SECRETS_REVEAL))


@dataclass(frozen=True)
class Candidates:
    """New members that may be ours: those with the code or card, and those with only the same name and group."""

    with_code_or_card: list[Member]
    with_same_name: list[Member]


def candidates_before(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the IDs of all present members that could later be mistaken for the new one."""
    return {
        "known": sorted(
            Member.objects.filter(_code_or_card_matches(body) | _name_matches(body)).values_list("member_id", flat=True)
        )
    }


def find_candidates(body: Mapping[str, Any], known: Iterable[str]) -> Candidates:
    """Return new members of the mirror that may be the requested one. `known`: IDs that existed before the request."""
    fresh = Member.objects.filter(gone_at__isnull=True).exclude(member_id__in=list(known)).order_by("pk")
    marked = list(fresh.filter(_code_or_card_matches(body)))
    namesakes = fresh.filter(_name_matches(body)).exclude(pk__in=[member.pk for member in marked])
    return Candidates(marked, list(namesakes))


def has_sent_values(member: Member, body: Mapping[str, Any]) -> bool:
    """Check whether a candidate with the code or card has all the values that were sent."""
    return Member.objects.filter(_name_matches(body), *_identifiers(body), pk=member.pk).exists()


def _name_matches(body: Mapping[str, Any]) -> Q:
    return Q(name_key__in=stored_forms(body["member_name"]), membergroup_id=body["membergroup_id"])


def _code_or_card_matches(body: Mapping[str, Any]) -> Q:
    """Return the condition for the code or the card of `body`. It matches no member if `body` has neither."""
    found = Q(pk__in=[])
    for mark in _identifiers(body):
        found |= mark
    return found


def _identifiers(body: Mapping[str, Any]) -> list[Q]:
    marks = []
    if body.get(CODE.name):
        marks.append(Q(code_key__in=stored_forms(body[CODE.name])))
    if body.get("card_data"):
        fingerprint = MemberRowBuilder(current_tenant_id()).card_fingerprint(body["card_data"])
        marks.append(Q(has_card=True, card_fingerprint=fingerprint))
    return marks


def member_facts(request: TenantRequest, member: Member) -> dict[str, Any]:
    """Return the member's data from the mirror, running requests, and recent records of the person."""
    can, about = request.access.can, intents_about(member)
    suspension, named = suspensions.suspension_of(member), {member.membergroup_id: member.membergroup_name}
    member.suspended = suspension is not None  # type: ignore[attr-defined]  # as in `suspensions.with_suspended_flag`
    return {
        "suspension": suspension,
        "ahead": [job for job in job_queries.pending_jobs_of(member.member_id) if can(Permission(job.permission))],
        "member": member,
        "who": [(each, each.format_value(each.written_value(member), named)) for each in MEMBER.in_section("who")],
        "about": about,
        "state": status.validity_of(member),
        "qr": status.qr_of(member),
        "face": faces.face_state(member, about),
        "running": temporary_keys.running_uses(about),
        "unknown": sorted(member.extra.items()),
        "may_reveal": can(Permission.SECRETS_REVEAL),
        "may_edit": can(Permission.MEMBERS_EDIT),
        "may_delete": can(Permission.MEMBERS_DELETE),
        "may_lend": can(Permission.DOORS_OPERATE),
        "shown": {},
    }


def page_context(request: TenantRequest, member: Member) -> dict[str, Any]:
    """Return the whole page's context: the member, recent requests, and changes by staff."""
    context = member_facts(request, member)
    intents = context["about"][:5]
    return context | {"intents": intents, "changes": staff_changes(request.access, member, intents)}


def back_to_member(request: TenantRequest) -> AfterSubmit:
    """Return what leads from a form about a member back to the member's page, unless it was refused."""
    inputs = {**MEMBER.input_names, **temporary_keys.INPUTS_BY_FIELD}
    return AfterSubmit(to=_address, inputs=inputs, explain=partial(_explain_refusal, access=request.access))


def _address(intent: Intent) -> str:
    """Return the address of the member's page; empty if the mirror does not have the member."""
    member_id = intent.path.get("member_id") or intent.result.get("member_id", "")
    known = Member.objects.filter(member_id=member_id).exists()
    return address_of_target(intent, "members:page", "member_id") if known else ""


def _explain_refusal(intent: Intent, access: Access) -> Explanation | None:
    """Explain a refusal: which member has the card (if the person may see it), or that the code is used; else None."""
    if refusals.is_refused_for(intent, RefusalCause.DUPLICATE, "card"):
        holder = _holder_text(intent) if access.can(Permission.SECRETS_REVEAL) else ""
        return (CARD.name,), _t("This card is already registered. Enter another number.") + holder
    if refusals.is_refused_for(intent, RefusalCause.DUPLICATE, "qr"):
        return ("qr_data",), _t("This QR code is already registered. Use another one.")
    return None


def _holder_text(intent: Intent) -> str:
    """Return a text about the card's holder, as far as the portal knows."""
    holder = holder_of_card((intent.body or {}).get(CARD.name, ""))
    if holder is None or target_of("member", holder.member_id) == intent.target:
        return ""
    return " " + _t("According to the portal, it belongs to %(name)s.") % {"name": holder}
