"""A receptionist uploads a list of expected guests: checked row by row, one code each, within the hour's calls."""

import io
import re
from datetime import datetime, timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from openpyxl import Workbook, load_workbook

from portal.domain.budget import ledger
from portal.domain.budget.priorities import Priority
from portal.domain.intents.models import Intent, State
from portal.domain.intents.sending import send
from portal.domain.jobs import actions, row_executor, tasks
from portal.domain.jobs.models import Action, Job, JobState, Row, RowState
from portal.domain.visits.models import DeskSettings, Preset, Visit
from portal.today import erasing
from tenants.models import AuditEntry, Connection
from tenants.scope import tenant_scope
from tests.support.codes import read_pdf, url, visit
from tests.support.members import said
from tests.support.places import age_proof

CREATE = 20
TOMORROW = f"{timezone.localtime() + timedelta(days=1):%Y-%m-%d}"


class Desk:
    """A person at the page of lists."""

    def __init__(self, place, role="receptionist"):
        self.place = place
        self.client = place.client(place.staff(role))

    def upload(self, content, name="guests.csv", **more):
        content = content.encode() if isinstance(content, str) else content
        file = SimpleUploadedFile(name, content)
        return self.client.post(url(self.place, "expected/"), {"file": file, "delivery": "direct", **more})

    def checked(self, content, **more):
        """Return the list created from this file, and the text of its page."""
        answer = self.upload(content, **more)
        assert answer.status_code == 302, said(answer)
        return self.job(), said(self.client.get(answer["Location"]))

    def job(self):
        with tenant_scope(self.place.tenant):
            return Job.objects.latest("pk")

    def page(self, job, **query):
        answer = self.client.get(url(self.place, f"expected/{job.pk}/"), query)
        assert answer.status_code == 200
        return answer

    def start(self, job, **more):
        nonce = re.search(r'name="nonce" value="([^"]+)"', self.page(job).content.decode())
        return self.post(job, "start", nonce=nonce[1] if nonce else "", **more)

    def post(self, job, act, **values):
        return self.client.post(url(self.place, f"expected/{job.pk}/{act}/"), values)

    def rows(self, job):
        with tenant_scope(self.place.tenant):
            return list(Row.objects.filter(job=job).order_by("line").select_related("intent"))

    def work(self, job, *, sends=True):
        """Run the workers: a step of the list, then the sending of its requests, until nothing changes."""
        with tenant_scope(self.place.tenant):
            for _ in range(60):
                tasks.advance_job(job.pk)
                waiting = Intent.objects.filter(operation="create_guest", state=State.QUEUED)
                for intent in waiting if sends else []:
                    send(intent)
                job.refresh_from_db()
                if job.state != JobState.RUNNING or not sends:
                    return job
            return job

    def created(self):
        return [call for call in self.place.calls(CREATE) if call["status"] == 200]


@pytest.fixture
def desk(place):
    return Desk(place)


def csv_of(*lines, heading="Name,Start,End"):
    return "\n".join([heading, *lines])


def some(count, begin=1):
    return [f"Guest {n:03},{TOMORROW} 10:00,12:00" for n in range(begin, begin + count)]


def test_the_dry_run_says_row_by_row_what_would_become_of_it(desk, place):
    with tenant_scope(place.tenant):
        Preset.objects.create(name="Meeting room", name_ja="会議室", minutes=90)
    visit(place, "田中 愛子", start=timezone.now(), end=timezone.now() + timedelta(days=3))
    long = "x" * 41
    job, page = desk.checked(
        csv_of(
            f"佐藤 花子,hanako@example.com,株式会社みらい,{TOMORROW} 13:00,15:00,鈴木,会議室",
            f"ﾀﾅｶ ｱｲｺ,,,{TOMORROW} 10:00,,,",
            f"田中　愛子,,,{TOMORROW} 10:00,11:00,,",
            f"佐藤花子,,,{TOMORROW}T14:00:00+09:00,{TOMORROW} 16:00,,",
            f"{long},nobody,,13:00,,,Canteen",
            ",,,2020-01-01 10:00,11:00,,",
            f"山田 太郎,,,{TOMORROW} 22:00,06:00,,",
            f"山本 太郎,,,{TOMORROW} 22:00,{TOMORROW} 06:00,,",
            heading="氏名,メール,会社,開始,終了,訪問先,プリセット",
        )
    )
    rows = desk.rows(job)
    expected = [Action.CREATE, Action.CREATE, Action.DOUBLE, Action.DOUBLE] + [Action.REFUSED] * 2
    expected += [Action.CREATE, Action.REFUSED]
    assert [row.action for row in rows] == expected
    first, second = (row.content["order"] for row in rows[:2])
    assert (first["end"][11:16], first["host"], first["company"]) == ("15:00", ["鈴木", ""], "株式会社みらい")
    assert second["end"][11:16] == "11:30"  # the preset's 90 minutes
    words = [[(field, word) for field, word, _facts in row.problems] for row in rows]
    assert words[2] == [("name", "double_guest")]
    assert words[3] == [("name", "double_line")]
    assert dict(words[4]) == {
        "name": "string_too_long",
        "email": "email",
        "preset": "no_such_preset",
        "start": "time_alone",
    }
    assert set(words[5]) == {("name", "missing"), ("end", "over")}
    assert words[7] == [("end", "ends_before")]
    assert "New codes 3" in page
    assert "3 API calls; less than a minute" in page
    assert "ends on the next day" in page
    assert "more than 40 characters" in page
    assert "same name and overlapping time as line 2" in page
    assert desk.created() == []


