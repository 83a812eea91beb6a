"""Where an intent's pages stand: under /t/<tenant>/intents/, or within an area of work whose people see nothing else.

An area mounts the pages for the intents that ask for its permission (`urls.under`) and says so here; every link to such
an intent then leads there, whoever looks.
"""

from django.urls import reverse

from portal.core.intents.models import Intent
from tenants.roles import Permission

_mounts: dict[str, str] = {}


def mount(of: Permission, prefix: str) -> None:
    """The pages of intents that ask for `of` are called `prefix` + page, outcome, decide, stop."""
    _mounts[of.value] = prefix


def seen_at(page: str, intent: Intent) -> str:
    """Return the address of `page` at the outcome line of `intent`: the browser scrolls there and puts focus on it."""
    return f"{page}#outcome-intent-{intent.pk}"


def page_of(intent: Intent, route: str, name: str) -> str:
    """Return where the page `route` of what the intent is about shows its outcome; nothing while the service has not
    told the ID.
    """
    found = intent.path.get(name) or intent.result.get(name)
    return seen_at(reverse(route, args=[intent.tenant.slug, found]), intent) if found else ""


def address(intent: Intent, page: str = "page") -> str:
    """The address of one of the intent's pages. Needs the tenant's slug."""
    return reverse(f"{_mounts.get(intent.permission, 'intents:')}{page}", args=[intent.tenant.slug, intent.pk])
