"""Web addresses for pages and the audit log: masked, and never with their secret."""

from urllib.parse import urlsplit

from portal.domain.intents.recording import Requester
from portal.domain.notifications.models import WebAddress
from tenants import audit
from tenants.wording import coded_sentence


def mask_url(url: str) -> str:
    """Return the masked address: its host, and the last characters."""
    parts = urlsplit(url)
    return f"https://{parts.hostname}/…{url[-4:]}"


def audit_change(address: WebAddress, by: Requester, action: str) -> None:
    """Record a change of an address in the audit log."""
    after = {"url": mask_url(address.url), "least": address.get_least_display()}
    target = f"alert_address:{address.pk}"
    audit.record(
        **by.audit_author, action=action, target=target, summary=coded_sentence(action, name=address.name), after=after
    )