def test_each_row_becomes_one_code_however_often_it_is_started(desk, place):
    job, _page = desk.checked(csv_of(*(row.replace("003", "003 𒀀") for row in reversed(some(3)))))
    desk.start(job)
    again = desk.start(job)
    assert again.status_code == 302
    with tenant_scope(place.tenant):
        for _ in range(3):  # several workers, and one that was killed after its first row
            tasks.advance_job(job.pk)
        row = Row.objects.filter(job=job).order_by("line")[0]
        Row.objects.filter(pk=row.pk).update(state=RowState.PENDING, intent=None)
    job = desk.work(job)
    assert job.state == JobState.DONE
    assert len(desk.created()) == 3
    with tenant_scope(place.tenant):
        assert Visit.objects.filter(stage="issued").count() == 3
        assert Intent.objects.filter(operation="create_guest").count() == 3
        assert {intent.priority for intent in Intent.objects.all()} == {Priority.JOBS}
        assert AuditEntry.objects.filter(action="expected.started").count() == 1
    page = said(desk.page(job))
    assert "3 of 3 codes" in page
    assert "cannot be printed: 𒀀" in page
    words, _sizes, codes = read_pdf(desk.client.get(url(place, f"expected/{job.pk}/badges.pdf")).content)
    assert len(codes) == 3
    assert words.index("Guest 003") < words.index("Guest 002") < words.index("Guest 001"), "the list's order"
    assert page.count("Done") >= 3
    assert desk.post(job, "stop").status_code == 302
    assert desk.start(job).status_code == 302
    assert len(desk.created()) == 3


def test_doubles_are_left_out_unless_a_person_says_so(desk, place):
    lines = csv_of(*some(1), *some(1))
    job, page = desk.checked(lines)
    assert "Include 1 possible duplicate" in page
    desk.start(job)
    assert desk.work(job).state == JobState.DONE
    assert len(desk.created()) == 1
    assert "Not sent" in said(desk.page(job))

    other, _page = desk.checked(lines.replace("Guest 001", "Guest 100"))
    desk.start(other, doubles="1")
    with tenant_scope(place.tenant):
        told = [entry.after for entry in AuditEntry.objects.filter(action="expected.started").order_by("pk")]
        assert [(each["rows"], each["doubles"]) for each in told] == [(1, False), (2, True)]
    assert desk.work(other).state == JobState.DONE
    assert len(desk.created()) == 3


def test_a_code_that_was_issued_meanwhile_is_not_doubled(desk, place):
    job, _page = desk.checked(csv_of(*some(2)))
    visit(place, "Guest 002", start=timezone.now(), end=timezone.now() + timedelta(days=3))
    desk.start(job)
    assert desk.work(job).state == JobState.DONE
    assert len(desk.created()) == 1
    assert "not requested: a code with this name and time was issued in the meantime" in said(desk.page(job))


def test_with_mail_the_service_sends_the_code(desk, place):
    file = csv_of(f"Mail,m@example.com,{TOMORROW} 10:00,Bring this", f"Here,,{TOMORROW} 10:00,Unsaid",
                  heading="Name,E-mail,Start,Remarks")  # fmt: skip
    job, page = desk.checked(file, delivery="mail")
    assert "m@example.com" in page
    assert "not used: remarks are only sent by e-mail" in page
    desk.start(job)
    desk.work(job)
    with tenant_scope(place.tenant):
        by_mail = Visit.objects.get(guest_name="Mail")
        assert by_mail.email_used
        assert by_mail.intent.body["qrcode_issuing_method"] == {"email": "m@example.com", "remarks": "Bring this"}
        assert "qrcode_data" in Visit.objects.get(guest_name="Here").intent.body["qrcode_issuing_method"]


