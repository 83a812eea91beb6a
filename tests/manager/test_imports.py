"""A manager imports members from a spreadsheet, through the pages, with the real database and a real service."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection, transaction

from portal.domain.jobs import tasks
from portal.domain.jobs.models import Job, JobState, Row, RowState
from portal.domain.people.models import Group, Member
from portal.imports import checking, lists
from tenants.models import AuditEntry
from tenants.scope import tenant_scope
from tests.imports.conftest import Desk, lines
from tests.support.places import age_proof
from tests.support.waiting import until

HEADINGS = ["氏名", "社員番号", "グループ", "カード番号"]


@pytest.fixture
def desk(place):
    here = Desk(place)
    with tenant_scope(place.tenant):
        here.sync()
    return here


@pytest.fixture
def manager(desk):
    return desk.place.client(desk.place.staff("facility manager"))


@pytest.fixture
def url(desk):
    return f"/t/{desk.place.tenant.slug}/imports/"


def inside(desk):
    return tenant_scope(desk.place.tenant)


def group_of(desk):
    with inside(desk):
        return Group.objects.order_by("pk")[0].membergroup_name


def taken_card(desk):
    with inside(desk):
        return Member.objects.filter(has_card=True)[0].card_data


def uploaded(manager, url, content, name="staff.csv"):
    data = content.encode() if isinstance(content, str) else content
    answer = manager.post(f"{url}new/", {"file": SimpleUploadedFile(name, data)})
    assert answer.status_code == 302, answer.content.decode()
    return answer["Location"]


def form_of(page):
    """Return what the columns form would send unchanged."""
    html = page.content.decode()
    chosen = {}
    for name, options in re.findall(r'<select[^>]*name="([^"]+)"[^>]*>(.*?)</select>', html, re.DOTALL):
        found = re.search(r'value="([^"]*)" selected', options)
        chosen[name] = found[1] if found else ""
    return chosen


def checked(desk, manager, url, content, **changed):
    there = uploaded(manager, url, content)
    answer = manager.post(f"{there}columns/", {**form_of(manager.get(there)), **changed})
    assert answer.status_code == 302, answer.content.decode()
    with inside(desk):
        checking.check(int(there.rstrip("/").rsplit("/", 1)[1]))
    return there


def job_at(desk, there):
    with inside(desk):
        return Job.objects.select_related("sheet__file").get(pk=int(there.rstrip("/").rsplit("/", 1)[1]))


def run(desk, there):
    job = job_at(desk, there)
    with inside(desk):
        return desk.run(job)


def text(answer):
    return re.sub(r"\s+", " ", answer.content.decode())


def test_the_empty_area_offers_upload_and_templates(manager, url):
    page = text(manager.get(url))
    assert "No imports yet" in page
    for name in ("template/en.csv", "template/ja.xlsx"):
        assert f"{url}{name}" in page
        file = manager.get(f"{url}{name}")
        assert file.status_code == 200
        assert b"".join(file.streaming_content)


def test_the_template_itself_is_understood(desk, manager, url):
    for kind in ("csv", "xlsx"):
        for language in ("en", "ja"):
            content = b"".join(manager.get(f"{url}template/{language}.{kind}").streaming_content)
            page = manager.get(uploaded(manager, url, content, f"t.{kind}"))
            assert {value for value in form_of(page).values() if value} >= {"member_name", "qr_email", "use_date_end"}


def test_from_upload_to_outcome_and_retry(desk, manager, url):
    card = taken_card(desk)
    group = group_of(desk)
    rows = [[f"新人{n}", f"J{n:04d}", group, ""] for n in range(8)]
    there = checked(
        desk, manager, url, lines(HEADINGS, *rows, ["札なし", "J9000", group, card], ["無所属", "J9001", "無い", ""])
    )
    page = text(manager.get(there))
    assert "Import 9 rows" in page
    assert "no group with this name or ID" in page
    assert "3 API calls" in page
    assert "新人7" not in page  # what needs attention comes first
    assert "新人7" in text(manager.get(f"{there}?show="))
    refused = text(manager.get(f"{there}?show=refused"))
    assert "無所属" in refused
    assert "新人7" not in refused

    assert manager.post(f"{there}start/").status_code == 302
    assert "Stop" in text(manager.get(there))
    assert manager.get(f"{there}progress/").status_code == 200
    assert run(desk, there).state == JobState.DONE

    with inside(desk):
        joined, refused = (desk.row(job_at(desk, there), line).member_id for line in (2, 10))
    assert joined
    assert not refused
    members, audit = f"/t/{desk.place.tenant.slug}/members/", f"/t/{desk.place.tenant.slug}/audit/"
    history = text(manager.get(f"{members}{joined}/")).partition("Change history")[2]
    assert f'<a href="{there}">Import staff.csv' in history
    assert f"<ins>{group}</ins>" in history
    auditor = desk.place.client(desk.place.staff("auditor"))
    history = text(auditor.get(f"{members}{joined}/")).partition("Change history")[2]
    assert "Import staff.csv" in history
    assert there not in history, "who may not run imports is not led to one"
    owner = desk.place.client(desk.place.owner)
    for asked in (joined, "新人0"):
        assert "staff.csv" in text(owner.get(audit, {"target": asked})), asked

    assert manager.get(f"{there}progress/")["HX-Refresh"] == "true"
    page = text(manager.get(there))
    assert "40901" in page
    assert "This row was not applied: the card belongs to another member. Check the card number." in page
    assert card not in page
    assert "Retry 1 row" in page
    assert "Needs correction" in page
    corrected = b"".join(manager.get(f"{there}to-correct.csv").streaming_content).decode("utf-8-sig")
    assert [line.split(",")[1] for line in corrected.splitlines()[1:]] == ["J9000", "J9001"]

    again = manager.post(f"{there}retry/")["Location"]
    with inside(desk):
        checking.check(job_at(desk, again).pk)
        assert sorted(Row.objects.filter(job=job_at(desk, again)).values_list("line", flat=True)) == [10]
    manager.post(f"{again}start/")
    assert run(desk, again).state == JobState.DONE
    with inside(desk):
        actions = set(AuditEntry.objects.values_list("action", flat=True))
        assert len([m for m in desk.members() if m.get("member_code", "").startswith("J")]) == 8
    assert {"import.uploaded", "import.checked", "import.started", "import.retried"} <= actions


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_rows_to_correct_come_back_as_they_were_with_reasons_left_out(desk, manager, url, kind):
    content = lines(HEADINGS, ["=cmd()", "00042", "無い", "'+1"], ["-x", "00043", "無い", "@a"])
    there = checked(desk, manager, url, content)
    answer = manager.get(f"{there}to-correct.{kind}")
    assert "attachment" in answer["Content-Disposition"]
    again = checked(desk, manager, url, b"".join(answer.streaming_content))
    page = manager.get(f"{again}columns/")
    assert "left out" in page.content.decode()
    with inside(desk):
        found = dict(lists.cells_of_lines(job_at(desk, again), {2, 3}))
    assert [cells[:4] for line, cells in found.items() if line] == [
        ["=cmd()", "00042", "無い", "'+1"], ["-x", "00043", "無い", "@a"],
    ]  # fmt: skip
    first = form_of(manager.get(f"{there}columns/"))
    assert form_of(page) == {name: value for name, value in first.items() if name != "encoding" or kind == "csv"}
    age_proof(manager.session, 360)
    assert "/accounts/reauthenticate/" in manager.get(f"{there}to-correct.{kind}")["Location"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "The file is empty"),
        (b"name\n", "The file has headings but no rows."),
        (b"name\nx\x00\n", "NUL"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1....", "old Excel file"),
        (b"PK\x03\x04....", "This XLSX file cannot be read. Save it again as XLSX or CSV."),
        (b"name\n\xff\xff\n", "neither UTF-8 nor Shift-JIS"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_the_reason(desk, manager, url, content, said):
    answer = manager.post(f"{url}new/", {"file": SimpleUploadedFile("x.csv", content)})
    assert answer.status_code == 422
    assert said in text(answer)
    assert "Nothing was imported" in text(answer)
    with inside(desk):
        assert not Job.objects.exists()


def test_a_form_without_a_file_says_so(manager, url):
    answer = manager.post(f"{url}new/")
    assert answer.status_code == 422
    assert "required" in text(answer)


def test_columns_chosen_twice_or_not_at_all_are_refused_beside_the_field(manager, url):
    there = uploaded(manager, url, "a,b\n1,2\n")
    twice = manager.post(f"{there}columns/", {"column_0": "member_name", "column_1": "member_name"})
    assert twice.status_code == 422
    assert "” is already used for the column “" in text(twice)
    none = manager.post(f"{there}columns/", {"column_0": "", "column_1": ""})
    assert "Choose a column for name, member code or member ID." in text(none)
    strange = manager.post(f"{there}columns/", {"column_0": "devices_pass", "column_1": "member_name"})
    assert strange.status_code == 422


def test_card_numbers_are_masked_on_every_page(desk, manager, url):
    there = uploaded(manager, url, lines(HEADINGS, ["a", "c", group_of(desk), "CANARY9876543210"]))
    columns = text(manager.get(there))
    assert "CANARY••••••3210" in columns, "letters show what a spreadsheet has done to a number"
    assert "987654" not in columns
    manager.post(f"{there}columns/", form_of(manager.get(there)))
    with inside(desk):
        checking.check(job_at(desk, there).pk)
    page = text(manager.get(there))
    assert "CANARY" not in page
    assert "••••3210" in page


def test_the_same_file_again_is_pointed_out(desk, manager, url):
    content = lines(["氏名", "グループ"], ["二重 太郎", group_of(desk)])
    first = checked(desk, manager, url, content)
    manager.post(f"{first}start/")
    run(desk, first)
    assert '">view</a>). New members without a code would be created twice' in text(
        manager.get(checked(desk, manager, url, content))
    )


def test_starting_twice_starts_once(desk, manager, url):
    there = checked(desk, manager, url, lines(HEADINGS, ["a", "S1", group_of(desk), ""]))
    manager.post(f"{there}start/")
    answer = manager.post(f"{there}start/", follow=True)
    assert "already started" in text(answer)
    run(desk, there)
    assert len(desk.place.calls(13)) == 1


@pytest.mark.django_db(transaction=True)
def test_two_who_start_at_one_moment_start_once(desk, manager, url):
    there = checked(desk, manager, url, lines(HEADINGS, ["a", "S1", group_of(desk), ""]))
    both = [manager, desk.place.client(desk.place.staff("facility manager"))]

    def start(client):
        try:
            return text(client.post(f"{there}start/", follow=True))
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        with inside(desk), transaction.atomic():
            Job.objects.select_for_update().get()  # other transactions that use the job wait here
            begun = [pool.submit(start, each) for each in both]
            until(lambda: sessions_that_wait() == 2, saying="both wait")
        pages = [each.result(60) for each in begun]
    assert sum("already started" in page for page in pages) == 1
    with inside(desk):
        assert AuditEntry.objects.filter(action="import.started").count() == 1


def sessions_that_wait():
    """Return the number of sessions of this database that wait for a lock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")  # otherwise a transaction reads its first snapshot again
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return cursor.fetchone()[0]


