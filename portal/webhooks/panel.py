"""The panel "Webhook" on the connection page: status of notifications, both sides' settings, and actions."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.conf import settings
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext

from portal.base.timers.clock import database_now
from portal.base.ui import batching, live_updates
from portal.base.ui.shown_values import ConflictForm
from portal.base.ui.times import clock_tag, time_tag
from portal.base.ui.url_lookup import url_in_tenant
from portal.base.ui.value_words import service_word
from portal.domain.events import READ_INTERVALS, MirrorKind
from portal.domain.intents.models import UNDER_WAY, Intent, State
from portal.domain.sync.models import MirrorState
from portal.webhooks import actions, service_settings
from portal.webhooks.actions import WebhookChange
from portal.webhooks.models import Notification, Webhook
from portal.webhooks.service_settings import AddressOwner, ServiceSettings, category_choices
from tenants import vault
from tenants.access import TenantRequest
from tenants.connections.service_clients import current_connection
from tenants.roles import Permission


class CategoriesForm(ConflictForm, forms.Form):
    """The form for the categories of notifications.

    Choices are known categories; unknown ones that are set are kept.
    """

    categories = forms.MultipleChoiceField(
        label=gettext_lazy("Notify the portal of records in these categories"),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": gettext_lazy("Choose at least one category.")},
    )

    def __init__(self, row: Webhook, present: ServiceSettings | None, data: Any = None) -> None:
        usual = row.tenant.environment.catalogue.records.categories
        super().__init__(data, initial={"categories": list(row.categories or usual)})
        choices = [(each, service_word("category", each)) for each in category_choices(row.tenant, row, present)]
        self.fields["categories"].choices = choices  # type: ignore[attr-defined]  # a choice field


Working = Webhook.Working

_HOUR = 3600


@dataclass(frozen=True)
class WebhookStatus:
    """The first lines of the panel: a chip with sentences."""

    chip: str
    word: str
    sentences: tuple[str, ...] = ()


def status_of(row: Webhook) -> WebhookStatus:
    """Return the status of notifications for a tenant's webhook."""
    if not row.is_on:
        return WebhookStatus("stopped", pgettext("webhook", "Off"), (_polling_text(),))
    match row.working:
        case Working.WORKING:
            lines = _without_empty(
                _since_text(row), _last_message_text(row), _saved_calls_text(), _unnamed_text(row), _missed_text(row)
            )
            return WebhookStatus("connected", _("Working"), lines)
        case Working.SILENT:
            return WebhookStatus(
                "offline",
                _("Notifications stopped"),
                _without_empty(_silence_text(row), _polling_text(), _missed_text(row)),
            )
        case Working.LOSSY:
            return WebhookStatus(
                "offline",
                _("Missing notifications"),
                _without_empty(_last_message_text(row), _missed_text(row), _polling_text()),
            )
        case _:
            return WebhookStatus("waiting", _("Waiting for the first notification"), (_polling_text(),))


def log_status(working: str, every: int | None) -> WebhookStatus:
    """Return how the log gets new records, if it is read every `every` seconds (None: it cannot be read)."""
    if working == Working.WORKING and every and every > READ_INTERVALS[MirrorKind.HISTORIES]:
        return WebhookStatus("connected", _("Instant"))
    checked = (_interval_text(every),) if every else ()
    match working:
        case Working.OFF:
            return WebhookStatus("", "", checked)
        case Working.WORKING:
            return WebhookStatus("connected", _("Instant for some categories"), checked)
        case Working.SILENT:
            return WebhookStatus("offline", _("Notifications stopped"), checked)
        case Working.LOSSY:
            return WebhookStatus("offline", _("Missing notifications"), checked)
        case _:
            return WebhookStatus("waiting", _("Waiting for the first notification"), checked)


def _without_empty(*sentences: str) -> tuple[str, ...]:
    return tuple(each for each in sentences if each)


