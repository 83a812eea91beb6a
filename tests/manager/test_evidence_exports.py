"""A manager exports an incident: one file that opens without network and lists all of it."""

import hashlib
import io
import json
import zipfile

import pytest
from django.core.files.storage import storages
from django.utils.translation import override

from portal.base.storage.models import StoredFile
from portal.evidence import exporting
from portal.evidence.models import Export
from tenants.scope import tenant_scope
from tests.support import evidence
from tests.support.evidence import downloaded, exported, url, work
from tests.support.members import said


@pytest.fixture
def opened(place, manager):
    return lambda count=1, **before: evidence.opened(place, manager, count, **before)


def test_an_export_opens_without_network_and_lists_all_of_it(place, manager, opened):
    opened()
    manager.post(url(place, "note", 1), {"text": "<b>Seen</b> at 09:00"})
    work(place)
    archive = zipfile.ZipFile(io.BytesIO(exported(place, manager)))
    names = archive.namelist()
    assert {"index.html", "items.csv", "items.json", "CHECK.txt", "manifest.sha256", "manifest.sha256.sig"} <= set(
        names
    )
    page = archive.read("index.html").decode()
    assert "http" not in page.replace("http-equiv", "")
    assert "&lt;b&gt;Seen&lt;/b&gt;" in page
    assert "'=佐藤 太郎" in archive.read("items.csv").decode("utf-8-sig")
    told = json.loads(archive.read("items.json"))
    assert [each["kind"] for each in told["items"]] == ["record", "clip", "note"]
    (clip,) = [each for each in told["items"] if each["kind"] == "clip"]
    assert hashlib.sha256(archive.read(clip["file"])).hexdigest() == clip["sha256"]
    listed = dict(line.split("  ")[::-1] for line in archive.read("manifest.sha256").decode().splitlines())
    assert listed == {
        name: hashlib.sha256(archive.read(name)).hexdigest() for name in names if not name.startswith("manifest")
    }


def test_an_export_is_shown_with_the_digests_to_compare_it_with(place, manager, opened):
    opened()
    whole = exported(place, manager)
    listed = zipfile.ZipFile(io.BytesIO(whole)).read("manifest.sha256")
    page = said(manager.get(url(place, "incident", 1)))
    assert hashlib.sha256(whole).hexdigest() in page
    assert hashlib.sha256(listed).hexdigest() in page


def test_media_in_an_export_is_not_compressed_again(place, manager, opened):
    opened()
    work(place)
    archive = zipfile.ZipFile(io.BytesIO(exported(place, manager)))
    (video,) = [each for each in archive.infolist() if each.filename.startswith("media/")]
    assert video.compress_type == zipfile.ZIP_DEFLATED
    assert video.compress_size > video.file_size


def test_an_export_says_what_is_missing(place, manager, opened):
    opened(days=91)
    work(place)
    page = zipfile.ZipFile(io.BytesIO(exported(place, manager))).read("index.html").decode()
    assert "Incomplete: 1 video or picture is not in this export." in page


def test_a_stored_file_that_was_changed_is_found_and_not_exported(place, manager, opened):
    opened()
    work(place)
    with tenant_scope(place.tenant):
        file = StoredFile.objects.get()
        path = storages["evidence"].path(file.path)
    with open(path, "r+b") as changed:
        changed.seek(1000)
        byte = changed.read(1)
        changed.seek(1000)
        changed.write(bytes([byte[0] ^ 1]))
    manager.post(url(place, "export", 1))
    work(place)
    assert "A stored file is missing or was changed." in said(manager.get(url(place, "incident", 1)))


def test_each_person_gets_an_own_export_and_a_second_click_none(place, manager, opened):
    opened()
    colleague = place.client(place.staff("owner"))
    for client in (manager, manager, colleague):
        client.post(url(place, "export", 1))
    with tenant_scope(place.tenant):
        asked = list(Export.objects.order_by("pk").values_list("requested_by__name", flat=True))
    assert asked == ["facility manager", "owner"]


def test_an_export_is_in_the_language_of_the_person_who_asked_for_it(place, manager, opened):
    opened()
    manager.cookies["django_language"] = "ja"
    manager.post(url(place, "export", 1))
    with override("en"):
        work(place)
    page = zipfile.ZipFile(io.BytesIO(downloaded(place, manager))).read("index.html").decode()
    assert '<html lang="ja">' in page


def test_an_export_that_cannot_be_written_is_given_up_after_three_tries(place, manager, opened):
    opened()
    manager.post(url(place, "export", 1))
    with tenant_scope(place.tenant):
        Export.objects.update(tries=exporting.MOST_TRIES)
    work(place)
    with tenant_scope(place.tenant):
        assert (Export.objects.get().due_at, Export.objects.get().file) == (None, None)
    assert "Create the export again." in said(manager.get(url(place, "incident", 1)))


def test_an_export_is_found_under_its_own_incident_alone(place, manager, opened):
    opened()
    exported(place, manager)
    manager.post(url(place, "new"), {"title": "Another", "began_at": "2026-11-01T10:00"})
    with tenant_scope(place.tenant):
        export = Export.objects.get()
    assert manager.get(url(place, "download", 2, export.pk)).status_code == 404
