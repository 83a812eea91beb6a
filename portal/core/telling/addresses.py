"""Web addresses as people and the audit log see them: masked, and never with their secret."""

from urllib.parse import urlsplit

from portal.core.intents.record import Asker
from portal.core.telling.models import WebAddress
from tenants import audit
from tenants.wording import say


def masked(url: str) -> str:
    """Return an address as pages show it: its host, and the last characters."""
    parts = urlsplit(url)
    return f"https://{parts.hostname}/…{url[-4:]}"


def write_down(address: WebAddress, by: Asker, action: str) -> None:
    """Record what was done with an address."""
    after = {"url": masked(address.url), "least": address.get_least_display()}
    target = f"alert_address:{address.pk}"
    audit.record(**by.author, action=action, target=target, summary=say(action, name=address.name), after=after)
