"""The OAuth endpoints of a service environment, for the portal's client there."""

from __future__ import annotations

from accessapi.oauth import OAuth
from tenants.models import ServiceEnvironment


def oauth_of(environment: ServiceEnvironment) -> OAuth:
    """Return the OAuth endpoints of an environment.

    Each environment has one redirect URI: `{PORTAL_URL}/oauth/<environment>/callback/`.
    """
    return OAuth(
        base_url=environment.base_url,
        client_id=environment.client_id,
        client_secret=environment.client_secret,
        redirect_uri=environment.redirect_uri,
        catalogue=environment.catalogue,
    )
