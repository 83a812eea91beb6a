"""PostgreSQL itself separates tenants, even if the code above it makes a mistake."""

import contextlib
import threading

import psycopg
import pytest
from django.db import DatabaseError, connection, connections, transaction
from django.test.utils import CaptureQueriesContext

from tenants.models import AuditEntry, Staff
from tenants.postgresql.grants import as_owner
from tenants.postgresql.row_security import EnableRowSecurity
from tenants.scope import across_tenants, tenant_scope


def rows(sql="SELECT tenant_id FROM tenants_staff ORDER BY 1"):
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return [row[0] for row in cursor.fetchall()]


def rolled_back(tenant):
    """Enter the tenant in a transaction, read, and fail."""
    with contextlib.suppress(ZeroDivisionError), transaction.atomic(), tenant_scope(tenant):
        assert rows() == [tenant.pk]
        raise ZeroDivisionError


def test_the_role_of_the_tests_is_bound(db):
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user")
        assert cursor.fetchone() == (False,)


def test_raw_sql_sees_the_entered_tenant_only(two):
    assert rows() == []
    with tenant_scope(two.a):
        assert rows() == [two.a.pk]
    with tenant_scope(two.b):
        assert rows() == [two.b.pk]
    with across_tenants("a test"):
        assert rows() == [two.a.pk, two.b.pk]
    assert rows() == []


@pytest.mark.django_db(transaction=True)
def test_a_query_that_fails_leaves_nothing_assumed(two):
    for tenant in (two.a, two.b, two.a):
        with tenant_scope(tenant):
            with pytest.raises(DatabaseError):
                rows("SELECT 1 / 0")
            assert rows() == [tenant.pk]
    with pytest.raises(DatabaseError):
        rows("SELECT 1 / 0")
    assert rows() == []


def test_a_cursor_tells_of_its_question_alone(two):
    with tenant_scope(two.a), CaptureQueriesContext(connection) as asked, connection.cursor() as cursor:
        cursor.execute("SELECT tenant_id, role FROM tenants_staff WHERE tenant_id = %s", [two.a.pk])
        assert [column.name for column in cursor.description] == ["tenant_id", "role"]
        assert cursor.rowcount == 1
        assert cursor.fetchall() == [(two.a.pk, "owner")]
        assert not cursor.nextset()
    assert [each["sql"] for each in asked] == [
        f"SELECT tenant_id, role FROM tenants_staff WHERE tenant_id = {two.a.pk}"
    ]


def test_raw_writes_to_another_tenant_are_refused(two):
    with tenant_scope(two.a), connection.cursor() as cursor:
        cursor.execute("UPDATE tenants_staff SET role = 'guard' WHERE tenant_id = %s", [two.b.pk])
        assert cursor.rowcount == 0
        cursor.execute("DELETE FROM tenants_staff WHERE tenant_id = %s", [two.b.pk])
        assert cursor.rowcount == 0
        insert = (
            "INSERT INTO tenants_staff (tenant_id, user_id, role, is_active, since) VALUES (%s, %s, 'x', true, now())"
        )
        with pytest.raises(DatabaseError, match="row-level security"), transaction.atomic():
            cursor.execute(insert, [two.b.pk, two.owner_a.pk])
        with pytest.raises(DatabaseError, match="row-level security"), transaction.atomic():
            cursor.execute("UPDATE tenants_staff SET tenant_id = %s", [two.b.pk])
    with tenant_scope(two.b):
        assert Staff.objects.get().role == "owner"


def test_the_setting_survives_a_rolled_back_savepoint_and_follows_nested_scopes(two):
    with transaction.atomic():
        with tenant_scope(two.a):
            assert rows() == [two.a.pk]
        rolled_back(two.b)
        assert rows() == []
        with tenant_scope(two.a):
            assert rows() == [two.a.pk]
            with across_tenants("a test"):
                assert len(rows()) == 2
            assert rows() == [two.a.pk]


def test_the_setting_survives_a_failed_statement(two):
    with tenant_scope(two.a):
        with pytest.raises(DatabaseError), transaction.atomic():
            rows("SELECT 1/0")
        assert rows() == [two.a.pk]


