"""The cache in PostgreSQL, which limits and used codes rely on."""

import pytest
from django.core.cache import cache
from django.db import connection

from tests.support.house import together

pytestmark = pytest.mark.django_db


def test_values_come_back_until_their_time_is_over():
    cache.set("a", [1.5, "x", {"y": None}], 60)
    assert cache.get("a") == [1.5, "x", {"y": None}]
    assert cache.touch("a", 0)
    assert cache.get("a", "gone") == "gone"
    assert not cache.touch("a", 60)
    cache.set("b", 1, None)
    assert cache.delete("b")
    assert not cache.delete("b")


def test_what_is_kept_is_not_added_again_before_it_is_over():
    assert cache.add("a", "first", 60)
    assert not cache.add("a", "second", 60)
    assert cache.get("a") == "first"
    cache.touch("a", 0)
    assert cache.add("a", "third", 60)
    assert cache.get("a") == "third"


def test_counting_begins_anew_when_its_time_is_over():
    assert [cache.count("a", 60) for _ in range(3)] == [1, 2, 3]
    cache.decr("a")
    assert cache.get("a") == 2
    cache.touch("a", 0)
    assert cache.count("a", 60) == 1
    with pytest.raises(ValueError, match="not found"):
        cache.incr("nothing")


def test_a_crash_of_the_database_does_not_forget_it():
    """Check that the table is logged: PostgreSQL empties an unlogged one, and a standby has none of it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT relpersistence FROM pg_class WHERE relname = 'tenants_cacheentry'")
        assert cursor.fetchone() == ("p",)


@pytest.mark.django_db(transaction=True)
def test_many_at_once_are_counted_each_and_only_one_is_first():
    assert sorted(together(lambda _: cache.count("a", 60), 8)) == list(range(1, 9))
    assert sum(together(lambda _: cache.add("b", 1, 60), 8)) == 1
