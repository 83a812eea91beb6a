"""The data of a member's page, and the redirect back to it after a form."""

from functools import partial
from typing import Any

from django.utils.translation import gettext as _t

from accessapi.meanings import RefusalCause
from portal.domain.intents import refusals
from portal.domain.intents.form_handling import address_of_target
from portal.domain.intents.models import Intent, target_of
from portal.domain.intents.refusals import Explanation
from portal.domain.jobs import member_jobs, suspensions
from portal.domain.mirror.fields.members import CARD, MEMBER
from portal.domain.mirror.models import Member
from portal.members import faces, queries, status, temporary_keys
from tenants.access import Access, TenantRequest
from tenants.roles import Permission


def member_facts(request: TenantRequest, member: Member) -> dict[str, Any]:
    """Return the member's data from the mirror, running requests, and recent records of the person."""
    can, about = request.access.can, queries.intents_about(member)
    suspension, named = suspensions.suspension_of(member), {member.membergroup_id: member.membergroup_name}
    member.suspended = suspension is not None  # type: ignore[attr-defined]  # as in `suspensions.with_suspended_flag`
    return {
        "suspension": suspension,
        "ahead": [job for job in member_jobs.pending_jobs_of(member.member_id) if can(Permission(job.permission))],
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
    shown = member_facts(request, member)
    asked = shown["about"][:5]
    return shown | {"intents": asked, "changes": queries.staff_changes(request.access, member, asked)}


def back_to_member(request: TenantRequest) -> dict[str, Any]:
    """Return the options that lead from a form about a member back to the member's page, unless it was refused."""
    inputs = {**MEMBER.input_names, **temporary_keys.INPUTS_BY_FIELD}
    return {"to": _address, "inputs": inputs, "explain": partial(_explain_refusal, access=request.access)}


def _address(intent: Intent) -> str:
    """Return the address of the member's page; empty if the mirror does not have the member."""
    member_id = intent.path.get("member_id") or intent.result.get("member_id", "")
    known = Member.objects.filter(member_id=member_id).exists()
    return address_of_target(intent, "members:page", "member_id") if known else ""


def _explain_refusal(intent: Intent, access: Access) -> Explanation | None:
    """Explain a refusal: which member has the card (if the person may see it), or that the code is used; else None."""
    if refusals.is_refused_for(intent, RefusalCause.DUPLICATE, "card"):
        holder = _holder_text(intent) if access.can(Permission.SECRETS_REVEAL) else ""
        return (CARD.name,), _t("This card is already registered.") + holder
    if refusals.is_refused_for(intent, RefusalCause.DUPLICATE, "qr"):
        return ("qr_data",), _t("This QR code is already registered.")
    return None


def _holder_text(intent: Intent) -> str:
    """Return a text about the card's holder, as far as the portal knows."""
    holder = queries.holder_of_card((intent.body or {}).get(CARD.name, ""))
    if holder is None or target_of("member", holder.member_id) == intent.target:
        return ""
    return " " + _t("According to the portal, it belongs to %(name)s.") % {"name": holder}
