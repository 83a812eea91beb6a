"""Lockdowns in tests: start one, do the workers' steps, and read the page."""

import re
from datetime import timedelta

from portal.base.timers.clock import ClockTime, database_now
from portal.domain.budget.models import CallCount, Gauge
from portal.domain.intents import sending, tracking
from portal.domain.intents.models import Intent, Reason, State
from portal.domain.places.models import Area, DoorState, PassController
from portal.lockdown import door_outcomes
from portal.lockdown.models import Lockdown, LockdownDoor
from tenants.models import Connection
from tenants.scope import tenant_scope

NAMES = ("正面", "倉庫", "会議室")


def furnish(place):
    """Create three doors that the service knows; the first two lead to an area."""
    place.sandbox.settings(place.service.tenant_id, device_seconds=0)
    ids = [each["device_id"] for each in place.sandbox.doors(place.service.token)][:3]
    with tenant_scope(place.tenant):
        for device_id, name in zip(ids, NAMES, strict=True):
            PassController.objects.create(device_id=device_id, device_name=name, state=DoorState.UNLOCKED)
        Area.objects.create(
            area_id="A1", area_name="一階", devices_list=[{"device_id": each, "in_out": "in"} for each in ids[:2]]
        )
    place.doors = ids
    return place


def url(place, rest=""):
    return f"/t/{place.tenant.slug}/lockdown/{rest}"


def nonce_of(client, address):
    return re.search(r'name="nonce" value="([^"]*)"', client.get(address).content.decode())[1]


def start(client, place, act="start", **wanted):
    """Choose doors, look at the preview and press the button; return the page that follows."""
    wanted = wanted or {"scope": "all"}
    nonce = nonce_of(client, url(place, "new/?scope=all"))
    return client.post(url(place, f"{act}/"), {"nonce": nonce, **wanted}, follow=True)


def press(client, place, act):
    """Press a button of the lockdown's page; return the text of the next page."""
    page = url(place, f"{order(place).pk}/")
    return client.post(f"{page}{act}/", {"nonce": nonce_of(client, page)}, follow=True).content.decode()


def order(place):
    with tenant_scope(place.tenant):
        return Lockdown.objects.latest("pk")


def settle(place):
    """Send the queued requests and follow them to their end, as workers do."""
    with tenant_scope(place.tenant):
        for intent in Intent.objects.filter(state=State.QUEUED).order_by("pk"):
            sending.send(intent)
        Intent.objects.filter(state=State.ACCEPTED).update(due_at=database_now())
        for intent in Intent.objects.filter(state=State.ACCEPTED):
            tracking.poll(intent)


def step(place, of=None):
    """Run the timer of a lockdown (by default the latest), and do the workers' steps."""
    with tenant_scope(place.tenant):
        door_outcomes.ORDERS.step((of or order(place)).pk)
    settle(place)


def time_passes(place, **passed):
    """Move the end of all finished requests back by this time."""
    with tenant_scope(place.tenant):
        for intent in Intent.objects.exclude(finished_at=None):
            Intent.objects.filter(pk=intent.pk).update(finished_at=intent.finished_at - timedelta(**passed))


def page(client, place):
    return client.get(url(place, f"{order(place).pk}/")).content.decode()


def came(place):
    """Return the outcome of each door, in the order of `NAMES`."""
    with tenant_scope(place.tenant):
        row = Lockdown.objects.select_related("tenant__environment", "by").get(pk=order(place).pk)
        found = {each.row.name: each.result for each in door_outcomes.door_outcomes(row)}
    return [found[name] for name in NAMES if name in found]


def sent(place):
    return sorted((each["device_id"], each["control"]) for each in place.sandbox.commands(place.service.tenant_id))


def lose(place, name, reason=Reason.NOT_SENT, state=State.CANCELLED):
    """Mark the request to this door as ended without success."""
    with tenant_scope(place.tenant):
        row = LockdownDoor.objects.get(name=name, lockdown=order(place))
        changes = {"state": state, "reason": reason, "finished_at": ClockTime(), "due_at": None}
        Intent.objects.filter(pk=row.request_id).update(**changes)


def no_calls_left(place, left=0):
    """Record that the service reported so many device calls left."""
    with tenant_scope(place.tenant):
        connection = Connection.objects.get()
        Gauge.objects.update_or_create(
            connection=connection, generation=connection.token_generation, call_class="device",
            defaults={"limit_seen": 10, "others": 10 - left, "others_until": database_now() + timedelta(minutes=20)},
        )  # fmt: skip


def calls_an_hour(place, limit):
    """Set the service's limit of device calls an hour, with none of this hour used yet."""
    place.sandbox.settings(place.service.tenant_id, device_limit=limit)
    with tenant_scope(place.tenant):
        connection = Connection.objects.get()
        CallCount.objects.all().delete()
        Gauge.objects.all().delete()
        mine = {"connection": connection, "generation": connection.token_generation}
        Gauge.objects.create(tenant=place.tenant, call_class="device", limit_seen=limit, **mine)
