"""What can be done to many members at once: kinds of jobs, each with its name, its permission and its checks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from portal.core.jobs import comparing, kinds, suspensions
from portal.core.jobs.models import Job, Row
from portal.core.jobs.states import Action
from portal.core.rights import replacing
from tenants.roles import Permission
from tenants.wording import Said, say

Text = str | Promise


@dataclass(frozen=True)
class Act:
    """One of them. `title(job)` names a job of it, `heading` the form; `undo`: whether it can be taken back."""

    name: str
    permission: Permission
    heading: Text
    lead: Text
    title: Callable[[Job], Said]
    action: Action = Action.UPDATE
    undo: bool = True
    more: tuple[tuple[str, Any], ...] = ()

    @property
    def danger(self) -> bool:
        return not self.undo


def _suspending(job: Job, rows: Sequence[Row]) -> Mapping[int, kinds.Fresh]:
    """The usual last look; who is about to be suspended is known as such from the same transaction on."""
    found = comparing.listed(job, rows)
    if not job.options.get("undo"):
        suspensions.record(job, [row for row in rows if row.pk not in found])
    return found


def _move(job: Job) -> Said:
    return say("job.move", n=job.size, group=job.options.get("group", ""))


def _rights(job: Job) -> Said:
    return say("job.rights", n=job.size, source=job.options.get("source", ""))


ACTS: dict[str, Act] = {
    act.name: act
    for act in (
        Act(
            "suspend", Permission.MEMBERS_EDIT,
            gettext_lazy("Suspend members"),
            gettext_lazy(
                "Their access stops at the chosen time. Cards, QR codes and rights are kept, and so "
                "is the previous end date, so you can resume access later."
            ),
            lambda job: say("job.suspend", n=job.size), more=(("fresh", _suspending),),
        ),
        Act(
            "resume", Permission.MEMBERS_EDIT, gettext_lazy("Resume access"),
            gettext_lazy("Members whose access has ended can use it again."),
            lambda job: say("job.resume", n=job.size),
        ),
        Act(
            "extend", Permission.MEMBERS_EDIT,
            gettext_lazy("Extend access"), gettext_lazy("Sets a later end date."),
            lambda job: say("job.extend", n=job.size),
        ),
        Act(
            "move", Permission.MEMBERS_EDIT,
            gettext_lazy("Move members to another group"),
            gettext_lazy("Access rights do not change: groups have no rights of their own."),
            _move,
        ),
        Act(
            "rights", Permission.RIGHTS_EDIT, gettext_lazy("Set access rights"),
            gettext_lazy(
                "All selected members get the same rights, replacing their own. Rights not loaded "
                "yet are loaded first (1 API call per member)."
            ),
            _rights, more=(("unread", replacing.unread), ("fresh", replacing.fresh), ("changes", replacing.changes)),
        ),
        Act(
            "delete", Permission.MEMBERS_DELETE, gettext_lazy("Delete members"),
            gettext_lazy(
                "Deletes them from the service with their cards, QR codes and faces. This cannot be "
                "undone. To stop access but keep the record, suspend instead."
            ),
            lambda job: say("job.delete", n=job.size), action=Action.DELETE, undo=False,
        ),
    )
}  # fmt: skip


def _titled(act: Act) -> Callable[[Job], Said]:
    def titled(job: Job) -> Said:
        said = act.title(job)
        return say("job.undo", what=said) if job.options.get("undo") else said

    return titled


def register() -> None:
    """Make each of them a kind of job."""
    for act in ACTS.values():
        looks: dict[str, Any] = {"fresh": comparing.listed, **dict(act.more)}
        kinds.register(
            kinds.Kind(name=act.name, permission=act.permission, titled=_titled(act), undo=act.undo, **looks)
        )
