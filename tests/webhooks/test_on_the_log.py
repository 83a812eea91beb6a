"""The log's page says how soon it shows new records: at once, or when the log is next read."""

import pytest
from django.urls import reverse

from portal.domain.events import MirrorKind
from portal.domain.sync.models import MirrorState
from portal.webhooks.health import SAFETY_NET_SECONDS
from portal.webhooks.models import Webhook
from tenants.scope import tenant_scope
from tests.support.log import loaded
from tests.support.members import said

W = Webhook.Working
CHECKED = "The log is checked every 2 minutes."


@pytest.fixture
def log(place):
    """Return a function that reads what a role sees beside "Complete through" in a given state of log and webhook."""
    loaded(place)

    def words(role="facility manager", **state):
        with tenant_scope(place.tenant):
            MirrorState.objects.filter(kind=MirrorKind.HISTORIES).update(**state)
        page = said(place.client(place.staff(role)).get(reverse("history:index", args=[place.tenant.slug])))
        return page.rpartition("Complete through")[2].partition("Time")[0]

    return words


@pytest.mark.parametrize(
    ("working", "state", "words", "pace"),
    [
        (W.WORKING, {"every": SAFETY_NET_SECONDS}, "Instant", False),
        (W.WORKING, {}, "Instant for some categories", True),
        (W.SILENT, {}, "Notifications stopped", True),
        (W.LOSSY, {}, "Missing notifications", True),
        (W.WAITING, {}, "Waiting for the first notification", True),
        (W.SILENT, {"error": "unreachable"}, "Notifications stopped", False),
    ],
)
def test_says_whether_notifications_come_and_else_how_often_the_log_is_read(hook, log, working, state, words, pace):
    hook.change(is_on=True, working=working)
    beside = log(**state)
    assert words in beside
    assert (CHECKED in beside) == pace


def test_says_the_pace_alone_where_nothing_is_notified(hook, log):
    hook.change(is_on=False)
    beside = log()
    assert CHECKED in beside
    assert "Notif" not in beside


def test_leads_to_the_connection_whoever_may_see_it(hook, place, log):
    hook.change(is_on=True, working=W.SILENT)
    link = f'href="{reverse("connection:index", args=[place.tenant.slug])}"'
    for role, leads in (("auditor", True), ("guard", False)):
        assert "Notifications stopped" in log(role)
        html = place.client(place.staff(role)).get(reverse("history:index", args=[place.tenant.slug])).content.decode()
        assert (link in html.split('id="log-known"')[1].split("</div>")[0]) == leads