def _since_text(row: Webhook) -> str:
    return format_html(_("Since {at}."), at=time_tag(row.working_at)) if row.working_at else ""


def _last_message_text(row: Webhook) -> str:
    return format_html(_("Last notification {at}."), at=clock_tag(row.last_received_at)) if row.last_received_at else ""


def _silence_text(row: Webhook) -> str:
    text = _("No notification since {at}, which is longer than usual here.")
    return format_html(text, at=time_tag(row.last_received_at)) if row.last_received_at else ""


def _polling_text() -> str:
    return _interval_text(READ_INTERVALS[MirrorKind.HISTORIES])


def _interval_text(every: int) -> str:
    minutes = every // 60
    return ngettext("The log is checked every minute.", "The log is checked every %(n)d minutes.", minutes) % {
        "n": minutes
    }


def _saved_calls_text() -> str:
    """Return a text about how many API calls per hour notifications save."""
    every = MirrorState.objects.filter(kind=MirrorKind.HISTORIES).values_list("every", flat=True).first()
    usual = _HOUR // READ_INTERVALS[MirrorKind.HISTORIES]
    saved = usual - round(_HOUR / every) if every else 0
    if saved <= 0:
        return ""
    return _("Saves about %(saved)d of %(usual)d API calls an hour for the log.") % {"saved": saved, "usual": usual}


def _unnamed_text(row: Webhook) -> str:
    text = _("Notifications do not name their record, so missing notifications cannot be detected.")
    return text if row.lacks_record_ids else ""


def _missed_text(row: Webhook) -> str:
    if not row.missed or not row.missed_at:
        return ""
    text = ngettext(
        "{n} record came without a notification, last {at}.",
        "{n} records came without a notification, last {at}.",
        row.missed,
    )
    return format_html(text, n=row.missed, at=time_tag(row.missed_at))


# How long a test waits for a notification. Its result is shown for `_SHOWN_FOR`.
TEST_TIMEOUT = timedelta(minutes=5)
_SHOWN_FOR = timedelta(hours=1)
BATCH_NAME = "webhook"
# The name of the request attribute with a refused form.
REFUSED_FORM = "webhook_form"
_RENEWALS = (
    (WebhookChange.ADDRESS, gettext_lazy("Renew address")),
    (WebhookChange.SECRET, gettext_lazy("Renew secret")),
)


@dataclass(frozen=True)
class WebhookTest:
    """A started test: the first notification since then, or whether it still waits."""

    since: datetime
    notification: Notification | None
    is_waiting: bool

    @property
    def seconds(self) -> float | None:
        """Return the seconds between the record's time and the notification; None if the record has no time."""
        found = self.notification
        return max(0.0, (found.received_at - found.at).total_seconds()) if found and found.at else None


def test_of(row: Webhook, now: datetime) -> WebhookTest | None:
    """Return the last test; None if it is too old to be shown."""
    if row.tested_at is None or now - row.tested_at > _SHOWN_FOR:
        return None
    first = Notification.objects.filter(received_at__gte=row.tested_at).order_by("received_at").first()
    return WebhookTest(row.tested_at, first, first is None and now - row.tested_at < TEST_TIMEOUT)


def live_context(request: TenantRequest) -> dict[str, Any]:
    """Return the data that is updated automatically, and its version."""
    row = Webhook.objects.first() or Webhook(tenant=request.tenant)
    if vault.is_unreadable(row):
        service_settings.reset_credentials(row)  # not saved: shows what switching on would do
    present, now = ServiceSettings.load(), database_now()
    intent = _latest_intent(now)
    context = {
        "row": row,
        "present": present,
        "state": status_of(row),
        "test": test_of(row, now),
        "intent": intent,
        **_compare_settings(row, present, is_open=intent is not None and intent.state in (*UNDER_WAY, State.UNCERTAIN)),
    }
    return context | {"version": _version(context)}


