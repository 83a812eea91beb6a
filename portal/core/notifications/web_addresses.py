"""Web addresses as people and the audit log see them: masked, and never with their secret."""

from urllib.parse import urlsplit

from portal.core.intents.recording import Requester
from portal.core.notifications.models import WebAddress
from tenants import audit
from tenants.wording import coded_sentence


def mask(url: str) -> str:
    """Return an address as pages show it: its host, and the last characters."""
    parts = urlsplit(url)
    return f"https://{parts.hostname}/…{url[-4:]}"


def audit_change(address: WebAddress, by: Requester, action: str) -> None:
    """Record what was done with an address."""
    after = {"url": mask(address.url), "least": address.get_least_display()}
    target = f"alert_address:{address.pk}"
    audit.record(
        **by.audit_author, action=action, target=target, summary=coded_sentence(action, name=address.name), after=after
    )