def test_discarding_deletes_what_was_never_started(desk, manager, url):
    there = checked(desk, manager, url, lines(HEADINGS, ["a", "S1", group_of(desk), ""]))
    answer = manager.post(f"{there}discard/", follow=True)
    assert "Discarded" in text(answer)
    assert manager.get(there).status_code == 404
    with inside(desk):
        assert not Job.objects.exists()
        assert not Row.objects.exists()


def test_stopping_and_going_on(desk, manager, url):
    there = checked(desk, manager, url, lines(HEADINGS, *[[f"n{n}", f"S{n}", group_of(desk), ""] for n in range(4)]))
    manager.post(f"{there}start/")
    manager.post(f"{there}stop/")
    assert run(desk, there).state == JobState.STOPPED
    assert "Stopped by staff" in text(manager.get(there))
    manager.post(f"{there}continue/")
    assert run(desk, there).state == JobState.DONE


def test_uncertain_rows_are_decided_by_a_person(desk, manager, url):
    there = checked(
        desk, manager, url, lines(HEADINGS, ["a", "S1", group_of(desk), ""], ["b", "S2", group_of(desk), ""])
    )
    manager.post(f"{there}start/")
    run(desk, there)
    with inside(desk):
        rows = list(Row.objects.order_by("line"))
        facts = {"at": "2026-11-21T09:41:07+09:00", "readings": 2}
        Row.objects.update(state=RowState.UNCERTAIN, problems=[["", "unclear", facts]])
    page = text(manager.get(there))
    assert "2 rows need a decision" in page
    assert "2026-11-21 09:41:07" in page
    assert "1 row decided" in text(manager.post(f"{there}decide/", {"decision": f"yes:{rows[0].pk}"}, follow=True))
    assert "Nothing was recorded" in text(manager.post(f"{there}decide/", {"decision": "maybe"}, follow=True))
    manager.post(f"{there}decide/", {"decision": "no:all"})
    with inside(desk):
        assert list(Row.objects.order_by("line").values_list("state", flat=True)) == ["succeeded", "failed"]


