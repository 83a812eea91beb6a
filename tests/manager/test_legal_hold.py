"""On legal hold an incident only grows: no person, rule or statement removes or changes any part of it."""

import base64
import contextlib
import hashlib
from datetime import timedelta
from importlib import import_module

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import ProtectedError
from django.urls import get_resolver
from django.utils import timezone

from portal.base.storage import store
from portal.base.storage.models import StoredFile
from portal.base.timers.celery_app import app
from portal.base.timers.clock import database_now
from portal.base.ui.times import local
from portal.domain.cameras.models import Camera
from portal.domain.history.models import History
from portal.evidence import actions, exporting, fetching
from portal.evidence.models import Export, Incident, Item, LegalHold
from portal.today import erasing
from tenants.key_rotation import columns, rotate_column
from tenants.models import AuditEntry
from tenants.reauthentication import SAFE_METHODS
from tenants.scope import tenant_scope
from tests.support.evidence import exported, filmed, held, url
from tests.support.members import said

REASON = "Police case 2026-118"
REFUSED = "Nothing was changed or removed. This incident is on legal hold. End every hold first."
#: Data for each address of incidents. A new address is tested here, or its test below says what it may do.
POSTED = {
    "new": {"title": "Another", "began_at": "2026-11-01T10:00"},
    "settings": {"days": "30"},
    "edit": {"title": "Nothing happened", "began_at": "2026-01-01T00:00"},
    "note": {"text": "Later"},
    "fetch": {},
    "close": {"keep_until": local(timezone.now()).date().isoformat()},
    "reopen": {},
    "hold": {"reason": "Insurance"},
    "delete": {},
    "records": {"record": ["none"]},
    "requests": {"request": ["1"]},
    "picture": {"camera": "1", "at": "2026-11-01T10:00"},
    "add_record": {"incident": "1"},
    "add_rights": {"incident": "1"},
    "remove": {},
    "export": {},
}
#: Parts of an incident that a hold protects.
LASTING = ("number", "title", "began_at", "ended_at", "opened_by_id", "opened_at")
#: Columns that a worker writes until an item's or export's file is stored.
COMING = (
    "media",
    "due_at",
    "trouble",
    "expires_at",
    "tries",
    "file_id",
    "key",
    "manifest",
    "stamp",
    "items",
    "missing",
)


@pytest.fixture
def owner(place):
    return place.client(place.staff("owner"))


@pytest.fixture
def hold(place, manager):
    """Create an incident on legal hold, with a record, its video, a note, a missing video and an export."""
    filmed(place, manager)
    manager.post(url(place, "note", 1), {"text": "Door was open"})
    exported(place, manager)
    with tenant_scope(place.tenant):
        record = History.objects.get()
        lost = {"kind": "clip", "reference": "lost", "at": record.at, "media": "failed", "expires_at": record.at}
        facts = {"device_id": record.device_id, "device_name": "East door"}
        Item.objects.create(
            incident=Incident.objects.get(), facts=facts, added_by=Incident.objects.get().opened_by, **lost
        )
    return held(place, manager, REASON)


def close(place):
    """Close the incident as it was closed before the hold, and let its retention end."""
    now = database_now()
    with tenant_scope(place.tenant):
        row = Incident.objects.get()
        told = {"closed_by": row.opened_by, "closed_at": now, "keep_until": local(now).date() - timedelta(days=1)}
        Incident.objects.update(due_at=now - timedelta(hours=1), **told)


def kept(place):
    """Return everything that a hold protects, with the bytes of its files as they can be read now."""
    with tenant_scope(place.tenant):
        files = list(StoredFile.objects.all())
        assert [each.sha256 for each in files] == [digest(each) for each in files]
        return {
            "incident": {1: Incident.objects.filter(number=1).values(*LASTING).get()},
            "items": {row["id"]: lasting(row) for row in Item.objects.values()},
            "exports": {row["id"]: lasting(row) for row in Export.objects.values()},
            "holds": {row["id"]: row for row in LegalHold.objects.values()},
            "files": {each.pk: {"sha256": each.sha256} for each in files},
        }


def lasting(row):
    """Return a whole row; without what a worker still writes while its file is missing."""
    return row if row["file_id"] else {name: value for name, value in row.items() if name not in COMING}


def digest(file):
    return hashlib.sha256(b"".join(store.read_file(file))).hexdigest()


