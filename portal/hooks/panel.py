"""The panel "Webhook" on the connection's page: how notifications stand, what is set where, and what can be done."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings as site
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from portal.core.intents.models import Intent
from portal.core.intents.states import UNDER_WAY, State
from portal.core.mirror.kinds import EVERY, Kind
from portal.core.timers.clock import database_now
from portal.core.ui import panels, together, watching
from portal.core.ui.addresses import within
from portal.hooks import actions, settings
from portal.hooks.actions import Act
from portal.hooks.forms import CategoriesForm
from portal.hooks.models import Notification, Webhook
from portal.hooks.settings import Present, Whose
from portal.hooks.words import of_the_log, standing_of
from tenants import vault
from tenants.access import TenantRequest
from tenants.connections.service import current_connection
from tenants.roles import Permission
from tenants.trail import changes

#: How long a test waits for a notification, and how long its result is shown.
PATIENCE = timedelta(minutes=5)
_SHOWN = timedelta(hours=1)
_ASKED = "webhook"
#: The name under which a request carries the form that it refused.
REFUSED = "webhook_form"
_RENEWALS = ((Act.ADDRESS, _("Renew address")), (Act.SECRET, _("Renew secret")))


@dataclass(frozen=True)
class Test:
    """A test that was begun: the first notification since, or whether it is still waited for."""

    since: datetime
    notification: Notification | None
    is_waiting: bool

    @property
    def seconds(self) -> float | None:
        """How long after the record's own time the notification came; None where it tells no time."""
        found = self.notification
        return max(0.0, (found.received_at - found.at).total_seconds()) if found and found.at else None


def test_of(row: Webhook, now: datetime) -> Test | None:
    """Return the last test, while its result is worth showing."""
    if row.tested_at is None or now - row.tested_at > _SHOWN:
        return None
    first = Notification.objects.filter(received_at__gte=row.tested_at).order_by("received_at").first()
    return Test(row.tested_at, first, first is None and now - row.tested_at < PATIENCE)


def live(request: TenantRequest) -> dict[str, Any]:
    """Return what is shown while somebody looks, and the mark that it is known by."""
    row = Webhook.objects.first() or Webhook(tenant=request.tenant)
    if vault.unreadable(row):
        settings.begin_anew(row)  # not saved: what is shown is what switching on would do
    present, now = Present.stored(), database_now()
    intent = _latest(now)
    told = {
        "row": row,
        "present": present,
        "state": standing_of(row),
        "test": test_of(row, now),
        "intent": intent,
        **_compared(row, present, is_open=intent is not None and intent.state in (*UNDER_WAY, State.UNCERTAIN)),
    }
    return told | {"seen": _mark(told)}


def _latest(now: datetime) -> Intent | None:
    """Return the last request about the webhook, unless it is done with for a while."""
    found = Intent.objects.filter(operation=actions.OPERATION).select_related("by", "tenant").order_by("-id").first()
    is_past = found is not None and found.state == State.SUCCEEDED and now - (found.finished_at or now) > _SHOWN
    return None if is_past else found


def _compared(row: Webhook, present: Present | None, *, is_open: bool) -> dict[str, Any]:
    """Return both settings line by line, and what is to be said of the differences; nothing while a request is open."""
    if present is None:
        return {"lines": [], "differs": False, "others": False}
    lines = settings.lines(row, present)
    others = present.whose(row) is Whose.OTHERS
    ours = row.is_on or present.whose(row) is Whose.OURS
    return {
        "lines": lines if row.pk or others else [],
        "differs": not is_open and ours and any(line.differs for line in lines),
        "others": others and not is_open,
    }


def _mark(told: dict[str, Any]) -> str:
    row, intent, test = told["row"], told["intent"], told["test"]
    of_row = (row.is_on, row.categories, row.set_at)
    of_intent = intent and (intent.pk, intent.state, intent.reason)
    of_test = test and (test.since, test.is_waiting, test.notification and test.notification.pk)
    return watching.mark(of_row, of_intent, of_test, told["present"], told["differs"], told["state"])


def draw(request: TenantRequest) -> SafeString:
    """Draw the panel, with the form that this request refused; nothing for a tenant that was never connected."""
    refused: CategoriesForm | None = getattr(request, REFUSED, None)
    if not current_connection().service_tenant_id:
        return SafeString("")
    told = live(request)
    row, present = told["row"], told["present"]
    context = told | {
        "form": refused or CategoriesForm(row, present),
        "may_manage": request.access.can(Permission.CONNECTION_MANAGE),
        "is_reachable": settings.is_reachable(),
        "portal_url": site.PORTAL_URL,
        "renewals": _RENEWALS,
        "mark": actions.mark_of(present) if present is not None else "",
    }
    return render_to_string("hooks/panel.html", context, request=request)


def draw_for_log(request: TenantRequest) -> SafeString:
    """Say how soon the log learns of new records, beside how far it is complete."""
    told, states = together.told(request, _ASKED), together.told(request, "freshness")
    working = next((working for is_on, working in told if is_on), Webhook.Working.OFF)
    read = next((each for each in states if each.kind == Kind.HISTORIES), None)
    every = None if read is None or read.error else read.every or EVERY[Kind.HISTORIES]
    href = within("connection:index", request.tenant.slug) if request.access.can(Permission.CONNECTION_VIEW) else ""
    context = {"state": of_the_log(working, every), "href": href}
    return render_to_string("hooks/log.html", context)


_LABELS = {"webhook_on": _("Notifications"), "webhook_categories": _("Categories")}


def in_words(kept: Mapping[str, Any]) -> dict[str, str]:
    """Return what the audit log keeps of the webhook, in the reader's words."""
    found = {}
    if "webhook_on" in kept:
        found["webhook_on"] = settings.switch(kept["webhook_on"])
    if "webhook_categories" in kept:
        found["webhook_categories"] = settings.categories_in_words(kept["webhook_categories"])
    return found


def register() -> None:
    panels.register("connection", draw)
    panels.register("log", draw_for_log, asks=_ASKED)
    together.ask(_ASKED, lambda: Webhook.objects.values_list("is_on", "working"), everywhere=False)
    changes.word(actions.TARGET, in_words)
    changes.label(actions.TARGET, lambda name: str(_LABELS.get(name, name)))
