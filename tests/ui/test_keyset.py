"""Paging by key returns every row once, in order, in both directions, also with missing or equal values."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.db.models import Value
from django.db.models.functions import Concat
from django.test.utils import CaptureQueriesContext
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from portal.base.ui.tables import keyset
from tenants.models import User
from tests.support.effort import examples

START = datetime(2026, 11, 21, tzinfo=UTC)


def people(days):
    rows = [
        User(
            email=f"p{place}@example.test",
            name=f"{day}",
            last_login=None if day is None else START + timedelta(days=day),
        )
        for place, day in enumerate(days)
    ]
    User.objects.bulk_create(rows)
    return User.objects.filter(email__endswith="@example.test")


def expected(queryset, order):
    rows = list(queryset)
    filled = [row for row in rows if row.last_login is not None]
    empty = [row for row in rows if row.last_login is None]
    filled.sort(key=lambda row: (row.last_login, row.pk), reverse=order.is_descending)
    empty.sort(key=lambda row: row.pk, reverse=order.is_descending)
    return [row.pk for row in filled + empty]


def walk(queryset, order, size, total, *, forward):
    cursor, seen, firsts = ("" if forward else keyset.END), [], []
    for _ in range(100):
        way = {"after": cursor} if forward else {"before": cursor}
        page = keyset.load_page(queryset, order, size, total=total, **way)
        keys = [row.pk for row in page.rows]
        seen = seen + keys if forward else keys + seen
        firsts.append(page.first)
        cursor = page.next if forward else page.previous
        if cursor is None:
            return seen, firsts
    raise AssertionError("paging does not end")


class TestEveryRowOnce(TestCase):
    @settings(max_examples=examples(60))
    @given(
        days=st.lists(st.one_of(st.none(), st.integers(0, 4)), max_size=17),
        descending=st.booleans(),
        size=st.integers(1, 6),
    )
    def test_forwards_and_backwards_give_every_row_once_in_order(self, days, descending, size):
        queryset = people(days)
        order = keyset.SortOrder("last_login", descending)
        wanted = expected(queryset, order)
        seen, firsts = walk(queryset, order, size, len(days), forward=True)
        assert seen == wanted
        assert firsts == ([0] if not days else list(range(1, len(days) + 1, size)))
        back, firsts_back = walk(queryset, order, size, len(days), forward=False)
        assert back == wanted
        assert firsts_back == firsts[::-1]

    def test_sorting_by_the_key_itself_works(self):
        queryset = people([1, None, 2])
        order = keyset.SortOrder("pk")
        assert walk(queryset, order, 2, 3, forward=True)[0] == sorted(row.pk for row in queryset)


@pytest.fixture
def ten(db):
    return people([*range(8), None, None])


ORDER = keyset.SortOrder("last_login")


@pytest.mark.parametrize("cursor", ["x", "", "eyJ9:1:2", "\x00", "end'--", "9" * 4000])
def test_a_forged_cursor_gives_the_first_page(ten, cursor):
    assert keyset.load_page(ten, ORDER, 3, after=cursor).first == 1
    assert keyset.load_page(ten, ORDER, 3, before=cursor).first == 1


def test_a_cursor_of_another_order_gives_the_first_page(ten):
    page = keyset.load_page(ten, ORDER, 3)
    assert keyset.load_page(ten, keyset.SortOrder("name"), 3, after=page.next).first == 1


def test_the_row_that_a_cursor_names_may_be_gone(ten):
    page = keyset.load_page(ten, ORDER, 3)
    User.objects.filter(pk=page.rows[-1].pk).update(email="gone@elsewhere.test")
    following = keyset.load_page(ten, ORDER, 3, after=page.next)
    assert [row.name for row in following.rows] == ["3", "4", "5"]


def test_when_all_that_follows_is_gone_the_first_page_is_shown(ten):
    page = keyset.load_page(ten, ORDER, 9)
    ten.filter(last_login=None).update(email=Concat("email", Value("x")))
    assert keyset.load_page(ten, ORDER, 9, after=page.next).first == 1


def test_a_page_is_one_query_without_offset(ten):
    page = keyset.load_page(ten, ORDER, 3)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        keyset.load_page(ten, ORDER, 3, after=page.next)
    assert len(queries) == 1
    assert "OFFSET" not in queries[0]["sql"]
