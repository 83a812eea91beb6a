"""The log's partitions by month: created when a record arrives, dropped when none of their records is kept."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.utils import timezone

from portal.domain.events import MirrorKind
from portal.domain.history import partitions, search
from portal.domain.history.models import History, HistorySearch
from portal.domain.history.records import HistoryColumns, insert_records
from portal.domain.people.models import Member
from portal.domain.people.text_folding import search_words
from portal.domain.sync.models import MirrorState
from tenants.models import Tenant
from tenants.scope import tenant_scope
from tests.support.customers import MakeCustomer

pytestmark = pytest.mark.django_db(transaction=True)


def record(name: str, at: datetime, **said: str) -> HistoryColumns:
    blank = dict.fromkeys(HistoryColumns._fields, "") | {"units": "[]", "extra": "{}", "notified": False}
    return HistoryColumns(**(blank | {"history_id": name, "at": at} | said))  # type: ignore[arg-type]


def parts() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'history_history'::regclass")
        return {name for (name,) in cursor.fetchall()}


@pytest.fixture
def tenant(customer: MakeCustomer) -> Tenant:
    return customer(members=1, guests=0).tenant


def test_a_record_lies_in_the_part_of_its_month_and_one_of_another_age_in_the_default_part(tenant: Tenant) -> None:
    early = timezone.now() - timedelta(days=150)
    part = f"history_history_{partitions._month_name(partitions._month_start(early))}"
    with tenant_scope(tenant):
        insert_records([record("early", early), record("lost", datetime(1970, 1, 1, tzinfo=UTC))])
        with connection.cursor() as cursor:
            cursor.execute("SELECT history_id, tableoid::regclass::text FROM history_history")
            lies = dict(cursor.fetchall())
    assert lies == {"early": part, "lost": "history_history_default"}


def test_a_part_that_is_made_late_takes_over_what_the_default_part_had(tenant: Tenant) -> None:
    at = timezone.now() - timedelta(days=200)
    with tenant_scope(tenant):
        History.objects.create(history_id="early", at=at)
        partitions.create_partition(partitions._month_start(at))
        assert History.objects.get(history_id="early").at == at
    assert f"history_history_{partitions._month_name(partitions._month_start(at))}" in parts()


def test_months_that_are_not_kept_any_more_go_with_who_was_known_by_them_alone(tenant: Tenant) -> None:
    now = timezone.now()
    old, kept = now - partitions.RETENTION - timedelta(days=40), now - partitions.RETENTION + timedelta(days=2)
    with tenant_scope(tenant):
        for at in (old, kept):
            partitions.create_partition(partitions._month_start(at))
        insert_records([record("old", old), record("kept", kept), record("lost", datetime(1970, 1, 1, tzinfo=UTC))])
        MirrorState.objects.create(kind=MirrorKind.HISTORIES, total=2)
        Member.objects.bulk_create(
            Member(member_id=name, last_seen_at=at) for name, at in (("gone", old), ("still", kept))
        )
    dropped = partitions.drop_old_partitions()
    assert f"history_history_{partitions._month_name(partitions._month_start(old))}" in dropped
    assert not set(dropped) & parts()
    with tenant_scope(tenant):
        assert [row.history_id for row in History.objects.all()] == ["kept"]
        assert HistorySearch.objects.filter(tenant=tenant).count() == 1
        assert MirrorState.objects.get(kind=MirrorKind.HISTORIES).total == 1
        seen = dict(Member.objects.filter(member_id__in=["gone", "still"]).values_list("member_id", "last_seen_at"))
    assert seen == {"gone": None, "still": kept}


def found(**wanted: object) -> list[str]:
    words = search_words(str(wanted.pop("text", "")))
    keys = search.filter_records(search.search_rows(), search.RecordFilter(words=words, **wanted))  # type: ignore[arg-type]
    return [row.history_id for row in search.load_records(keys[:50])]


def test_records_are_found_by_what_they_say_and_whom_and_what_they_are_about(tenant: Tenant) -> None:
    now = timezone.now()
    said = [
        record(
            "1", now, content="入室", member_id="m1", member_name="佐々木 健太郎", device_id="d1", category="normal"
        ),
        record("2", now - timedelta(hours=1), content="Door forced open", device_id="d2", category="emergency"),
        record("3", now - timedelta(days=40), content="入室 拒否", member_name="?", device_id="d1", category="warning"),
    ]
    with tenant_scope(tenant):
        insert_records(said)
        assert found() == ["1", "2", "3"]
        assert found(text="入室") == ["1", "3"]
        assert found(text="健太") == ["1"]
        assert found(text="ｆｏｒｃｅｄ open") == ["2"]
        assert found(text="拒") == ["3"], "one character is looked for, too"
        assert found(text="open forcedd") == []
        assert found(member_id="m1") == ["1"]
        assert found(device_ids=["d1"], has_person=True, categories=["warning", "suspicious"]) == ["3"]
        assert found(device_ids=[]) == []
        assert found(until=now, since=now - timedelta(days=1)) == ["2"]


def test_the_logs_own_record_takes_the_place_of_what_a_notification_told(tenant: Tenant) -> None:
    now = timezone.now()
    with tenant_scope(tenant):
        assert len(insert_records([record("h", now, content="told early")._replace(notified=True)])) == 1
        assert found(is_notified=True) == ["h"]
        assert len(insert_records([record("h", now - timedelta(seconds=3), content="told fully")])) == 1
        assert insert_records([record("h", now, content="again")._replace(notified=True)]) == []
        (row,) = History.objects.all()
        assert (row.content, row.notified) == ("told fully", False)
        assert HistorySearch.objects.filter(tenant=tenant).count() == 1


def test_who_is_forgotten_is_not_found_by_the_name_any_more(tenant: Tenant) -> None:
    with tenant_scope(tenant):
        insert_records([record("h", timezone.now(), content="入室", member_id="g1", member_name="山田 花子")])
        assert found(text="山田") == ["h"]
        search.anonymise_people(["g1"])
        assert found(text="山田") == []
        assert found(text="入室", member_id="g1") == ["h"]
