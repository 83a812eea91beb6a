"""A service with a test log, which is returned page by page, and the worker's steps that read it."""

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from accessapi.limits import JST
from portal.domain.events import MirrorKind
from portal.domain.history.models import History
from tenants.scope import tenant_scope
from tests.support.customers import Customer


def text(moment: datetime) -> str:
    return moment.astimezone(JST).replace(microsecond=0).isoformat()


class Log:
    """A service with a test log: records sorted by moment, two a page, as the specification describes."""

    size = 2

    def __init__(self) -> None:
        self.now = timezone.now()
        self.records: list[dict[str, Any]] = []
        self.unsorted = False
        self.circle = False
        self.refuse_cursors = False
        self.refuse_until = False

    def add(self, name: str, ago: timedelta = timedelta(0), **more: Any) -> None:
        self.records.append({"history_id": name, "datetime": text(timezone.now() - ago), **more})

    def __call__(self, path: str, query: dict[str, str]) -> tuple[int, Any]:
        if path != "/v1/histories":
            return 404, {}
        cursor = query.get("last_evaluated_key", "0")
        if (self.refuse_cursors and cursor != "0") or (self.refuse_until and "until" in query):
            return 400, {"error_code": "40002"}
        until = query.get("until", text(timezone.now() + timedelta(days=1)))
        rows = [row for row in self.records if query["since"] <= (row["datetime"] or query["since"]) <= until]
        if not self.unsorted:
            rows.sort(key=lambda row: row["datetime"] or "")
        at = int(cursor)
        more = at + self.size < len(rows) or self.circle
        following = 0 if self.circle else at + self.size
        return 200, {"histories": rows[at : at + self.size]} | ({"last_evaluated_key": str(following)} if more else {})


def again(here: Customer) -> None:
    """Read the log once more."""
    here.due_now(MirrorKind.HISTORIES)
    here.work()


def an_hour_of(here: Customer, general: int) -> None:
    """Let the service accept so many calls an hour."""
    for environment in (here.tenant.environment, here.connection.tenant.environment):
        environment.overrides = f"[limits]\ngeneral = {general}"
        environment.save()


def known(here: Customer) -> list[str]:
    with tenant_scope(here.tenant):
        return list(History.objects.order_by("-at", "-pk").order_by("at", "pk").values_list("history_id", flat=True))
