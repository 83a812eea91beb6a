"""Post an alert as signed JSON to a web address of the tenant, once, to exactly the IP address that was checked."""

import hashlib
import hmac
import json
from typing import Any
from urllib.parse import urlsplit

import httpx2
from django.utils.translation import gettext as _
from django.utils.translation import override

from accessapi.errors import NotSent, OutcomeUnknown
from accessapi.transport import ConnectionPool, ServiceTransport
from portal.base.timers.clock import database_now
from portal.domain.alerts.models import Severity
from portal.domain.alerts.texts import AlertTexts
from portal.domain.notifications.delivery_outcomes import DeliveryOutcome
from portal.domain.notifications.mailing import alert_url
from portal.domain.notifications.models import Telling, WebAddress
from portal.domain.notifications.networks import HostNotFound, NetworkRefused, resolve_host
from tenants.models import current_tenant

SIGNATURE = "X-Alert-Signature"
_READ_SECONDS, _ANSWER_SECONDS, _ANSWER_MAX = 5.0, 10.0, 64 * 1024


def post(telling: Telling) -> DeliveryOutcome:
    """Post a notification to its web address. Redirects are not followed, and only the status of the answer counts."""
    address = telling.address
    if address is None:
        raise ValueError("this telling is none to a web address")
    try:
        status = _post_body(address, _body(telling, address), telling)
    except NetworkRefused:
        return DeliveryOutcome.failed("network refused")
    except HostNotFound:
        return DeliveryOutcome.failed_for_now("name not found")
    except NotSent as error:
        return DeliveryOutcome.failed_for_now(error.reason)
    except OutcomeUnknown as error:
        return (
            DeliveryOutcome.sent(_status_text(error.status))
            if _is_success(error.status)
            else DeliveryOutcome.uncertain("no answer")
        )
    if _is_success(status):
        return DeliveryOutcome.sent(_status_text(status))
    return (
        DeliveryOutcome.failed_for_now(_status_text(status))
        if status == 429 or status >= 500
        else DeliveryOutcome.failed(_status_text(status))
    )


def sign(secret: str, at: int, body: bytes) -> str:
    """Return the signature of a moment and a body: HMAC-SHA256 of "moment.body", in hexadecimal digits."""
    digest = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={digest}"


def _post_body(address: WebAddress, body: bytes, telling: Telling) -> int:
    """Post the body and return the status of the answer. Each try uses the next of the name's IP addresses."""
    parts = urlsplit(address.url)
    found = resolve_host(parts.hostname or "", parts.port or 443)
    pool = ConnectionPool(max_idle=0, address=found[telling.attempts % len(found)])
    at = int(database_now().timestamp())
    headers = {
        "Content-Type": "application/json; charset=utf-8",
        "Accept-Encoding": "identity",
        "User-Agent": "access-portal",
        "X-Alert-Delivery": str(telling.pk),
        SIGNATURE: sign(address.secret, at, body),
    }
    try:
        wire = ServiceTransport(
            pool, read_seconds=_READ_SECONDS, answer_seconds=_ANSWER_SECONDS, answer_max=_ANSWER_MAX
        )
        return wire.handle_request(httpx2.Request("POST", address.url, headers=headers, content=body)).status_code
    finally:
        pool.close()


def _body(telling: Telling, address: WebAddress) -> bytes:
    with override(address.language):
        text = _text(telling)
    card = {"type": "AdaptiveCard", "version": "1.2", "body": [{"type": "TextBlock", "text": text, "wrap": True}]}
    kind = "application/vnd.microsoft.card.adaptive"
    shapes: dict[str, dict[str, Any]] = {
        WebAddress.Shape.TEXT: {"text": text},
        WebAddress.Shape.CARD: {"type": "message", "attachments": [{"contentType": kind, "content": card}]},
        WebAddress.Shape.LINE_WORKS: {"title": current_tenant().name, "body": {"text": text}},
    }
    return json.dumps(shapes[address.shape], ensure_ascii=False).encode()


def _text(telling: Telling) -> str:
    """Return the text of an alert without people's names, because the readers at a web address are unknown."""
    tenant, alert = current_tenant(), telling.alert
    if alert is None:
        return _("Test from %(tenant)s: alerts arrive here.") % {"tenant": tenant.name}
    words, severity = AlertTexts(None, {}), Severity(alert.severity).label
    return f"[{tenant.name}] {severity}: {words.sentence(alert)}\n{alert_url(tenant, alert)}"


def _is_success(status: int | None) -> bool:
    return status is not None and 200 <= status <= 299


def _status_text(status: int | None) -> str:
    return f"HTTP {status}"
