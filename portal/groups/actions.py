"""Changes of groups that staff request from the service: create and rename. The specification has no deletion."""

from portal.domain.events import MirrorKind
from portal.domain.intents.actions import Requester, submit
from portal.domain.intents.models import Intent, target_of
from portal.domain.intents.nonces import Nonce
from portal.domain.intents.recording import Command
from portal.domain.people.models import Group
from portal.domain.sync.models import MirrorState
from tenants.roles import Permission
from tenants.sentences import coded_sentence


def create(*, name: str, by: Requester, nonce: Nonce) -> Intent:
    """Request a new group (operation 17), at most once. The returned intent holds the result."""
    return submit(
        Command(
            permission=Permission.GROUPS_EDIT,
            operation="create_membergroup",
            title=coded_sentence("group.create", name=name),
            body={"membergroup_name": name},
            snapshot={"known": _known_ids()},
            after={"membergroup_name": name},
        ),
        by=by,
        nonce=nonce,
    )


def rename(*, group: Group, name: str, by: Requester, nonce: Nonce) -> Intent:
    """Request a new name for a group (operation 18). The returned intent holds the result."""
    return submit(
        Command(
            permission=Permission.GROUPS_EDIT,
            operation="update_membergroup",
            target=target_of("membergroup", group.membergroup_id),
            title=coded_sentence("group.rename", old=group, new=name),
            path={"membergroup_id": group.membergroup_id},
            body={"membergroup_name": name},
            snapshot={"membergroup_name": group.membergroup_name},
            before={"membergroup_name": group.membergroup_name},
            after={"membergroup_name": name},
        ),
        by=by,
        nonce=nonce,
    )


def _known_ids() -> list[str] | None:
    """Return the IDs of the mirror's groups, or None if the list was never read and thus proves nothing."""
    if not MirrorState.objects.filter(kind=MirrorKind.GROUPS, as_of__isnull=False).exists():
        return None
    return list(Group.objects.order_by("pk").values_list("membergroup_id", flat=True))
