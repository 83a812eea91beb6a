"""Who is in the building: the list for an evacuation, and today's visitors by host."""

import csv
import io
from datetime import timedelta

from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from openpyxl import load_workbook

from portal.domain.visits.models import Visit
from tenants.models import AuditEntry, Connection
from tenants.scope import tenant_scope
from tests.receptionist.desk import used, visit, way_out
from tests.support.members import said


def page(place, rest="building/", role="receptionist", **query):
    answer = place.client(place.staff(role)).get(f"/t/{place.tenant.slug}/guests/{rest}", query)
    assert answer.status_code == 200, answer.content
    return answer


def furnish(place):
    now = timezone.now()
    here = {"arrived_at": now - timedelta(seconds=30), "arrived_by": "desk"}
    way_out(place, "裏口")
    visit(place, "安藤", host_name="渡辺", company="=SUM(A1)", **here)
    visit(place, "和田", host_name="阿部", **here)
    last = visit(place, "近藤", host_name="阿部", **here)
    used(place, last, now - timedelta(seconds=3), door="門")
    used(place, last, now - timedelta(seconds=2), door="裏口")
    visit(place, "Expected", start=1)
    gone = visit(place, "Came back", left_at=now - timedelta(seconds=20), left_by="desk", **here)
    used(place, gone, now - timedelta(seconds=10), door="門")
    visit(place, "Yesterday's", start=-30, **(here | {"arrived_at": now - timedelta(hours=30)}))


def test_the_list_names_who_is_here_and_says_what_it_does_not_know(place):
    furnish(place)
    with tenant_scope(place.tenant):
        Connection.objects.update(state=Connection.State.BROKEN)
    before = len(place.calls())
    words = said(page(place))
    assert "At least 5 in the building; the activity log is not loaded (3 confirmed, 2 likely)" in words
    assert "As of" in words
    for name in ("安藤", "和田", "近藤", "Yesterday's"):
        assert name in words
    assert "Expected" not in words.partition("Sorted by")[2].replace("Expected guests", "")
    assert (
        "Members by the activity log, guests by the desk and their QR codes. People who tailgated are not included."
        in words
    )
    assert "1 was last seen at an exit" in words
    assert words.index("1 more may be on site") < words.index("Came back")
    assert len(place.calls()) == before


def test_the_list_is_sorted_by_host_by_name_or_by_arrival(place):
    furnish(place)

    def order(by):
        words = said(page(place, by=by))
        return sorted(("安藤", "和田", "近藤"), key=words.index)

    assert order("host") == order("nonsense") == ["安藤", "和田", "近藤"]
    assert order("name") == sorted(("安藤", "和田", "近藤"))
    assert order("time") == ["安藤", "和田", "近藤"]


def test_the_list_is_taken_along_as_a_file_and_that_is_written_down(place):
    furnish(place)
    answer = page(place, "building/csv/")
    rows = list(csv.reader(io.StringIO(b"".join(answer.streaming_content).decode("utf-8-sig"))))
    assert len(rows) == 1 + 5 + 1  # the last line says how many people, and which log was used
    assert rows[0][0] == "Guest"
    assert {row[0] for row in rows} >= {"安藤", "和田", "近藤", "Came back"}
    assert not any(cell.startswith("=") for row in rows for cell in row)
    answer = page(place, "building/xlsx/")
    assert load_workbook(io.BytesIO(b"".join(answer.streaming_content))).active.max_row == 7
    with tenant_scope(place.tenant):
        entry = AuditEntry.objects.filter(action="guests.exported").first()
    assert entry.after == {"kind": "csv", "guests": 5, "members": 0}
    client = place.client(place.staff("receptionist"))
    assert client.get(f"/t/{place.tenant.slug}/guests/building/pdf/").status_code == 404


def test_an_empty_building_is_said_to_be_empty(place):
    assert "No people on record in the building" in said(page(place))


def test_todays_visitors_stand_with_their_host(place):
    now = timezone.now()
    for name in ("山田", "田中"):
        visit(place, name, host_name="佐藤 次郎", start=0, hours=0.2)
    visit(place, "鈴木", host_name="高橋", arrived_at=now, arrived_by="desk")
    visit(place, "Nobody's")
    words = said(page(place, "by-host/"))
    assert words.index("高橋") < words.index("佐藤 次郎")
    assert "2 expected" in words
    assert "1 on site" in words
    assert "No host" in words
    assert "山田" not in said(page(place, "by-host/", q="たかはし 高橋"))
    assert "鈴木" in said(page(place, "by-host/", q="高橋"))


def test_many_hosts_and_guests_cost_the_same_few_queries(place):
    client = place.client(place.staff("receptionist"))
    now = timezone.now()

    def asked(rest):
        with CaptureQueriesContext(connection) as captured:
            assert client.get(f"/t/{place.tenant.slug}/guests/{rest}").status_code == 200
        return len(captured)

    pages = ("by-host/", "building/", "month/")
    visit(place, host_name="A", arrived_at=now)
    asked(pages[0])
    few = [asked(rest) for rest in pages]
    with tenant_scope(place.tenant):
        Visit.objects.bulk_create(
            Visit(
                stage="issued", guest_id=f"m{n}", guest_name=f"G{n}", name_key=f"g{n}", host_name=f"H{n % 150}",
                host_key=f"h{n % 150}", use_date_start=now, use_date_end=now + timedelta(hours=1), arrived_at=now,
            )
            for n in range(600)
        )  # fmt: skip
    assert [asked(rest) for rest in pages] == few
    assert max(few) <= 12
    assert 'rel="next"' in client.get(f"/t/{place.tenant.slug}/guests/by-host/").content.decode()
