"""Locks with a name: one name for one module, one holder at a time, and none left behind."""

import ast
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from tenants.postgresql.advisory_locks import AdvisoryLock
from tests.support.sources import sources

LOCK = AdvisoryLock("tests.lock")
OTHER = AdvisoryLock("tests.other")
pytestmark = pytest.mark.django_db(transaction=True)


def elsewhere(function, *arguments):
    """Return the function's result in another session."""

    def run():
        try:
            return function(*arguments)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(run).result()


def takes(lock, *ids):
    with transaction.atomic():
        return lock.try_until_commit(*ids)


def test_no_two_locks_have_one_name():
    with pytest.raises(ValueError, match="another lock"):
        AdvisoryLock("tests.lock")


def test_a_lock_is_held_until_the_transaction_ends():
    with transaction.atomic():
        LOCK.hold_until_commit(1, "door:1")
        assert not elsewhere(takes, LOCK, 1, "door:1")
        assert elsewhere(takes, LOCK, 2, "door:1")
        assert elsewhere(takes, LOCK, 1, "door:2")
        assert elsewhere(takes, OTHER, 1, "door:1")
    assert elsewhere(takes, LOCK, 1, "door:1")


def test_a_block_holds_a_lock_and_releases_it_after_an_error():
    def fail():
        with LOCK.held(1) as is_held, LOCK.held(2, wait_seconds=0.1) as is_other_held:
            assert is_held
            assert is_other_held
            assert not elsewhere(LOCK.is_free, 1)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert elsewhere(LOCK.is_free, 1)
    assert elsewhere(LOCK.is_free, 2)


def test_a_block_waits_no_longer_than_it_should():
    def wait():
        with LOCK.held(1, wait_seconds=0.2) as is_held:
            return is_held

    with LOCK.held(1):
        assert not elsewhere(wait)
        assert not elsewhere(LOCK.is_free, 1)  # what was not held is not released
    assert elsewhere(wait)


def test_no_other_module_calls_a_lock_of_postgresql():
    found = {
        module.name
        for module in sources("tenants", "portal")
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and "pg_advisory" in node.value.replace("pg_try_", "pg_")
    }
    locks = {"tenants/postgresql/advisory_locks.py", "tenants/postgresql/session_locks.py"}
    assert found - locks == set()