@pytest.mark.django_db(transaction=True)
def test_the_setting_survives_a_rolled_back_transaction(make_two):
    two = make_two()
    with tenant_scope(two.a):
        rolled_back(two.a)
        assert rows() == [two.a.pk]
    rolled_back(two.b)
    assert rows() == []
    with tenant_scope(two.b):
        connection.close()
        assert rows() == [two.b.pk]


@pytest.mark.django_db(transaction=True)
def test_copy_and_server_side_cursors_are_bound_as_well(make_two):
    two = make_two()
    copied = "COPY tenants_staff (tenant_id) TO STDOUT"
    with tenant_scope(two.a), connection.cursor() as cursor, cursor.copy(copied) as copy:
        assert [int(row[0]) for row in copy.rows()] == [two.a.pk]
    with tenant_scope(two.b):
        assert [row.tenant_id for row in Staff.objects.iterator(chunk_size=1)] == [two.b.pk]
        with transaction.atomic():
            found = list(Staff.reachable_objects.iterator(chunk_size=1))
    assert len(found) == 1


@pytest.mark.django_db(transaction=True)
def test_a_pooled_connection_forgets_the_last_borrowers_tenant(make_two):
    two = make_two()
    pooled = connection.copy("pooled")
    pooled.settings_dict = {
        **connection.settings_dict,
        "CONN_MAX_AGE": 0,
        "OPTIONS": {"pool": {"min_size": 1, "max_size": 1, "timeout": 5}},
    }
    connections["pooled"] = pooled

    def look():
        with pooled.cursor() as cursor:
            cursor.execute("SELECT tenant_id, pg_backend_pid() FROM tenants_staff")
            return cursor.fetchall()

    try:
        with tenant_scope(two.a):
            ((tenant, backend),) = look()
            assert tenant == two.a.pk
        pooled.close()
        assert look() == []
        pooled.close()
        with tenant_scope(two.b):
            assert look() == [(two.b.pk, backend)]
    finally:
        pooled.close()
        pooled.close_pool()
        del connections["pooled"]


@pytest.mark.django_db(transaction=True)
def test_threads_do_not_share_their_tenants(make_two):
    two = make_two()
    start, found = threading.Barrier(8), []

    def work(tenant):
        start.wait()
        for _ in range(25):
            with tenant_scope(tenant):
                found.append(rows() == [tenant.pk])
            found.append(rows() == [])
        connection.close()

    threads = [threading.Thread(target=work, args=(two.a if n % 2 else two.b,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 400
    assert all(found)


@pytest.mark.django_db(transaction=True)
def test_a_plain_client_with_the_wrong_setting_sees_and_changes_nothing(make_two):
    two = make_two()
    facts = connection.get_connection_params()
    facts = {name: facts[name] for name in ("dbname", "user", "password", "host", "port") if name in facts}
    with psycopg.connect(**facts, autocommit=True) as direct:
        assert direct.execute("SELECT count(*) FROM tenants_staff").fetchone() == (0,)
        direct.execute("SET portal.tenant = '999999'")
        assert direct.execute("SELECT count(*) FROM tenants_connection").fetchone() == (0,)
        direct.execute("SET portal.tenant = ''")
        assert direct.execute("DELETE FROM tenants_staff").rowcount == 0
        direct.execute("SELECT set_config('portal.tenant', %s, false)", [str(two.a.pk)])
        assert direct.execute("SELECT tenant_id FROM tenants_staff").fetchall() == [(two.a.pk,)]


def test_the_audit_trail_is_only_added_to(two):
    with tenant_scope(two.a):
        entry = AuditEntry.objects.create(tenant=two.a, action="x.y")
        for write in (entry.save, entry.delete, lambda: AuditEntry.objects.update(action="z")):
            with pytest.raises(DatabaseError, match="permission denied"), transaction.atomic():
                write()


@pytest.mark.django_db(transaction=True)
def test_row_security_can_be_taken_back(make_two):
    make_two()
    operation = EnableRowSecurity("tenants_staff")
    with as_owner(), connection.schema_editor() as editor:
        operation.database_backwards("tenants", editor, None, None)
        assert len(rows()) == 2
        operation.database_forwards("tenants", editor, None, None)
    assert rows() == []
    assert "tenants_staff" in operation.describe()
