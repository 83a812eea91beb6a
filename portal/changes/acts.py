"""What can be done to many members at once: kinds of jobs, each with its name, its permission and its checks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from portal.bulk import comparing, kinds, suspensions
from portal.bulk.models import Job, Row
from portal.bulk.states import Action
from portal.changes import rightsets
from tenants.roles import Permission

Text = str | Promise


@dataclass(frozen=True)
class Act:
    """One of them. `title(n)` names a job on n members, `heading` the form; `undo`: whether it can be taken back."""

    name: str
    permission: Permission
    heading: Text
    lead: Text
    title: Callable[[Job], str]
    action: Action = Action.UPDATE
    undo: bool = True
    more: tuple[tuple[str, Any], ...] = ()

    @property
    def danger(self) -> bool:
        return not self.undo


def _n(job: Job) -> dict[str, Any]:
    return {"n": f"{job.size:,}"}


def _suspend(job: Job) -> str:
    return ngettext("Suspend %(n)s member", "Suspend %(n)s members", job.size) % _n(job)


def _suspending(job: Job, rows: Sequence[Row]) -> Mapping[int, kinds.Fresh]:
    """The usual last look; who is about to be suspended is known as such from the same transaction on."""
    found = comparing.listed(job, rows)
    if not job.options.get("undo"):
        suspensions.record(job, [row for row in rows if row.pk not in found])
    return found


def _resume(job: Job) -> str:
    return ngettext("Resume %(n)s member", "Resume %(n)s members", job.size) % _n(job)


def _extend(job: Job) -> str:
    words = ngettext("Extend the use of %(n)s member", "Extend the use of %(n)s members", job.size)
    return words % _n(job)


def _move(job: Job) -> str:
    words = ngettext("Move %(n)s member to “%(group)s”", "Move %(n)s members to “%(group)s”", job.size)
    return words % {**_n(job), "group": job.options.get("group", "")}


def _rights(job: Job) -> str:
    words = ngettext(
        "Set the rights of %(n)s member: %(source)s", "Set the rights of %(n)s members: %(source)s", job.size
    )
    return words % {**_n(job), "source": job.options.get("source", "")}


def _delete(job: Job) -> str:
    return ngettext("Delete %(n)s member", "Delete %(n)s members", job.size) % _n(job)


ACTS: dict[str, Act] = {
    act.name: act
    for act in (
        Act(
            "suspend", Permission.MEMBERS_EDIT,
            gettext_lazy("Suspend members"),
            gettext_lazy(
                "Their use ends at the moment that you choose, and no door opens for them any more. Cards, codes and "
                "rights stay as they are, and the former end of use is kept, so that it can be given back."
            ),
            _suspend, more=(("fresh", _suspending),),
        ),
        Act(
            "resume", Permission.MEMBERS_EDIT, gettext_lazy("Resume members"),
            gettext_lazy("Gives the use back to members whose use has ended."),
            _resume,
        ),
        Act(
            "extend", Permission.MEMBERS_EDIT,
            gettext_lazy("Extend the use of members"), gettext_lazy("Sets a later end of use."),
            _extend,
        ),
        Act(
            "move", Permission.MEMBERS_EDIT,
            gettext_lazy("Move members to a group"), gettext_lazy("Their rights stay as they are: groups carry none."),
            _move,
        ),
        Act(
            "rights", Permission.RIGHTS_EDIT, gettext_lazy("Set the rights of members"),
            gettext_lazy(
                "All of them get the same rights, in place of their own. Members whose rights are not known are read "
                "one by one first, which costs a call for each."
            ),
            _rights, more=(("unread", rightsets.unread), ("fresh", rightsets.fresh), ("changes", rightsets.changes)),
        ),
        Act(
            "delete", Permission.MEMBERS_DELETE, gettext_lazy("Delete members"),
            gettext_lazy(
                "The service deletes them with their cards, codes and faces. This cannot be undone. To lock somebody "
                "out and keep the record, suspend instead."
            ),
            _delete, action=Action.DELETE, undo=False,
        ),
    )
}  # fmt: skip


def _titled(act: Act) -> Callable[[Job], str]:
    def titled(job: Job) -> str:
        said = act.title(job)
        return _("Undo: %(what)s") % {"what": said} if job.options.get("undo") else said

    return titled


def register() -> None:
    """Make each of them a kind of job."""
    for act in ACTS.values():
        looks: dict[str, Any] = {"fresh": comparing.listed, **dict(act.more)}
        kinds.register(
            kinds.Kind(name=act.name, permission=act.permission, titled=_titled(act), undo=act.undo, **looks)
        )
