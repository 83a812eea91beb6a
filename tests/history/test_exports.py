"""Exports of the log: files of any length, with the list's filters, written in the background."""

import csv
import io
import itertools
import zlib
from datetime import timedelta
from zipfile import ZIP_DEFLATED

import pytest
from django.core.files.storage import storages
from django.utils import timezone
from openpyxl import load_workbook

from portal.base.files import workbooks
from portal.base.storage import store
from portal.base.storage.models import StoredFile
from portal.base.ui.times import local
from portal.domain.history.models import History
from portal.domain.history.records import insert_records
from portal.domain.jobs import file_executor
from portal.domain.jobs.models import ExportPart, Halt, Job, JobState
from portal.history import exports
from tenants.models import AuditEntry, Staff
from tenants.scope import tenant_scope
from tests.support import jobs
from tests.support.log import record
from tests.support.places import signed_in
from tests.support.proofs import aged

COUNT = 47


@pytest.fixture
def place(make, monkeypatch):
    """Create a tenant with some records, and let a part of a file have ten."""
    monkeypatch.setattr(exports, "_PART_SIZE", 10)
    place = make(members=1)
    now = timezone.now().replace(second=0)  # files show also these seconds
    with tenant_scope(place.tenant):
        insert_records([record(now - timedelta(minutes=n // 3), **said(n)) for n in range(COUNT)])
    return place


def said(n):
    return {
        "history_id": f"r{n:03d}",
        "content": "=1+1" if n == 4 else f"入室 {n}",
        "category": "suspicious" if n % 5 == 0 else "normal",
        "member_id": f"m{n % 2}",
        "member_name": "山田 花子",
        "device_name": "正面玄関",
        "units": [{"unit_no": "3", "unit_name": "倉庫"}] if n == 6 else [],
        "extra": {"weather": "rain"} if n == 7 else {},
    }


def url(place, rest=""):
    return f"/t/{place.tenant.slug}/logs/exports/{rest}"


def asked(place, client, kind="csv", query=""):
    answer = client.post(url(place, f"new/{query}"), {"kind": kind})
    assert answer.status_code == 302, answer.content.decode()
    with tenant_scope(place.tenant):
        return Job.objects.order_by("-pk").first()


def done(place, job):
    with tenant_scope(place.tenant):
        return jobs.run(job)


def taken(place, client, job):
    answer = client.get(url(place, f"{job.pk}/file/"))
    assert answer.status_code == 200
    return b"".join(answer.streaming_content)


def lines(content):
    assert content.startswith(b"\xef\xbb\xbf")
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))


def ids(rows):
    return [row[16] for row in rows]


def expected(place, **by):
    with tenant_scope(place.tenant):
        return list(History.objects.filter(**by).order_by("-at", "-pk").values_list("history_id", flat=True))


def test_a_manager_exports_the_whole_log_as_csv_and_every_record_is_in_it_once(place, manager):
    page = manager.get(url(place, "new/")).content.decode()
    assert "About 47 records match your filters." in page
    job = done(place, asked(place, manager))
    heading, *rows, about = lines(taken(place, manager, job))
    assert heading[:3] == ["Time", "Event", "Event (service)"]
    assert ids(rows) == expected(place)
    assert all(row[0].endswith(":00") and len(row[0]) == 19 for row in rows)
    by_id = {row[16]: row for row in rows}
    assert by_id["r004"][1:3] == ["'=1+1", "'=1+1"], "no spreadsheet takes it for a formula"
    assert by_id["r006"][14] == "3 倉庫"
    assert by_id["r007"][17] == '{"weather":"rain"}'
    assert by_id["r005"][1:7] == ["Refused: 入室 5", "入室 5", "Suspicious", "suspicious", "Occurred", "occur"]
    assert "All records" in about[0]
    assert "47 records" in about[0]
    assert "Exported by facility manager" in about[0]


def test_an_auditor_takes_filters_and_language_along_into_a_workbook(place):
    auditor = place.staff("auditor")
    client = place.client(auditor)
    client.cookies["django_language"] = "ja"
    query = "?category=suspicious&person=m0&after=xyz&sort=-at"
    job = done(place, asked(place, client, "xlsx", query))
    book = load_workbook(io.BytesIO(taken(place, client, job)), read_only=True)
    assert all(entry.compress_type == ZIP_DEFLATED for entry in book._archive.infolist())
    sheet, about = book.worksheets
    rows = [["" if cell is None else cell for cell in row] for row in sheet.iter_rows(values_only=True)]
    assert ids(rows[1:]) == expected(place, category="suspicious", member_id="m0")
    assert rows[0][:2] == ["日時", "イベント"]
    assert "区分：不審" in [row[0] for row in about.iter_rows(values_only=True)]


def test_records_that_come_in_later_are_in_no_part_of_a_file(place, manager):
    job = asked(place, manager)
    before = expected(place)
    with tenant_scope(place.tenant):
        file_executor._write_next(job)
        late = [record(timezone.now() - timedelta(minutes=9)), record(timezone.now())]
        insert_records(late)
    *_, about = rows = lines(taken(place, manager, done(place, job)))
    assert ids(rows[1:-1]) == before
    assert "Records loaded after the export was started are not included." in about[0]


def test_what_a_notification_told_stays_in_when_the_log_itself_was_read(place, manager):
    now = timezone.now()
    with tenant_scope(place.tenant):
        insert_records([record(now - timedelta(hours=2), history_id="told")._replace(notified=True)])
    job = asked(place, manager)
    with tenant_scope(place.tenant):
        insert_records([record(now - timedelta(hours=2), history_id="told", content="read")])
    rows = lines(taken(place, manager, done(place, job)))
    assert [(row[1], row[15]) for row in rows if row[16:17] == ["told"]] == [("read", "")]


NOW_AND_THEN = {"earlier": (0, 14), "later": (14, 0)}  # minutes ago, by the notification and by the log


@pytest.mark.parametrize("way", NOW_AND_THEN)
@pytest.mark.parametrize("when", ["between two parts", "while a part is read", "before the first part"])
def test_what_the_log_dates_otherwise_than_its_notification_is_in_the_file_once(place, manager, monkeypatch, way, when):
    first, second = (timezone.now() - timedelta(minutes=ago, seconds=30) for ago in NOW_AND_THEN[way])
    with tenant_scope(place.tenant):
        insert_records([record(first, history_id="told")._replace(notified=True)])
    job, read, turns = asked(place, manager), exports.search.load_records, itertools.count()

    def dated_again(*_):
        insert_records([record(second, history_id="told", content="read")])

    def meanwhile(keys):
        if next(turns) == 0 and when == "while a part is read":
            dated_again()
        return read(keys)

    monkeypatch.setattr(exports.search, "load_records", meanwhile)
    with tenant_scope(place.tenant):
        if when == "before the first part":
            dated_again()
        file_executor._write_next(job)
        if when == "between two parts":
            dated_again()
    rows = lines(taken(place, manager, done(place, job)))[1:-1]
    assert sorted(ids(rows)) == sorted(expected(place))


def test_today_is_the_day_on_which_it_was_asked_for(place, manager):
    job = asked(place, manager, query="?period=today")
    with tenant_scope(place.tenant):
        options = Job.objects.get(pk=job.pk).options
    assert options["since"] is not None
    assert options["query"] == ""


def test_each_download_is_written_down_and_what_was_searched_for_is_not(place, manager):
    job = done(place, asked(place, manager, query="?q=山田"))
    taken(place, manager, job)
    taken(place, manager, job)
    with tenant_scope(place.tenant):
        entries = list(AuditEntry.objects.filter(action__startswith="log.export").order_by("pk"))
    assert [entry.action for entry in entries] == ["log.export_started", *["log.export_downloaded"] * 2]
    assert "山田" not in str([entry.after for entry in entries])
    assert entries[1].after["rows"] == COUNT


def test_asking_twice_for_the_same_shows_the_export_that_runs(place, manager):
    assert asked(place, manager).pk == asked(place, manager).pk


def test_a_stopped_export_has_no_file_and_goes_on_where_it_was(place, manager):
    job = asked(place, manager)
    with tenant_scope(place.tenant):
        file_executor._write_next(job)
    assert manager.post(url(place, f"{job.pk}/stop/")).status_code == 302
    assert done(place, job).halt == Halt.PERSON
    assert manager.get(url(place, f"{job.pk}/file/")).status_code == 404
    assert "No file yet." in manager.get(url(place, f"{job.pk}/")).content.decode()
    assert manager.post(url(place, f"{job.pk}/continue/")).status_code == 302
    assert ids(lines(taken(place, manager, done(place, job)))[1:-1]) == expected(place)


def test_whoever_may_not_see_the_log_any_more_gets_nothing_more_written(place):
    user = place.staff("facility manager")
    job = asked(place, place.client(user))
    with tenant_scope(place.tenant):
        file_executor._write_next(job)
        Staff.objects.filter(user=user).update(role="guard")
    assert done(place, job).halt == Halt.RIGHTS
    with tenant_scope(place.tenant):
        assert [part.rows for part in file_executor.parts_of(job)] == [10]


def test_guards_receptionists_and_other_tenants_get_no_export(place, make, manager):
    job = done(place, asked(place, manager))
    for role in ("guard", "receptionist"):
        client = place.client(place.staff(role))
        for rest in ("", "new/", f"{job.pk}/", f"{job.pk}/file/"):
            assert client.get(url(place, rest)).status_code == 403
    other = make(members=1)
    client = other.client()
    assert client.get(url(other, f"{job.pk}/file/")).status_code == 404
    assert client.get(url(other, f"{job.pk}/")).status_code == 404
    assert client.get(url(place, f"{job.pk}/file/")).status_code == 404


def test_files_are_deleted_after_a_week_and_the_page_says_when(place, manager):
    job = done(place, asked(place, manager))
    page = manager.get(url(place, f"{job.pk}/")).content.decode()
    assert f"{timezone.localtime(job.finished_at + file_executor.RETENTION):%Y-%m-%d}" in page
    assert file_executor.delete_expired() == 0
    with tenant_scope(place.tenant):
        Job.objects.filter(pk=job.pk).update(finished_at=timezone.now() - file_executor.RETENTION)
    assert file_executor.delete_expired() == 1
    with tenant_scope(place.tenant):
        assert not ExportPart.objects.exists()
        assert not StoredFile.objects.filter(key__isnull=False).exists(), "no key is left to read the bytes with"
        assert Job.objects.get(pk=job.pk).options == {}
        paths = list(StoredFile.objects.values_list("path", flat=True))
    assert store.delete_due() == len(paths) == 5
    assert not any(map(storages["evidence"].exists, paths))
    assert manager.get(url(place, f"{job.pk}/file/")).status_code == 404
    assert "The file has been deleted." in manager.get(url(place, f"{job.pk}/")).content.decode()
    assert "Activity log as CSV" in manager.get(url(place)).content.decode()


def test_what_is_stored_is_not_readable(place, manager):
    job = done(place, asked(place, manager))
    with tenant_scope(place.tenant):
        file = file_executor.parts_of(job).first().file
        [key] = StoredFile.objects.filter(pk=file.pk).values_list("key", flat=True)
        with storages["evidence"].open(file.path) as sealed, pytest.raises(zlib.error):
            zlib.decompress(sealed.read())
        assert "入室".encode() in zlib.decompress(b"".join(store.read_file(file)))
    assert repr(key) == "<sealed>"


def test_a_store_that_is_gone_loses_nothing_and_is_said(place, manager, monkeypatch):
    job = asked(place, manager)
    with tenant_scope(place.tenant):
        file_executor._write_next(job)
        with monkeypatch.context() as broken:
            broken.setattr(store, "_storage", unreachable)
            jobs.step(job)
        job.refresh_from_db()
        assert job.state == JobState.RUNNING
        assert job.due_at > timezone.now() + timedelta(seconds=20)
        assert StoredFile.objects.filter(delete_at=None).count() == 1
    said = "The store of files does not respond. Trying again."
    assert said in manager.get(url(place, f"{job.pk}/")).content.decode()
    assert ids(lines(taken(place, manager, done(place, job)))[1:-1]) == expected(place)
    assert said not in manager.get(url(place, f"{job.pk}/")).content.decode()


def unreachable():
    raise OSError


def test_a_part_that_a_stopped_export_takes_no_more_is_deleted(place, manager, monkeypatch):
    job, read = asked(place, manager), exports.search.load_records

    def meanwhile(keys):
        Job.objects.filter(pk=job.pk).update(stop_requested=True)
        return read(keys)

    monkeypatch.setattr(exports.search, "load_records", meanwhile)
    with tenant_scope(place.tenant):
        assert file_executor._write_next(job) is None
        assert not ExportPart.objects.exists()
        assert [file.key for file in StoredFile.objects.all()] == [None]
    assert store.delete_due() == 1


def test_a_file_that_is_deleted_while_it_is_taken_is_not_taken_for_a_whole_one(place, manager):
    job = done(place, asked(place, manager))
    answer = manager.get(url(place, f"{job.pk}/file/"))
    with tenant_scope(place.tenant):
        Job.objects.filter(pk=job.pk).update(finished_at=timezone.now() - file_executor.RETENTION)
    file_executor.delete_expired()
    with pytest.raises(store.FileUnreadable):
        b"".join(answer.streaming_content)


def test_more_rows_than_a_sheet_holds_go_on_in_the_next(place, manager, monkeypatch):
    monkeypatch.setattr(workbooks, "MAX_ROWS_PER_SHEET", 25)
    book = load_workbook(io.BytesIO(taken(place, manager, done(place, asked(place, manager, "xlsx")))))
    *sheets, _about = book
    assert book.sheetnames == ["Activity log", "Activity log 2", "Activity log 3", "About this file"]
    assert [sheet.auto_filter.ref for sheet in sheets] == ["A1:R21", "A1:R21", "A1:R8"]
    assert {sheet.freeze_panes for sheet in sheets} == {"A2"}
    rows = [row for sheet in sheets for row in sheet.iter_rows(min_row=2, values_only=True)]
    assert ids(rows) == expected(place)
    with tenant_scope(place.tenant):
        times = [local(each.at).replace(tzinfo=None, microsecond=0) for each in History.objects.order_by("-at", "-pk")]
    assert [row[0] for row in rows] == times
    assert {row[0].number_format for sheet in sheets for row in sheet.iter_rows(min_row=2)} == {"yyyy-mm-dd hh:mm:ss"}


def test_an_old_session_proves_who_it_is_before_it_asks(place):
    client = aged(place.staff("facility manager"))
    answer = client.post(url(place, "new/"), {"kind": "csv"})
    assert answer.status_code == 302
    assert "reauthenticate" in answer["Location"]
    with tenant_scope(place.tenant):
        assert not Job.objects.exists()


def test_the_list_leads_to_the_export_with_its_filters(place, manager):
    page = manager.get(f"/t/{place.tenant.slug}/logs/?category=suspicious").content.decode()
    assert f'href="{url(place, "new/?category=suspicious")}"' in page
    assert signed_in(place.staff("guard")).get(f"/t/{place.tenant.slug}/logs/").status_code == 200


@pytest.mark.parametrize("kind", ["pdf", ""])
def test_a_kind_of_file_that_there_is_not_is_refused(place, manager, kind):
    assert manager.post(url(place, "new/"), {"kind": kind}).status_code == 422
    with tenant_scope(place.tenant):
        assert not Job.objects.filter(state=JobState.RUNNING).exists()
