"""What staff ask the service about groups: a new one, or another name. There is no deletion in the specification."""

from portal.core.intents.actions import Requester, submit
from portal.core.intents.models import Intent, target_of
from portal.core.intents.nonces import Nonce
from portal.core.mirror.kinds import MirrorKind
from portal.core.mirror.models import Group, MirrorState
from tenants.roles import Permission
from tenants.wording import coded_sentence


def create(*, name: str, by: Requester, nonce: Nonce) -> Intent:
    """Ask the service for a new group (operation 17), at most once. The returned intent says how far it came."""
    return submit(
        by=by,
        permission=Permission.GROUPS_EDIT,
        operation="create_membergroup",
        title=coded_sentence("group.create", name=name),
        body={"membergroup_name": name},
        nonce=nonce,
        snapshot={"known": _known_ids()},
        after={"membergroup_name": name},
    )


def rename(*, group: Group, name: str, by: Requester, nonce: Nonce) -> Intent:
    """Ask the service to give a group another name (operation 18). The returned intent says how far it came."""
    return submit(
        by=by,
        permission=Permission.GROUPS_EDIT,
        operation="update_membergroup",
        target=target_of("membergroup", group.membergroup_id),
        title=coded_sentence("group.rename", old=group, new=name),
        path={"membergroup_id": group.membergroup_id},
        body={"membergroup_name": name},
        nonce=nonce,
        snapshot={"membergroup_name": group.membergroup_name},
        before={"membergroup_name": group.membergroup_name},
        after={"membergroup_name": name},
    )


def _known_ids() -> list[str] | None:
    """The groups that the mirror knows now, or None while the list was never read: then nothing can be told from it."""
    if not MirrorState.objects.filter(kind=MirrorKind.GROUPS, as_of__isnull=False).exists():
        return None
    return list(Group.objects.order_by("pk").values_list("membergroup_id", flat=True))
