"""Register what the app offers to others, and follow up requests about groups."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from accessapi.limits import PAGE_MAX
from accessapi.resources import write_moment
from portal.base.timers.clock import database_now
from portal.base.ui import nav
from portal.base.ui.nav import NavEntry
from portal.domain.budget.client import client
from portal.domain.budget.priorities import Priority
from portal.domain.events import MirrorKind
from portal.domain.intents import handlers
from portal.domain.intents.handlers import Finding
from portal.domain.intents.models import Intent, State, target_of
from portal.domain.people.models import Group
from portal.domain.sync import local_writes, schedule
from tenants.audit_log import targets
from tenants.connections.service_clients import current_connection
from tenants.roles import Permission
from tenants.sentences import register_sentences, register_subject, register_targets


def on_finished(intent: Intent) -> None:
    """Save the new name in the mirror if the service accepted it. If the ID is missing, read the list again."""
    if intent.state != State.SUCCEEDED:
        return
    found = intent.result.get("evidence", {})
    membergroup_id = (
        intent.path.get("membergroup_id") or intent.result.get("membergroup_id") or found.get("membergroup_id")
    )
    if not membergroup_id:
        schedule.request_reading(intent.tenant, MirrorKind.GROUPS, by=intent.by)
        return
    intent.target = target_of("membergroup", membergroup_id)  # links the creation to its new group
    intent.save(update_fields=["target"])
    local_writes.apply_group_write(intent.tenant, membergroup_id, intent.body["membergroup_name"])


def find_new_group(intent: Intent) -> Finding:
    """Return whether exactly one new group of that name exists that no other request created."""
    known = (intent.snapshot or {}).get("known")
    groups = _read_groups(intent)
    same_name = [each for each, name in groups.names.items() if name == intent.body["membergroup_name"]]
    fresh = [each for each in same_name if each not in set(known or ())]
    fresh = sorted(set(fresh) - _created_by_others(intent, fresh))
    evidence: dict[str, Any] = {"read": write_moment(groups.at), "groups_of_this_name": len(same_name)}
    if not same_name or (known is not None and not fresh):
        return handlers.check_absence(intent, groups.at, evidence, is_whole=groups.is_complete)
    if known is None or len(fresh) > 1:
        return Finding(None, evidence)
    return Finding(True, {**evidence, "membergroup_id": fresh[0]})


def check_name(intent: Intent) -> Finding:
    """Compare the group's current name with the requested and the former one. Any other name is inconclusive."""
    groups = _read_groups(intent)
    name = groups.names.get(intent.path["membergroup_id"])
    evidence = {"read": write_moment(groups.at), "membergroup_name": name or ""}
    if name == intent.body["membergroup_name"]:
        return Finding(True, evidence)
    if name is None or name == (intent.snapshot or {}).get("membergroup_name"):
        return handlers.check_absence(intent, groups.at, evidence, is_whole=groups.is_complete)
    return Finding(None, evidence)


@dataclass(frozen=True)
class _Groups:
    """The names of a tenant's groups by ID, read at `at`. `is_complete` is False if a group had no ID."""

    at: datetime
    names: dict[str, str]
    is_complete: bool


def _read_groups(intent: Intent) -> _Groups:
    """Read the tenant's groups from the service. Raises ServiceError and BudgetExhausted."""
    at = database_now()
    pages = list(client(current_connection(), Priority.PEOPLE).pages("list_membergroups", {"limit": PAGE_MAX}))
    names = {item.membergroup_id: item.membergroup_name or "" for page in pages for item in page.value.items}
    return _Groups(at, names, is_complete=not any(page.value.unreadable_rows for page in pages))


def _created_by_others(intent: Intent, membergroup_ids: Sequence[str]) -> set[str]:
    """Return which of these groups came from other requests than this one."""
    others = Intent.objects.filter(operation=intent.operation, state=State.SUCCEEDED).exclude(pk=intent.pk)
    found = others.filter(result__membergroup_id__in=list(membergroup_ids))
    return set(found.values_list("result__membergroup_id", flat=True))


nav.register(NavEntry("groups", _("Groups"), "users-group", "groups:index", Permission.GROUPS_VIEW))
handlers.register("create_membergroup", on_finished=on_finished, reconcile=find_new_group)
handlers.register("update_membergroup", on_finished=on_finished, reconcile=check_name)


register_subject("groups", _("Groups"), "group groups create_membergroup update_membergroup")
register_sentences(
    {
        "group.create": _("Create group %(name)s"),
        "group.rename": _("Rename group %(old)s to %(new)s"),
        "groups.export": ngettext_lazy("%(n)s group exported as %(kind)s", "%(n)s groups exported as %(kind)s", "n"),
    }
)
register_targets({"groups": _("Groups"), "membergroup": _("Group")})
targets.register_names("membergroup", Group, "membergroup_id", "membergroup_name")
