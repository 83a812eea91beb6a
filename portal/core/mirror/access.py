"""What an address names of the mirror: of the tenant in scope, or 404 exactly as for another tenant's."""

from collections.abc import Iterable

from portal.core.mirror.models import Area, Group, Member, PassController
from portal.core.ui.addresses import row_or_404


def get_member(member_id: str, *, gone: bool = False) -> Member:
    """Return the member. With `gone`, also one that the service no longer has and no complete list has confirmed."""
    members = Member.objects.all() if gone else Member.objects.filter(gone_at__isnull=True)
    return row_or_404(members, member_id=member_id)


def find_members(member_ids: Iterable[str]) -> list[Member]:
    """Return those of them that the service still has, in one query, without what is secret of them."""
    sound = [member_id for member_id in member_ids if "\x00" not in member_id]
    rows = Member.objects.filter(member_id__in=sound, gone_at__isnull=True)
    return list(rows.defer("card_data", "qrcode", "extra"))


def get_group(membergroup_id: str) -> Group:
    return row_or_404(Group.objects.all(), membergroup_id=membergroup_id)


def get_area(area_id: str) -> Area:
    return row_or_404(Area.objects.all(), area_id=area_id)


def get_door(device_id: str) -> PassController:
    return row_or_404(PassController.objects.all(), device_id=device_id)