def test_what_the_service_refuses_says_why_and_comes_back_as_a_file(desk, place):
    file = csv_of(*some(2), f"=HYPERLINK(1),{TOMORROW} 10:00,later")
    job, _page = desk.checked(file)
    desk.start(job)
    place.sandbox.fault("status", CREATE, place.service.tenant_id, status=400, error_code="40002",
                        error_detail="use_date_start: is odd")  # fmt: skip
    desk.work(job)
    page = said(desk.page(job))
    assert "this row was rejected. Correct it and upload the row again. (40002) use_date_start: is odd" in page
    assert "Needs correction" in page
    answer = desk.client.get(url(place, f"expected/{job.pk}/to-correct.csv"))
    lines = b"".join(answer.streaming_content).decode("utf-8-sig").splitlines()
    assert len(lines) == 3
    assert lines[0].endswith("Reason (left out when imported)")
    assert "40002" in lines[1]
    assert lines[2].startswith("'=HYPERLINK(1)")
    assert "no-store" in answer["Cache-Control"]
    # The corrected file has the same columns, and the mark against formulas is removed again.
    back, _page = desk.checked("\n".join(line.replace(",later,", ",11:00,") for line in lines))
    assert [row.content["order"]["name"] for row in desk.rows(back)][-1] == "=HYPERLINK(1)"
    book = desk.client.get(url(place, f"expected/{job.pk}/to-correct.xlsx"))
    sheet = load_workbook(io.BytesIO(b"".join(book.streaming_content))).active
    assert sheet.max_row == 3
    age_proof(desk.client.session, 360)
    assert "/accounts/reauthenticate/" in desk.client.get(url(place, f"expected/{job.pk}/to-correct.csv"))["Location"]


def test_a_lost_answer_is_uncertain_and_never_sent_again(desk, place):
    job, _page = desk.checked(csv_of(*some(1)))
    desk.start(job)
    place.sandbox.fault("drop_after", CREATE, place.service.tenant_id)
    desk.work(job)
    assert len(place.calls(CREATE)) == 1
    assert "The response was lost. It will not be sent again until it is known whether the code was issued." in said(
        desk.page(job)
    )


def test_an_hour_without_calls_makes_it_wait_and_says_until_when(desk, place):
    job, _page = desk.checked(csv_of(*some(30)))
    desk.start(job)
    with tenant_scope(place.tenant):
        connection = Connection.objects.select_related("tenant__environment").get()
        operation = connection.tenant.environment.catalogue.find("create_guest")
        ledger.correct_count(connection, operation, limit=720, remaining=100, reset=3000, refused=False)
    desk.work(job, sends=False)
    with tenant_scope(place.tenant):
        assert Intent.objects.filter(operation="create_guest").count() == row_executor.MAX_UNDER_WAY
        for intent in Intent.objects.filter(operation="create_guest"):
            send(intent)
    page = said(desk.page(job))
    assert re.search(r"No API calls left this hour. It continues at \d\d:\d\d", page)
    assert "30 API calls to go" in page
    assert re.search(r"about \d+ minutes left", page)
    assert desk.created() == []


def test_stopping_sends_nothing_more_and_going_on_sends_the_rest(desk, place):
    job, _page = desk.checked(csv_of(*some(25)))
    desk.start(job)
    desk.work(job, sends=False)
    desk.post(job, "stop")
    assert desk.work(job).state == JobState.STOPPED
    assert desk.created() == []
    assert "Stopped" in said(desk.page(job))
    assert desk.post(job, "start", nonce="x").status_code == 302
    desk.post(job, "continue")
    assert desk.work(job).state == JobState.DONE
    assert len(desk.created()) == 25
    assert "25 of 25 codes" in said(desk.page(job))