def test_a_list_of_rows_turns_its_pages(desk, manager, url):
    there = checked(desk, manager, url, lines(HEADINGS, *[[f"n{n}", f"S{n}", group_of(desk), ""] for n in range(60)]))
    page = manager.get(f"{there}?size=25")
    following = re.search(r'rel="next" href="([^"]+)"', page.content.decode())[1].replace("&amp;", "&")
    second = text(manager.get(following))
    assert "n30" in second
    assert ">n1<" not in second


def test_without_the_permission_every_page_is_refused_with_the_reason(desk, manager, url):
    there = uploaded(manager, url, "name\na\n")
    guard = desk.place.client(desk.place.staff("guard"))
    for address in (url, f"{url}new/", there, f"{there}columns/", f"{there}progress/", f"{there}to-correct.csv"):
        answer = guard.get(address)
        assert answer.status_code == 403
    for act in ("start", "stop", "continue", "retry", "decide", "discard"):
        assert guard.post(f"{there}{act}/").status_code == 403


def test_another_tenants_import_answers_like_a_missing_one(desk, manager, url, make):
    there = uploaded(manager, url, "name\na\n")
    other = make()
    stranger = other.client()
    foreign = there.replace(desk.place.tenant.slug, other.tenant.slug)
    assert stranger.get(there).status_code == 404
    assert stranger.get(foreign).status_code == 404
    for act in ("start", "stop", "continue", "retry", "decide", "discard", "columns"):
        assert stranger.post(f"{foreign}{act}/").status_code == 404


def test_the_tick_finds_what_nobody_rang_for(desk, manager, url, monkeypatch):
    there = uploaded(manager, url, "name,member code\na,1\n")
    manager.post(f"{there}columns/", form_of(manager.get(there)))
    rung = []
    monkeypatch.setattr("portal.base.timers.celery_app.enqueue", lambda task, rows, **more: rung.append((task, *rows)))
    assert tasks.JOBS.check_due() == 1
    assert rung == [("portal.processes.jobs", (desk.place.tenant.pk, job_at(desk, there).pk))]


def test_pages_ask_the_database_little_however_many_rows_there_are(desk, manager, url, django_assert_max_num_queries):
    there = checked(desk, manager, url, lines(HEADINGS, *[[f"n{n}", f"S{n}", group_of(desk), ""] for n in range(60)]))
    with django_assert_max_num_queries(40):
        manager.get(there)
