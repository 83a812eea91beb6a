"""What the list holds, as a file to take along."""

import csv
import io
from collections.abc import Callable, Iterator

from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext_lazy as _

from portal.files.marks import guarded
from portal.intents.actions import Asker
from portal.members import actions
from portal.members.lists import Members
from portal.mirror.models import Member
from portal.ui.tables import Column, files


def _qr(name: str) -> Callable[[Member], str]:
    def read(row: Member) -> str:
        return str(row.qrcode.get(name) or "") if isinstance(row.qrcode, dict) else ""

    return read


SECRETS = (
    Column("card_data", _("Card number"), lambda row: row.card_data or ""),
    Column("qr_data", _("QR data"), _qr("data")),
    Column("qr_email", _("QR e-mail"), _qr("email")),
)


def respond(request: HttpRequest, table: Members, kind: str, *, secrets: bool = False) -> HttpResponseBase:
    """All members that match, in the list's order, as CSV or XLSX; written into the audit trail first.

    Whoever lets `secrets` in has checked that the person may see them.
    """
    count = table.matching.order_by().count()
    actions.exported(by=Asker.of(request), count=count, match=table.address.match, kind=kind, secrets=secrets)
    if secrets:
        table.base = table.base.defer(None).defer("rights", "extra")
        table.columns = (*table.columns, *SECRETS)  # type: ignore[misc]
    if kind == "xlsx":
        return files.respond(table, kind)
    heads = {"Content-Disposition": f'attachment; filename="{files.file_name(table, kind)}"'}
    return StreamingHttpResponse(_csv(table), content_type="text/csv; charset=utf-8", headers=heads)


def _csv(table: Members) -> Iterator[bytes]:
    """UTF-8 with a mark, so that Excel in Japan reads it; what Excel would take for a formula gets an apostrophe."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    yield b"\xef\xbb\xbf"
    for number, line in enumerate(files.lines(table)):
        writer.writerow([guarded(cell) if isinstance(cell, str) else cell for cell in line])
        if number % 500 == 499:
            yield buffer.getvalue().encode()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue().encode()
