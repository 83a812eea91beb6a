"""Rights on pages of other apps. The page's head needs `{% include "rights/assets.html" %}`."""

from typing import Any

from django import template
from django.urls import NoReverseMatch, reverse

from portal.domain.people.models import Member
from portal.domain.rights import words
from portal.domain.rights.editing import areas_to_add
from portal.domain.rights.member_rights import rights_in_mirror
from portal.domain.rights.schedules import Week, union_week, week_of
from portal.domain.rights.sheet import RightsSheet, split_privilege
from tenants.roles import Permission

register = template.Library()


@register.inclusion_tag("rights/panel.html", takes_context=True)
def rights_panel(context: Any, member: Member) -> dict[str, Any]:
    """Show a member's rights as text and as a week, with links: `{% rights_panel member %}`."""
    request = context["request"]
    rights = rights_in_mirror(member)
    context_values = {"member": member, "request": request, "known": rights is not None}
    if rights is None:
        return context_values | _links(request, member)
    named = words.load_place_names()
    found = words.rights_lines(rights.parts, named)
    flags, odd = split_privilege(rights.privilege)
    labels = words.privilege_words()
    scheduled = [line.pass_ for line in found if not line.is_unknown and _is_scheduled(line.pass_)]
    return context_values | {
        "lines": [words.capitalise(text) for text in words.group_by_time(found)],
        "week": union_week(scheduled) if scheduled else None,
        "several": len(found) > 1,
        "privileges": [labels[name] for name, given in flags.items() if given],
        "odd": list(odd.items()) if isinstance(odd, dict) else [("privilege", odd)],
        "read_at": rights.read_at,
        "more_areas": [(each, named.areas[each]) for each in areas_to_add(RightsSheet.of(rights.parts), named.areas)],
        **_links(request, member),
    }


@register.inclusion_tag("rights/pass_week.html")
def pass_week(pass_: Any, small: bool = False) -> dict[str, Any]:
    """Draw one pass with its sentence: `{% pass_week a_pass %}`. Use `small` in a table cell."""
    return {"week": pass_ if isinstance(pass_, Week) else week_of(pass_), "small": small}


def _is_scheduled(value: Any) -> bool:
    return isinstance(value, dict) and value.get("effect") == "allow"


def _links(request: Any, member: Member) -> dict[str, str]:
    slug, is_listed = request.tenant.slug, not member.gone_at
    links = {"explain_url": f"{_address('explain:index', slug)}?member={member.member_id}"}
    if not is_listed or not _address("explain:index", slug):
        links = {}
    if is_listed:
        links["look_url"] = reverse("member_rights:edit", args=[slug, member.member_id])
        links["compare_url"] = reverse("rights:compare", args=[slug])
        links["edits"] = request.access.can(Permission.RIGHTS_EDIT)
    return links


def _address(name: str, slug: str) -> str:
    """Return the address of a page in another app, or an empty text if that app is not installed."""
    try:
        return reverse(name, args=[slug])
    except NoReverseMatch:
        return ""
