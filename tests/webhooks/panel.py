"""The panel "Webhook" of a tenant's connection page, as tests use it."""

import html
import json
import re
import uuid
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from portal.base.timers.clock import database_now
from portal.domain.history.models import History
from portal.domain.intents import tracking
from portal.domain.intents.models import Intent, State
from portal.domain.intents.sending import send
from portal.domain.sync import single_reads
from portal.webhooks.models import Notification, Webhook
from tenants.models import User
from tenants.scope import tenant_scope
from tests.support.desk import fields_of
from tests.support.places import Place


def text_of(page: str) -> str:
    without = re.sub(r"(?s)<(script|style).*?</\1>|<[^>]+>", " ", page)
    return " ".join(html.unescape(without).split())


class Panel:
    """One person's browser at the panel, an owner's by default."""

    def __init__(self, place: Place, user: User | None = None) -> None:
        self.place = place
        self.browser = place.client(user)
        self.url = f"/t/{place.tenant.slug}/"
        self.no_scope = place.tenant.environment.catalogue.errors.scope[0]

    def scope(self) -> Any:
        return tenant_scope(self.place.tenant)

    def get(self, rest: str) -> str:
        answer = self.browser.get(self.url + rest)
        assert answer.status_code == 200, answer.status_code
        return str(answer.content.decode())

    def page(self) -> str:
        """Return the panel's HTML."""
        found = re.search(
            r'(?s)<section[^>]*id="webhook".*?(?=<section class="(?:split|card-flat)|</main>)', self.get("connection/")
        )
        return found[0] if found else ""

    def text(self) -> str:
        return text_of(self.get("connection/"))

    def fields(self, what: str) -> dict[str, Any]:
        """Return what a browser would send for the form of an action."""
        page = "connection/operations/" if what in {"address", "secret"} else "connection/"
        return fields_of(self.get(page), f"/webhook/{what}/")

    def act(self, what: str, **values: Any) -> str:
        """Send the form of an action. Categories are the usual ones, and are sent in the service's words."""
        if "categories" in values:
            values["categories"] = self.theirs(values["categories"])
        given = {name: value for name, value in self.fields(what).items() if name != "categories"} | values
        page = self.post(f"{what}/", **given)
        return self.later() if what == "secret" and self.intent().state == State.QUEUED else page

    def theirs(self, categories: list[str]) -> list[str]:
        """Return the service's words for these categories."""
        return [self.place.tenant.environment.catalogue.records.service_category(each) for each in categories]

    def later(self) -> str:
        """Send the waiting request. Return the text of the page afterwards."""
        with self.scope():
            Intent.objects.filter(state=State.QUEUED).update(due_at=database_now())
            send(self.intent())
        return self.text()

    def post(self, rest: str, **values: Any) -> str:
        answer = self.browser.post(f"{self.url}connection/webhook/{rest}", values, follow=True)
        assert answer.status_code in (200, 422), answer.status_code
        return text_of(answer.content.decode())

    def asked(self, seen: str) -> Any:
        """Refresh the panel as the page does, with the mark `seen`."""
        return self.browser.get(f"{self.url}connection/webhook/", headers={"X-Version": seen})

    def offered(self) -> list[str]:
        return re.findall(r'name="categories" value="([^"]+)"', self.page())

    def mark(self) -> str:
        found = re.search(r'name="replace" value="([^"]+)"', self.page())
        assert found
        return found[1]

    def row(self) -> Webhook:
        with self.scope():
            return Webhook.objects.get()

    def intent(self) -> Intent:
        with self.scope():
            return Intent.objects.select_related("by", "tenant__environment").latest("pk")

    def calls(self, operation: int) -> int:
        return len(self.place.calls(operation))

    def fault(self, kind: str, operation: int = 2, **values: Any) -> None:
        self.place.sandbox.fault(kind, operation, self.place.service.tenant_id, **values)

    def refuse(self, status: int, code: str, detail: str = "because") -> None:
        """Make the service refuse the next request."""
        body = {"message": "Refused", "error_code": code, "error_detail": detail}
        self.fault("status", status=status, body=json.dumps(body))

    def clear_faults(self) -> None:
        self.place.sandbox.clear_faults(self.place.service.tenant_id)

    def sent_until_uncertain(self) -> None:
        """Send the request again until the portal stops and calls it uncertain."""
        with self.scope():
            while (intent := self.intent()).state == State.QUEUED:
                Intent.objects.filter(pk=intent.pk).update(due_at=database_now())
                send(self.intent())
        assert self.intent().state == State.UNCERTAIN

    def last_run_at(self) -> None:
        """Read the service about the uncertain request as a worker does, and again a minute later."""
        with self.scope():
            Intent.objects.update(due_at=database_now())
            tracking.reconcile(self.intent())
            if (intent := self.intent()).state == State.UNCERTAIN:
                found = intent.result["evidence"]
                first = datetime.fromisoformat(found["first seen missing"]) - timedelta(minutes=1)
                intent.result["evidence"] = found | {"first seen missing": first.isoformat()}
                Intent.objects.filter(pk=intent.pk).update(result=intent.result, due_at=database_now())
                tracking.reconcile(self.intent())

    def at_service(self) -> dict[str, Any]:
        """Return the webhook's settings, read past the portal."""
        answer = self.place.sandbox.api("GET", "/v1/tenant", token=self.place.service.token)
        return dict(answer.json()["settings"]["webhook"])

    def set_there(self, *, url: str, category: list[str], is_invalid: bool = True, **more: Any) -> None:
        """Set the webhook past the portal, as another program would."""
        body: dict[str, Any] = {"is_invalid": is_invalid, "url": url, "trigger": {"history": {"category": category}}}
        if "secret" in more:
            body["secret_token"] = more["secret"]
        path = "/v1/tenant/webhook"
        answer = self.place.sandbox.api("PUT", path, body, token=self.place.service.token)
        assert answer.is_success, answer.text

    def refresh(self) -> None:
        """Read the tenant's record again."""
        with self.scope():
            single_reads.read_tenant(self.place.connection)

    def record(self, history_id: str, **values: Any) -> None:
        History.objects.create(history_id=history_id, at=timezone.now(), **values)

    def notified(self, *, at: Any, received_at: Any) -> None:
        Notification.objects.create(history_id=uuid.uuid4().hex, at=at, received_at=received_at)