def test_the_progress_is_a_fragment_that_ends_with_the_list(desk, place):
    job, _page = desk.checked(csv_of(*some(1)))
    desk.start(job)
    address = url(place, f"expected/{job.pk}/progress/")
    assert 'id="job-progress"' in desk.client.get(address).content.decode()
    desk.work(job)
    assert desk.client.get(address)["HX-Refresh"] == "true"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "The file is empty"),
        (b"Name,Start\n", "The file has headings but no rows."),
        (csv_of(*some(501)).encode(), "more than 500 rows. Split it into several files."),
        (b"Name,Start\nA\x00B,2035-01-01\n", "NUL"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"x" * 50, "old Excel file"),
        (b"x" * (2 * 1024 * 1024 + 1), "larger than 2 MB"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(desk, place, content, words):
    answer = desk.upload(content)
    assert answer.status_code == 422
    assert words in said(answer)
    assert "Nothing was imported." in said(answer)
    with tenant_scope(place.tenant):
        assert not Job.objects.exists()


def test_five_hundred_rows_are_taken_and_cost_a_page_no_more_than_five(desk):
    job, page = desk.checked(csv_of(*some(500)))
    assert "500 API calls" in page
    assert len(desk.rows(job)) == 500
    small, _page = desk.checked(csv_of(*some(5, begin=600)))
    counts = []
    for each in (small, job):
        with CaptureQueriesContext(connection) as queries:
            desk.page(each)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 13


def test_shift_jis_and_spreadsheets_are_read_alike(desk, place):
    text = csv_of(f"髙橋 一郎,{TOMORROW.replace('-', '/')} 9:05,10時30分", heading="氏名,開始日時,終了時刻")
    job, _page = desk.checked(text.encode("cp932"))
    book = Workbook()
    book.active.append(["来訪者名", "日付", "開始", "終了"])
    day = datetime.fromisoformat(TOMORROW)
    book.active.append(["髙橋 一郎", day, day.replace(hour=9, minute=5).time(), day.replace(hour=10, minute=30)])
    target = io.BytesIO()
    book.save(target)
    other, _page = desk.checked(target.getvalue(), name="guests.xlsx")
    orders = [desk.rows(each)[0].content["order"] for each in (job, other)]
    assert [order["start"][11:16] for order in orders] == ["09:05", "09:05"]
    assert [order["end"][:16] for order in orders] == [f"{TOMORROW}T10:30"] * 2


def test_templates_are_read_back_without_a_fault(desk, place):
    for language in ("en", "ja"):
        content = b"".join(desk.client.get(url(place, f"expected/template-{language}.csv")).streaming_content)
        later = content.replace(b"2026-12-01", b"2035-12-01")
        job, _page = desk.checked(later)
        assert [row.action for row in desk.rows(job)] == [Action.CREATE]


def test_rows_rest_encrypted_and_are_erased_with_the_visits(desk, place):
    job, _page = desk.checked(csv_of(*some(1)))
    with connection.cursor() as cursor:
        cursor.execute("SELECT content::text, problems::text FROM jobs_row")
        assert "Guest" not in str(cursor.fetchall())
    desk.start(job)
    desk.work(job)
    with tenant_scope(place.tenant):
        erasing.erase(place.tenant)
        assert desk.rows(job)[0].content
        ago = timezone.now() - timedelta(days=100)
        DeskSettings.objects.update(erased_through=None)
        Job.objects.filter(pk=job.pk).update(created_at=ago, last_end=ago)
        erasing.erase(place.tenant)
    assert desk.rows(job)[0].content is None
    page = said(desk.page(job))
    assert "when the retention period for guest data ended" in page
    assert "guests.csv" not in page


def test_the_same_file_again_is_pointed_out_and_an_unstarted_one_can_be_discarded(desk, place):
    job, _page = desk.checked(csv_of(*some(1)))
    desk.start(job)
    desk.work(job)
    again, page = desk.checked(csv_of(*some(1)))
    assert "already issued this file at" in page
    assert desk.rows(again)[0].action == Action.DOUBLE
    desk.post(again, "discard")
    with tenant_scope(place.tenant):
        assert not Job.objects.filter(pk=again.pk).exists()
    desk.post(job, "discard")
    assert desk.job().pk == job.pk


def test_an_auditor_may_not_and_another_tenant_finds_nothing(desk, place, make):
    job, _page = desk.checked(csv_of(*some(1)))
    auditor = Desk(place, "auditor")
    for rest in ("", f"{job.pk}/", f"{job.pk}/progress/", f"{job.pk}/to-correct.csv"):
        assert auditor.client.get(url(place, f"expected/{rest}")).status_code == 403
    assert auditor.upload(csv_of(*some(1))).status_code == 403
    assert auditor.post(job, "start").status_code == 403
    other = Desk(make())
    for rest in (f"{job.pk}/", f"{job.pk}/progress/", f"{job.pk}/to-correct.csv", "99999999999999999999/"):
        assert other.client.get(url(other.place, f"expected/{rest}")).status_code == 404
    assert desk.post(job, "start", nonce="forged").status_code == 422
    with tenant_scope(place.tenant):
        assert not actions.continue_job(by=place.asker, job=job)
        assert Job.objects.get().state == JobState.CHECKED
