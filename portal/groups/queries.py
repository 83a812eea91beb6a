"""A group's neighbourhood: who is in it, and what was lately asked about it."""

from collections.abc import Sequence

from portal.core.intents import queries as intents
from portal.core.intents.models import Intent, target_of
from portal.core.intents.states import State
from portal.core.mirror.kinds import Kind
from portal.core.mirror.models import Group, MirrorState

LATEST_INTENTS = 5


def total() -> int:
    """How many groups the tenant has, without counting them."""
    return MirrorState.objects.filter(kind=Kind.GROUPS).values_list("total", flat=True).first() or 0


def latest_intents(group: Group) -> list[Intent]:
    """What was lately asked about this group, the newest first, whoever asked."""
    return list(
        intents.latest(target_of("membergroup", group.membergroup_id)).select_related("tenant")[:LATEST_INTENTS]
    )


def known_ids() -> list[str] | None:
    """The groups that the mirror knows now, or None while the list was never read: then nothing can be told from it."""
    if not MirrorState.objects.filter(kind=Kind.GROUPS, as_of__isnull=False).exists():
        return None
    return list(Group.objects.order_by("pk").values_list("membergroup_id", flat=True))


def created_by_others(intent: Intent, membergroup_ids: Sequence[str]) -> set[str]:
    """Those of the groups that are known to come from another creation than this one."""
    others = Intent.objects.filter(operation=intent.operation, state=State.SUCCEEDED).exclude(pk=intent.pk)
    found = others.filter(result__membergroup_id__in=list(membergroup_ids))
    return set(found.values_list("result__membergroup_id", flat=True))