def lost(before, after):
    """Return what is missing or different from before."""
    for kind, rows in before.items():
        for pk, row in rows.items():
            found = after[kind].get(pk, {})
            if any(found.get(name, "gone") != value for name, value in row.items()):
                yield kind, row, found


def writes():
    get_resolver().url_patterns  # noqa: B018 - loads the site's addresses before those of an area
    patterns = import_module("portal.evidence.urls").urlpatterns
    return {each.name: each for each in patterns if each.callback.methods - SAFE_METHODS}


def addresses_of(place, name):
    """Return every address with this name for the parts of the incident."""
    with tenant_scope(place.tenant):
        ids = {"remove": list(Item.objects.values_list("pk", flat=True))}
        record = History.objects.get().history_id
    named = writes()[name].pattern.converters
    if "history_id" in named:
        return [url(place, name, record)]
    return [
        url(place, name, *([1] if "number" in named else []), *more)
        for more in [[pk] for pk in ids.get(name, [])] or [[]]
    ]


def test_every_write_of_incidents_is_attacked_here():
    assert set(writes()) == POSTED.keys() | {"end_hold"}


@pytest.mark.parametrize("state", ["open", "closed"])
def test_no_write_removes_or_changes_anything(place, owner, hold, state):
    if state == "closed":
        close(place)
    before = kept(place)
    for _again in range(2):  # once more: after the first round a closed incident is open
        for name, posted in POSTED.items():
            for address in addresses_of(place, name):
                owner.post(address, posted)
                assert not list(lost(before, kept(place))), address
    with tenant_scope(place.tenant):
        assert Incident.objects.get(number=1).is_open


def test_what_a_hold_refuses_is_neither_offered_nor_asked(place, owner, hold):
    for name in ("edit", "remove", "close", "delete"):
        if name == "delete":
            close(place)
        page = owner.get(url(place, "incident", 1)).content.decode()
        for address in addresses_of(place, name):
            assert f'href="{address}"' not in page
            for answer in (owner.get(address, follow=True), owner.post(address, POSTED[name], follow=True)):
                assert REFUSED in said(answer)


def test_no_task_and_no_timer_removes_or_changes_anything(place, owner, hold):
    close(place)
    owner.post(url(place, "export", 1))
    before = kept(place)
    with tenant_scope(place.tenant):
        ids = {
            pk for model in (Incident, Item, Export, StoredFile) for pk in model.objects.values_list("pk", flat=True)
        }
    for process in (fetching.MEDIA, exporting.EXPORTS, actions.EXPIRED_INCIDENTS):
        for pk in ids:
            app.tasks[process.task](place.tenant.pk, pk)
    for entry in app.conf.beat_schedule.values():
        app.tasks[entry["task"]].run()
    with tenant_scope(place.tenant):
        erasing.erase(place.tenant, database_now() + timedelta(days=4_000))
        Camera.objects.all().delete()
        History.objects.all().delete()
    assert not list(lost(before, kept(place)))
    assert "East door" in said(owner.get(url(place, "incident", 1)))


def statements():
    return {
        "items are deleted": lambda: Item.objects.all().delete(),
        "what an item says is replaced": lambda: Item.objects.update(facts={}),
        "an item goes to another incident": lambda: Item.objects.update(incident=Incident.objects.latest("pk")),
        "an item loses its file": lambda: Item.objects.exclude(file=None).update(file=None, media="never"),
        "the title is replaced": lambda: Incident.objects.update(title="Nothing happened"),
        "the time is replaced": lambda: Incident.objects.update(began_at=database_now()),
        "the incident is deleted": lambda: Incident.objects.get(number=1).delete(),
        "an export is deleted": lambda: Export.objects.all().delete(),
        "an export is replaced": lambda: Export.objects.update(manifest="0" * 64),
        "the files' keys are forgotten": lambda: store.schedule_deletion(StoredFile.objects.all()),
        "files are said to be others": lambda: StoredFile.objects.update(sha256="0" * 64),
        "files are deleted": lambda: StoredFile.objects.all()._raw_delete("default"),
        "the reason is replaced": lambda: LegalHold.objects.update(reason="None"),
        "the hold is deleted": lambda: LegalHold.objects.all().delete(),
        "the hold begins later": lambda: LegalHold.objects.update(at=database_now()),
        "an ended hold is changed": lambda: LegalHold.objects.update(ended_by=None, ended_at=None),
    }


