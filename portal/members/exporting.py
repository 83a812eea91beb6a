"""What the list holds, as a file to take along."""

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext_lazy as _

from portal.core.intents.actions import Asker
from portal.core.mirror.models import Member
from portal.core.ui.tables import Column, file_response
from portal.members import actions
from portal.members.lists import Members


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
    if secrets:
        table.base = table.base.defer(None).defer("rights", "extra")
        table.columns = (*table.columns, *SECRETS)  # type: ignore[misc]

    def record() -> None:
        actions.exported(by=Asker.of(request), count=count, match=table.address.match, kind=kind, secrets=secrets)

    return file_response(table, kind, record=record)
