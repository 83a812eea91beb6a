"""Operations 3 to 10 and 13 to 15: members, their images, and bulk requests."""

import secrets
from typing import Any

from django.http import HttpResponse

from sandbox.engine import bulk, faces
from sandbox.engine.members import MemberBatch, lock_members
from sandbox.errors import not_found
from sandbox.service.models import Member, ProfileImage
from sandbox.service.models.people import CREATION_ORDER

from . import files, paging
from .bodies import read_body, read_face_image, read_profile_image
from .call import Call

#: Fields that are always in the list, and names that the parameter `fields` may have. The specification gives the first
#: set and card_data; which other names are allowed is not shown (assumed: those of the list).
_LIST_FIELDS = (
    "member_code",
    "qrcode",
    "face_data",
    "use_date_start",
    "use_date_end",
    "membergroup_id",
    "membergroup_name",
)
_RIGHTS = {"devices_pass": "door", "keys_pass": "key_box"}
_FIELDS = {"member_id", "member_name", "card_data", *_LIST_FIELDS}


def list_members(call: Call) -> dict[str, Any]:
    """Return the members in pages, in the order of their creation, without rights; `fields` adds `card_data` (assumed:
    it may also name fields that are always in the list, and nothing else).
    """
    query = call.query("limit", "last_evaluated_key", "fields")
    wanted = paging.read_page_request(call, query)
    named = paging.read_field_names(query, _FIELDS)
    rows = (
        Member.objects.annotate(place=CREATION_ORDER)
        .filter(tenant=call.tenant, place__gt=wanted.after)
        .order_by("place")
    )
    found = rows.values_list("id", "listed", "card_data", "group__membergroup_id", "group__name")
    shown, next_key = wanted.load_page(found, key=lambda row: row[0])
    members = []
    for _, listed, card_data, group_id, group_name in shown:
        listed |= {"membergroup_id": group_id, "membergroup_name": group_name}
        if card_data is not None and "card_data" in named:
            listed["card_data"] = card_data
        members.append(listed)
    return {"members": members, **next_key}


def create_member(call: Call) -> dict[str, Any]:
    """Create the member with a new identifier. QR codes and rights need their contract. The named groups, areas and key
    boxes must exist, and a card belongs to one member of the tenant (40901).
    """
    call.query()
    body = read_body(call)
    with lock_members(call.tenant):
        batch = MemberBatch(call.tenant, [body])
        member = batch.create(body)
        batch.save()
    return _name_fields(member)


def read_member(call: Call) -> dict[str, Any]:
    """Return the whole record with rights, privilege, account type and, if one-time QR is enabled, its seed. Rights
    that were never given are deny_all; rights without their contract are left out.
    """
    call.query()
    member = member_of(call)
    # Rights that were never given equal deny_all (specification: Entry permissions, rule 1).
    missing = {
        name: {"default_mode": "deny_all"} for name, contract in _RIGHTS.items() if call.tenant.has_contract(contract)
    }
    record: dict[str, Any] = member.listed | missing | member.detail
    record |= {"membergroup_id": member.group.membergroup_id, "membergroup_name": member.group.name}
    if member.card_data is not None:
        record["card_data"] = member.card_data
    if token := ProfileImage.objects.filter(member=member).values_list("token", flat=True).first():
        record["profile_image_url"] = files.profile_image_url(call.request, token)
    return record


def update_member(call: Call) -> dict[str, Any]:
    """Change only the fields in the body. Rights are replaced as a whole, null ends a use period or removes the QR
    code, and the other checks are those of creation.
    """
    call.query()
    body = read_body(call)
    with lock_members(call.tenant):
        batch = MemberBatch(call.tenant, [body])
        member = batch.update(member_of(call), body)
        batch.save()
    return _name_fields(member)


def delete_member(call: Call) -> Any:
    """Delete the member permanently, with its face image and its card registration."""
    call.query()
    with lock_members(call.tenant):
        batch = MemberBatch(call.tenant, [])
        batch.delete(member_of(call))
        batch.save()
    return _deletion_answer(call)


def register_profile_image(call: Call) -> dict[str, Any]:
    """Store a JPEG or PNG of at most 2 MB (assumed) as the member's picture, under an address that cannot be guessed.

    Another picture replaces it, under another address; deleting the member deletes it.
    """
    call.query()
    content, content_type = read_profile_image(call)
    with lock_members(call.tenant):
        member = member_of(call)
        image, _ = ProfileImage.objects.update_or_create(
            member=member,
            defaults={"token": secrets.token_urlsafe(32), "content_type": content_type, "content": content},
        )
    return {"member_id": member.member_id, "profile_image_url": files.profile_image_url(call.request, image.token)}


def register_face_image(call: Call) -> dict[str, Any]:
    """Accept a JPEG of at most 2 MB and register it `face_seconds` later; one that is already in use ends in
    `failed_registered`. A member with a face image must delete it first (409, 40902, assumed).
    """
    call.query()
    face = read_face_image(call)
    with lock_members(call.tenant):
        request = faces.register(call.tenant, member_of(call), face, call.behaviour, call.at)
    return {"request_id": request.request_id, "request_type": "face"}


def delete_face_image(call: Call) -> Any:
    """Delete the face image at once; without one nothing happens (assumed; `absent_faces_deleted`)."""
    call.query()
    with lock_members(call.tenant):
        there = faces.remove(member_of(call))
    if not there and not call.behaviour.absent_faces_deleted:
        raise not_found("face_image")
    return _deletion_answer(call)


def bulk_create_members(call: Call) -> dict[str, Any]:
    """Accept up to 1,000 members and create them one after another at `bulk_seconds_per_member`, after every earlier
    bulk request. An error in one member fails only that member.
    """
    return _bulk(call, "create")


def bulk_update_members(call: Call) -> dict[str, Any]:
    """Accept up to 1,000 changes and process them like bulk creation; a card may move between members within the
    request.
    """
    return _bulk(call, "update")


def bulk_delete_members(call: Call) -> dict[str, Any]:
    """Accept up to 1,000 identifiers and delete them one after another; an unknown one fails alone."""
    return _bulk(call, "delete")


def _bulk(call: Call, tag: str) -> dict[str, Any]:
    call.query()
    request = bulk.submit(call.tenant, tag, read_body(call)["members"], call.behaviour, call.at)
    return {"request_id": request.request_id, "request_type": "members_bulk"}


def member_of(call: Call) -> Member:
    """Return the member named in the path. Raises 404."""
    rows = Member.objects.select_related("group").filter(tenant=call.tenant)
    member = rows.filter(member_id=call.identifier("member_id")).first()
    if member is None:
        raise not_found("member_id")
    return member


def _deletion_answer(call: Call) -> Any:
    return HttpResponse(status=204) if call.behaviour.mute_deletions else {}


def _name_fields(member: Member) -> dict[str, Any]:
    return {"member_id": member.member_id, "member_name": member.listed["member_name"]}


HANDLERS = {
    "list_members": list_members,
    "create_member": create_member,
    "read_member": read_member,
    "update_member": update_member,
    "delete_member": delete_member,
    "register_profile_image": register_profile_image,
    "register_face_image": register_face_image,
    "delete_face_image": delete_face_image,
    "bulk_create_members": bulk_create_members,
    "bulk_update_members": bulk_update_members,
    "bulk_delete_members": bulk_delete_members,
}