def _latest_intent(now: datetime) -> Intent | None:
    """Return the last request about the webhook; None if it succeeded some time ago."""
    found = Intent.objects.filter(operation=actions.OPERATION).select_related("by", "tenant").order_by("-id").first()
    is_past = found is not None and found.state == State.SUCCEEDED and now - (found.finished_at or now) > _SHOWN_FOR
    return None if is_past else found


def _compare_settings(row: Webhook, present: ServiceSettings | None, *, is_open: bool) -> dict[str, Any]:
    """Return both sides' settings with notes about differences. There are no notes while a request is open."""
    if present is None:
        return {"lines": [], "differs": False, "others": False}
    lines = service_settings.compare(row, present)
    others = present.address_owner(row) is AddressOwner.OTHERS
    is_ours = row.is_on or present.address_owner(row) is AddressOwner.OURS
    return {
        "lines": lines if row.pk or others else [],
        "differs": not is_open and is_ours and any(line.differs for line in lines),
        "others": others and not is_open,
    }


def _version(context: dict[str, Any]) -> str:
    row, intent, test = context["row"], context["intent"], context["test"]
    of_row = (row.is_on, row.categories, row.set_at)
    of_intent = intent and (intent.pk, intent.state, intent.reason)
    of_test = test and (test.since, test.is_waiting, test.notification and test.notification.pk)
    return live_updates.version_of(of_row, of_intent, of_test, context["present"], context["differs"], context["state"])


def draw_panel(request: TenantRequest) -> SafeString:
    """Draw the panel, with a form that this request refused. Empty for a tenant that was never connected."""
    refused: CategoriesForm | None = getattr(request, REFUSED_FORM, None)
    if not current_connection().service_tenant_id:
        return SafeString("")
    live = live_context(request)
    row, present = live["row"], live["present"]
    context = live | {
        "form": refused or CategoriesForm(row, present),
        "may_manage": request.access.can(Permission.CONNECTION_MANAGE),
        "is_reachable": service_settings.is_reachable(),
        "portal_url": settings.PORTAL_URL,
        "mark": actions.address_digest(present) if present is not None else "",
    }
    return render_to_string("webhooks/panel.html", context, request=request)


def draw_credentials(request: TenantRequest) -> SafeString:
    """Draw the webhook's address and secret for owners, if it is on."""
    if not request.access.can(Permission.CONNECTION_MANAGE) or not Webhook.objects.filter(is_on=True).exists():
        return SafeString("")
    return render_to_string("webhooks/credentials.html", {"renewals": _RENEWALS}, request=request)


def draw_on_log_page(request: TenantRequest) -> SafeString:
    """Draw how soon the log gets new records, next to its completeness."""
    rows, states = batching.load_rows(request, BATCH_NAME), batching.load_rows(request, "freshness")
    working = next((working for is_on, working in rows if is_on), Webhook.Working.OFF)
    read = next((each for each in states if each.kind == MirrorKind.HISTORIES), None)
    every = None if read is None or read.error else read.every or READ_INTERVALS[MirrorKind.HISTORIES]
    href = (
        url_in_tenant("connection:index", request.tenant.slug) if request.access.can(Permission.CONNECTION_VIEW) else ""
    )
    context = {"state": log_status(working, every), "href": href}
    return render_to_string("webhooks/log.html", context)


_AUDIT_LABELS = {"webhook_on": gettext_lazy("Notifications"), "webhook_categories": gettext_lazy("Categories")}


def audit_words(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the webhook's values from the audit log as text."""
    found = {}
    if "webhook_on" in values:
        found["webhook_on"] = service_settings.on_off_text(values["webhook_on"])
    if "webhook_categories" in values:
        found["webhook_categories"] = service_settings.categories_text(values["webhook_categories"])
    return found


def audit_label(name: str) -> str:
    """Return the label of one of the webhook's values in the audit log."""
    return str(_AUDIT_LABELS.get(name, name))
