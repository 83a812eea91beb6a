"""Rights for new members: none, those of a template or of another member, or the usual ones of their group."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Count, QuerySet
from django.utils.translation import gettext as _t

from portal.base.ui.url_lookup import get_row_or_404
from portal.domain.mirror.models import Member
from portal.domain.mirror.text_folding import fold
from portal.domain.rights.member_rights import digest
from portal.domain.rights.models import RightsTemplate

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
    told: Any = member.rights or {}
    return {name: told[name] for name in PARTS if told.get(name)}


def usual_rights(membergroup_ids: Iterable[str]) -> dict[str, RightsBody]:
    """Return for each group the rights that more than half of its members with loaded rights have.

    Groups without such rights are left out. One query for any number of groups and members.
    """
    rows = Member.objects.filter(
        membergroup_id__in=set(membergroup_ids), rights__isnull=False, gone_at__isnull=True
    ).order_by()
    ways = rows.values("membergroup_id", "rights").annotate(n=Count("pk")).order_by("-n")
    groups: dict[str, dict[str, tuple[int, Any]]] = {}
    known: dict[str, int] = {}
    for way in ways.iterator(chunk_size=1000):
        group, meant = way["membergroup_id"], groups.setdefault(way["membergroup_id"], {})
        known[group] = known.get(group, 0) + way["n"]
        if len(meant) < _MAX_VARIANTS:
            parts = {name: (way["rights"] or {}).get(name) for name in PARTS}
            key = digest({name: value or {"default_mode": "deny_all"} for name, value in parts.items()})
            meant[key] = (meant.get(key, (0, None))[0] + way["n"], parts)
    return {group: body for group, meant in groups.items() if (body := _majority(meant, known[group]))}


def _majority(meant: Mapping[str, tuple[int, Any]], known: int) -> RightsBody:
    n, parts = max(meant.values(), key=lambda each: each[0])
    return {name: value for name, value in parts.items() if value} if n * 2 > known else {}


def find_source_member(text: str) -> Member:
    """Return the member whose rights are to be copied. The rights must be loaded. Raises ValidationError."""
    if not text:
        raise ValidationError(_t("Enter a member code or member ID."))
    present = Member.objects.filter(gone_at__isnull=True)
    found = list(present.filter(member_id=text)[:1]) or list(present.filter(code_key=fold(text), member_code=text)[:2])
    if not found:
        raise ValidationError(_t("No member has this code or ID."))
    if len(found) > 1:
        raise ValidationError(_t("Several members have this code. Enter the member ID."))
    if found[0].rights is None:
        raise ValidationError(_t("This member's rights are not loaded yet. Open the member once, then try again."))
    return found[0]
