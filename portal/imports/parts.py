"""Cutting the waiting rows into requests: at most 1,000 members and 4 MB each, one after another, each sent once.

Part, rows and intent are written in one transaction. The intent's nonce is made of the import and the part's number:
however often and wherever this is repeated, there is one intent for a part.
"""

from collections.abc import Sequence
from typing import Any

from django.db.models import F, Max
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, override

from accessapi.encoding import encode_json
from portal.budget.priorities import Priority
from portal.imports.models import Import, ImportPart, ImportRow
from portal.imports.sightings import snapshot
from portal.imports.states import Action, RowState
from portal.intents.actions import Asker, submit
from portal.intents.nonces import Nonce
from portal.mirror.folding import fold
from portal.mirror.models import Member
from tenants.roles import Permission
from tenants.scope import current_tenant

OPERATIONS = {Action.UPDATE: "bulk_update_members", Action.CREATE: "bulk_create_members"}
# The length of {"members":[]}: each member adds its own JSON and a comma.
_FRAME = len(b'{"members":[]}')


def send_next(job: Import) -> ImportPart | None:
    """Record the next request of a running import, its row locked by the caller. None: no row waits.

    Changes go first, so that a card that one member gives up is free for the next.
    """
    for action in OPERATIONS:
        while rows := list(_waiting(job, action)[: job.part_rows]):
            rows = _fitting(job, _still_right(action, rows))
            if rows:
                return _send(job, action, rows)
    return None


def _waiting(job: Import, action: Action) -> Any:
    return ImportRow.objects.filter(job=job, state=RowState.PENDING, action=action).order_by("line")


def _still_right(action: Action, rows: list[ImportRow]) -> list[ImportRow]:
    """Leave out new members whose code has come to somebody since the dry run: sending them would double a person."""
    if action != Action.CREATE:
        return rows
    codes = {row.pk: row.content["code"] for row in rows}
    keys = {fold(code) for code in codes.values() if code}
    present = Member.objects.filter(gone_at__isnull=True, code_key__in=keys).values_list("member_code", flat=True)
    taken = set(present) if keys else set()
    late = [row.pk for row in rows if codes[row.pk] in taken]
    if late:
        problem = [["member_code", "appeared", {}]]
        ImportRow.objects.filter(pk__in=late).update(state=RowState.FAILED, problems=problem)
    return [row for row in rows if row.pk not in late]


def member_of(row: ImportRow) -> dict[str, Any]:
    """The row as an item of the request's members."""
    body: dict[str, Any] = row.content["body"]
    return {"member_id": row.member_id, **body} if row.action == Action.UPDATE else body


def _fitting(job: Import, rows: Sequence[ImportRow]) -> list[ImportRow]:
    """The first rows that stay within the bytes of a request; at least one."""
    catalogue = current_tenant().environment.catalogue
    taken: list[ImportRow] = []
    size = _FRAME
    for row in rows:
        operation = catalogue.operation(OPERATIONS[Action(row.action)])
        size += len(encode_json(operation, {"members": [member_of(row)]}, catalogue.shapes)) - _FRAME + 1
        if taken and size > job.part_bytes:
            break
        taken.append(row)
    return taken


def _send(job: Import, action: Action, rows: list[ImportRow]) -> ImportPart:
    last = ImportPart.objects.filter(job=job).aggregate(last=Max("ordinal"))["last"]
    part = ImportPart.objects.create(job=job, ordinal=(last or 0) + 1, action=action, rows=len(rows))
    for position, row in enumerate(rows):
        row.position = position
    ImportRow.objects.bulk_update(rows, ["position"], batch_size=500)
    ImportRow.objects.filter(pk__in=[row.pk for row in rows]).update(
        state=RowState.SENT, part=part, attempts=F("attempts") + 1, code="", detail="", problems=[]
    )
    part.intent = submit(
        inline=False,
        by=Asker(current_tenant(), job.by, job.support_session),
        permission=Permission.IMPORTS_RUN,
        operation=OPERATIONS[action],
        target=f"import:{job.pk}",
        title=_title(job, part),
        body={"members": [member_of(row) for row in rows]},
        snapshot=snapshot(rows) if action == Action.CREATE else None,
        nonce=Nonce(f"import-{job.pk}-part-{part.ordinal}"),
        priority=Priority.JOBS,
    )
    part.save(update_fields=["intent"])
    return part


def _title(job: Import, part: ImportPart) -> str:
    with override(job.language):
        if part.action == Action.CREATE:
            what = ngettext("create %(n)d member", "create %(n)d members", part.rows) % {"n": part.rows}
        else:
            what = ngettext("change %(n)d member", "change %(n)d members", part.rows) % {"n": part.rows}
        words = {"file": job.file.name[:120], "what": what, "part": part.ordinal}
        return _("Import %(file)s: %(what)s (request %(part)d)") % words
