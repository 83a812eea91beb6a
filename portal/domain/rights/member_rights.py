"""A member's rights, their comparison, and rights to give: of templates, members and groups.

The comparison takes mappings with "devices_pass", "keys_pass" and "privilege"; a missing part or None is unknown.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Count, QuerySet
from django.utils.translation import gettext as _t

from accessapi.permissions import no_access
from portal.base.timers.clock import database_now
from portal.base.ui.url_lookup import get_row_or_404
from portal.domain.budget.priorities import Priority
from portal.domain.people.member_fields import DOORS_AND_KEYS, PRIVILEGE, RIGHTS_NAMES
from portal.domain.people.models import Member
from portal.domain.people.text_folding import stored_forms
from portal.domain.rights.models import RightsTemplate
from portal.domain.sync import single_reads
from tenants.models import Connection


@dataclass(frozen=True)
class MemberRights:
    """Rights as the service returned them, unchanged. A part is None if it was absent (operation 5, no contract)."""

    devices_pass: Any
    keys_pass: Any
    privilege: Any
    read_at: datetime | None = None

    @classmethod
    def of(cls, values: Mapping[str, Any], read_at: datetime | None) -> "MemberRights":
        devices, keys, privilege = (values.get(name) for name in RIGHTS_NAMES)
        return cls(devices, keys, privilege, read_at)

    @property
    def parts(self) -> dict[str, Any]:
        """Return the three parts by the specification's names."""
        return {name: getattr(self, name) for name in RIGHTS_NAMES}


def rights_in_mirror(member: Member) -> MemberRights | None:
    """Return the rights in the mirror, or None if they were never loaded."""
    if member.rights is None:
        return None
    return MemberRights.of(member.rights, member.rights_read_at)


def read_rights(connection: Connection, member_id: str) -> MemberRights:
    """Load a member's rights with one call (operation 5) and store them in the mirror.

    Raises NotFound, BudgetExhausted, ServiceError.
    """
    requested_at = database_now()
    member = single_reads.read_member(connection, member_id, Priority.PEOPLE)
    return MemberRights.of(
        {name: member.invalid_values.get(name, _verbatim(getattr(member, name))) for name in RIGHTS_NAMES}, requested_at
    )


def _verbatim(value: Any) -> Any:
    """Return a part of a member as the service sent it, with unreadable values in their places."""
    if value is None or isinstance(value, dict):
        return value
    return {**value.model_dump(exclude_unset=True), **value.invalid_values}


def canonical(rights: Mapping[str, Any]) -> dict[str, Any]:
    """Return the three parts in canonical form, so that equal meanings are equal values; None for an unknown part."""
    parts = [(each, rights.get(each.name)) for each in DOORS_AND_KEYS]
    normal = {each.name: None if value is None else each.normalise(value) for each, value in parts}
    return {**normal, PRIVILEGE.name: _with_defaults(rights.get(PRIVILEGE.name))}


def _with_defaults(privilege: Any) -> Any:
    """Add the default to each missing privilege (specification: false)."""
    if privilege is not None and not isinstance(privilege, dict):
        return privilege
    given = privilege or {}
    return {**given, **{name: value for name, value in PRIVILEGE.default.items() if given.get(name) is None}}


def digest(rights: Mapping[str, Any]) -> str:
    """Return the same hash for any two versions with the same meaning."""
    text = json.dumps(canonical(rights), sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def is_same_json(one: Any, other: Any) -> bool:
    """Return True if two JSON values are equal. In Python, `True == 1`; here they differ."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def is_as_sent(name: str, new: Any, current: Any) -> bool:
    """Return True if the service's value of one part means the same as the sent one, even if written differently."""
    if name == PRIVILEGE.name:
        given = current if isinstance(current, dict) else {}
        return isinstance(new, dict) and all(given.get(key) == value for key, value in new.items())
    return is_same_json(canonical({name: new})[name] or no_access(), canonical({name: current})[name] or no_access())


PARTS = ("devices_pass", "keys_pass")
# The number of variants that are compared in a group. Rarer variants are never the usual rights.
_MAX_VARIANTS = 500
RightsBody = dict[str, Any]


def all_templates() -> QuerySet[RightsTemplate]:
    """Return the current tenant's templates, by name."""
    return RightsTemplate.objects.select_related("by").order_by("name", "pk")


def schedule_templates() -> list[RightsTemplate]:
    """Return the templates that are a single schedule for any place."""
    return list(RightsTemplate.objects.filter(kind=RightsTemplate.Kind.SCHEDULE).order_by("name", "pk"))


def get_template(pk: int | str) -> RightsTemplate:
    """Return a template of the current tenant. Raises 404."""
    number = int(pk) if str(pk).isascii() and str(pk).isdecimal() else 0
    return get_row_or_404(RightsTemplate.objects.all(), pk=number)


def rights_of_template(template: RightsTemplate) -> RightsBody:
    """Return the rights of a template with a full set of rights."""
    both = {"devices_pass": template.devices_pass, "keys_pass": template.keys_pass}
    return {name: value for name, value in both.items() if value is not None}


def rights_of_member(member: Member) -> RightsBody:
    """Return a member's rights to areas and keys, as far as they are known."""
    rights: Any = member.rights or {}
    return {name: rights[name] for name in PARTS if rights.get(name)}


def usual_rights(membergroup_ids: Iterable[str]) -> dict[str, RightsBody]:
    """Return for each group the rights that more than half of its members with loaded rights have.

    Groups without such rights are left out. One query for any number of groups and members.
    """
    rows = Member.objects.filter(
        membergroup_id__in=set(membergroup_ids), rights__isnull=False, gone_at__isnull=True
    ).order_by()
    variants = rows.values("membergroup_id", "rights").annotate(n=Count("pk")).order_by("-n")
    groups: dict[str, dict[str, tuple[int, Any]]] = {}
    known: dict[str, int] = {}
    for variant in variants.iterator(chunk_size=1000):
        group, bodies = variant["membergroup_id"], groups.setdefault(variant["membergroup_id"], {})
        known[group] = known.get(group, 0) + variant["n"]
        if len(bodies) < _MAX_VARIANTS:
            parts = {name: (variant["rights"] or {}).get(name) for name in PARTS}
            key = digest({name: value or no_access() for name, value in parts.items()})
            bodies[key] = (bodies.get(key, (0, None))[0] + variant["n"], parts)
    return {group: body for group, bodies in groups.items() if (body := _majority(bodies, known[group]))}


def _majority(bodies: Mapping[str, tuple[int, Any]], known: int) -> RightsBody:
    n, parts = max(bodies.values(), key=lambda each: each[0])
    return {name: value for name, value in parts.items() if value} if n * 2 > known else {}


def find_source_member(text: str) -> Member:
    """Return the member whose rights are to be copied. The rights must be loaded. Raises ValidationError."""
    if not text:
        raise ValidationError(_t("Enter a member code or member ID."))
    present = Member.objects.filter(gone_at__isnull=True)
    found = list(present.filter(member_id=text)[:1]) or list(
        present.filter(code_key__in=stored_forms(text), member_code=text)[:2]
    )
    if not found:
        raise ValidationError(_t("No member has this code or ID."))
    if len(found) > 1:
        raise ValidationError(_t("Several members have this code. Enter the member ID."))
    if found[0].rights is None:
        raise ValidationError(_t("This member's rights are not loaded yet. Open the member once, then try again."))
    return found[0]
