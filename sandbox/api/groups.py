"""Operations 16 to 18: member groups."""

import secrets
from typing import Any

from sandbox.errors import not_found
from sandbox.service.models import Group

from . import paging
from .bodies import read_body
from .call import Call


def list_membergroups(call: Call) -> dict[str, Any]:
    """Return the groups in pages, in the order of their creation, each with the current number of its members."""
    wanted = paging.read_page_request(call, call.query("limit", "last_evaluated_key"))
    groups = Group.objects.filter(tenant=call.tenant, id__gt=wanted.after).order_by("id")
    shown, next_key = wanted.load_page(groups, key=lambda group: group.pk)
    return {"membergroups": [_to_json(group) | {"member_count": group.member_count} for group in shown], **next_key}


def create_membergroup(call: Call) -> dict[str, Any]:
    """Create the group with a new identifier; two groups may have the same name (assumed)."""
    call.query()
    body = read_body(call)
    identifier = f"g{secrets.token_hex(6)}"
    group = Group.objects.create(tenant=call.tenant, membergroup_id=identifier, name=body["membergroup_name"])
    return _to_json(group)


def update_membergroup(call: Call) -> dict[str, Any]:
    """Rename the group; lists and records of its members show the new name at once."""
    call.query()
    body = read_body(call)
    group = Group.objects.filter(tenant=call.tenant, membergroup_id=call.identifier("membergroup_id")).first()
    if group is None:
        raise not_found("membergroup_id")
    group.name = body["membergroup_name"]
    group.save(update_fields=["name"])
    return _to_json(group)


def _to_json(group: Group) -> dict[str, Any]:
    return {"membergroup_id": group.membergroup_id, "membergroup_name": group.name}


HANDLERS = {
    "list_membergroups": list_membergroups,
    "create_membergroup": create_membergroup,
    "update_membergroup": update_membergroup,
}