def test_the_database_itself_refuses(place, manager, hold):
    other = held(place, manager, "Insurance")
    manager.post(url(place, "new"), POSTED["new"])
    manager.post(url(place, "end_hold", 1, other.pk))
    before = kept(place)
    for what, statement in statements().items():
        with tenant_scope(place.tenant), contextlib.suppress(IntegrityError), transaction.atomic():
            statement()
            pytest.fail(f"nothing refused that {what}")
        assert not list(lost(before, kept(place))), what


def test_the_end_of_its_tenant_leaves_it(place, hold):
    before = kept(place)
    with tenant_scope(place.tenant):
        with pytest.raises(ProtectedError), transaction.atomic():
            place.tenant.delete()
        at_once = "DELETE FROM tenants_tenant WHERE id = %s; SET CONSTRAINTS ALL IMMEDIATE"
        with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(at_once.replace("%s", str(place.tenant.pk)))
    assert not list(lost(before, kept(place)))


def test_files_can_be_read_after_the_vaults_keys_were_rotated(place, hold, settings):
    before = kept(place)
    settings.VAULT_KEYS = f"next:{base64.b64encode(b'n' * 32).decode()},{settings.VAULT_KEYS}"
    (column,) = [each for each in columns() if each.label == "storage.StoredFile.key"]
    rotate_column(column, 10)
    assert not list(lost(before, kept(place)))


def test_a_second_hold_is_added_and_each_ends_alone(place, manager, owner, hold):
    second = held(place, owner, "Insurance")
    page = said(manager.get(url(place, "incident", 1)))
    assert f"({hold.by}): {REASON}" in page
    assert f"({second.by}): Insurance" in page
    assert "Nothing can be changed or removed until every legal hold has ended." in page
    assert "1 other legal hold remains." in said(owner.get(url(place, "end_hold", 1, second.pk)))
    page = said(owner.post(url(place, "end_hold", 1, second.pk), follow=True))
    assert "Ended legal holds Insurance" in page
    assert REFUSED in said(owner.get(url(place, "edit", 1), follow=True))
    assert "This legal hold has already ended." in said(owner.post(url(place, "end_hold", 1, second.pk), follow=True))
    manager.post(url(place, "end_hold", 1, hold.pk))
    page = manager.get(url(place, "incident", 1))
    assert "On legal hold" not in said(page)
    assert f'href="{url(place, "edit", 1)}"' in page.content.decode()
    with tenant_scope(place.tenant):
        told = AuditEntry.objects.filter(action__in=("incident.held", "incident.hold_ended")).order_by("pk")
        assert [(entry.action, (entry.after or entry.before)["reason"]) for entry in told] == [
            ("incident.held", REASON),
            ("incident.held", "Insurance"),
            ("incident.hold_ended", "Insurance"),
            ("incident.hold_ended", REASON),
        ]


def test_the_list_shows_held_incidents_and_finds_them(place, manager, hold):
    manager.post(url(place, "new"), POSTED["new"])
    listed = manager.get(url(place, "index"))
    assert said(listed).count("Legal hold") == 1
    found = said(manager.get(url(place, "index") + "?state=held"))
    assert "Side door forced open" in found
    assert "Another" not in found
    manager.post(url(place, "end_hold", 1, hold.pk))
    assert "Side door forced open" not in said(manager.get(url(place, "index") + "?state=held"))


def test_missing_video_of_a_held_incident_can_still_be_saved_when_it_is_closed(place, manager, hold):
    close(place)
    assert "1 video or picture is not saved." in said(manager.get(url(place, "incident", 1)))
    manager.post(url(place, "fetch", 1))
    with tenant_scope(place.tenant):
        assert Item.objects.get(reference="lost").media == "wanted"


def test_a_closed_incident_is_not_edited(place, manager, hold):
    close(place)
    manager.post(url(place, "end_hold", 1, hold.pk))
    refused = manager.post(url(place, "edit", 1), POSTED["edit"], follow=True)
    assert "Nothing was changed. This incident is closed." in said(refused)
    assert "Side door forced open" in said(refused)


def test_what_is_refused_is_looked_at_under_the_lock(place, manager, hold):
    """Check that a hold which is set after the page was read refuses as well."""
    with tenant_scope(place.tenant):
        read_before = Incident.objects.prefetch_related("holds").get()
        read_before._prefetched_objects_cache = {"holds": LegalHold.objects.none()}
        assert actions.refusing_state(read_before, "edit") == ""
        with pytest.raises(actions.NotDone, match="held"):
            actions.edit(incident=read_before, title="X", began_at=database_now(), ended_at=None, by=None)
