"""SQL with the site's database role cannot change the audit log, the tables or their protections."""

from datetime import date
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.utils import timezone
from psycopg import sql

from portal.site import monitoring
from tenants.models import AuditEntry
from tenants.postgresql import grants
from tenants.postgresql.grants import check_site_role
from tenants.scope import tenant_scope
from tests.support.databases import as_owner

pytestmark = pytest.mark.django_db(transaction=True)

AUDIT = "tenants_auditentry"
#: What an attack could change: rows, protections, owners, privileges, functions, roles.
STATE = (
    f"SELECT * FROM {AUDIT} ORDER BY id",
    "SELECT * FROM tenants_staff ORDER BY id",
    "SELECT tgrelid::regclass::text, tgname, tgenabled FROM pg_trigger ORDER BY 1, 2",
    "SELECT tablename, policyname, qual, with_check FROM pg_policies ORDER BY 1, 2",
    """SELECT relname, relowner, relrowsecurity, relforcerowsecurity, relacl::text, relhasrules FROM pg_class
    WHERE relnamespace = 'public'::regnamespace ORDER BY 1""",
    """SELECT proname, proowner, prosecdef, proconfig, prosrc, proacl::text FROM pg_proc
    WHERE pronamespace = 'public'::regnamespace ORDER BY 1""",
    "SELECT rolname, rolsuper, rolbypassrls, rolcreatedb, rolcreaterole FROM pg_roles ORDER BY 1",
    "SELECT roleid, member FROM pg_auth_members ORDER BY 1, 2",
    "SELECT nspname, nspowner, nspacl::text FROM pg_namespace WHERE nspname !~ '^pg_' ORDER BY 1",
    "SELECT defaclrole, defaclacl::text FROM pg_default_acl ORDER BY 1",
)

ROWS_OF_THE_LOG = (
    f"TRUNCATE {AUDIT}",
    f"TRUNCATE {AUDIT} CASCADE",
    f"TRUNCATE ONLY {AUDIT} RESTART IDENTITY",
    f"DELETE FROM {AUDIT}",
    f"UPDATE {AUDIT} SET action = 'harmless'",
    f"SET portal.rotating = 'on'; UPDATE {AUDIT} SET before = NULL, after = NULL",
    f"SELECT * FROM {AUDIT} FOR UPDATE",
    f"MERGE INTO {AUDIT} a USING (SELECT 1) s ON true WHEN MATCHED THEN DELETE",
    f"INSERT INTO {AUDIT} SELECT * FROM {AUDIT} ON CONFLICT (id) DO UPDATE SET action = 'harmless'",
    f"DO 'BEGIN LOCK TABLE {AUDIT} IN ACCESS EXCLUSIVE MODE; END'",
    f"COPY {AUDIT} FROM PROGRAM 'true'",
)
THE_TABLES = (
    "TRUNCATE tenants_staff CASCADE",
    f"ALTER TABLE {AUDIT} DISABLE TRIGGER append_only",
    f"ALTER TABLE {AUDIT} DISABLE TRIGGER ALL",
    f"ALTER TABLE {AUDIT} DISABLE ROW LEVEL SECURITY",
    "ALTER TABLE tenants_staff NO FORCE ROW LEVEL SECURITY",
    "ALTER TABLE tenants_staff OWNER TO CURRENT_USER",
    f"ALTER TABLE {AUDIT} DROP COLUMN action",
    f"ALTER TABLE {AUDIT} INHERIT tenants_staff",
    f"DROP TRIGGER append_only ON {AUDIT}",
    f"DROP TRIGGER append_only_as_a_whole ON {AUDIT}",
    "DROP POLICY tenant_rows ON tenants_staff",
    "ALTER POLICY tenant_rows ON tenants_staff USING (true)",
    "CREATE POLICY all_rows ON tenants_staff USING (true)",
    f"CREATE RULE nothing AS ON INSERT TO {AUDIT} DO INSTEAD NOTHING",
    f"CREATE TRIGGER mine BEFORE INSERT ON {AUDIT} EXECUTE FUNCTION suppress_redundant_updates_trigger()",
    f"CREATE INDEX mine ON {AUDIT} (action)",
    f"REINDEX TABLE {AUDIT}",
    f"DROP TABLE {AUDIT} CASCADE",
    "DROP TABLE history_history_default",
    "SELECT * FROM history_history_default",
    "ALTER TABLE history_history DETACH PARTITION history_history_default",
    "DELETE FROM django_migrations",
    "SELECT setval('history_history_number', 1)",
    "CREATE TABLE mine (n int)",
    "CREATE VIEW mine AS SELECT 1",
    "CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "CREATE SCHEMA mine",
    "DROP SCHEMA public CASCADE",
)
ANOTHER_ROLE = (
    "SET session_replication_role = replica",
    "SET ROLE {owner}",
    "SET SESSION AUTHORIZATION {owner}",
    "GRANT {owner} TO CURRENT_USER",
    "ALTER ROLE {owner} PASSWORD 'mine'",
    "ALTER ROLE CURRENT_USER BYPASSRLS",
    "ALTER ROLE CURRENT_USER CREATEDB",
    "CREATE ROLE mine",
    "CREATE DATABASE mine",
    "REASSIGN OWNED BY {owner} TO CURRENT_USER",
    "DROP OWNED BY {owner}",
    "ALTER DEFAULT PRIVILEGES FOR ROLE {owner} GRANT ALL ON TABLES TO CURRENT_USER",
    "ALTER SYSTEM SET session_replication_role = replica",
    "ALTER FUNCTION history_make_month OWNER TO CURRENT_USER",
    "ALTER FUNCTION history_make_month SECURITY INVOKER",
    "ALTER FUNCTION history_drop_month SET search_path = pg_temp",
    "DROP FUNCTION history_drop_month",
    "CREATE OR REPLACE FUNCTION history_drop_month(month date) RETURNS void LANGUAGE sql AS 'SELECT 1'",
    """CREATE OR REPLACE FUNCTION tenants_trail_is_append_only() RETURNS trigger LANGUAGE plpgsql
    AS 'BEGIN RETURN NULL; END'""",
)
THE_SERVER = (
    "COPY (SELECT 1) TO PROGRAM 'true'",
    "COPY (SELECT 1) TO '/tmp/mine'",
    "SELECT lo_import('/etc/passwd')",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT pg_ls_dir('/')",
    "LOAD '/tmp/mine.so'",
    "SELECT pg_terminate_backend({session})",
)


@pytest.fixture
def here(make_two: Any) -> Any:
    """Create two tenants, the first with an audit entry. Skipped where the services use one role for everything."""
    with as_owner() as owner:
        if owner.info.user == connection.settings_dict["USER"]:
            pytest.skip("these services have one role")
    two = make_two()
    with tenant_scope(two.a):
        AuditEntry.objects.create(tenant=two.a, action="door.unlock")
    return two


def as_site() -> "psycopg.Connection[Any]":
    facts = connection.get_connection_params()
    facts = {name: facts[name] for name in ("dbname", "user", "password", "host", "port") if name in facts}
    site = psycopg.connect(**facts, autocommit=True)
    site.execute("SET portal.across = 'on'")
    return site


def state(owner: "psycopg.Connection[Any]") -> list[Any]:
    return [owner.execute(query).fetchall() for query in STATE]


@pytest.mark.parametrize("attacks", [ROWS_OF_THE_LOG, THE_TABLES, ANOTHER_ROLE, THE_SERVER])
def test_every_attack_is_refused_and_nothing_is_changed(here: Any, attacks: tuple[str, ...]) -> None:
    allowed = []
    with as_owner() as owner, as_site() as site:
        before = state(owner)
        names = {"owner": sql.Identifier(owner.info.user), "session": sql.Literal(owner.info.backend_pid)}
        for attack in attacks:
            try:
                site.execute(sql.SQL(attack).format(**names))
            except (psycopg.errors.InsufficientPrivilege, psycopg.errors.InvalidName):
                continue
            allowed.append(attack)
        site.execute("RESET portal.rotating")
        site.execute(f"GRANT ALL ON {AUDIT} TO CURRENT_USER")  # PostgreSQL only warns that nothing was granted
        assert state(owner) == before
    assert allowed == []


def test_the_log_is_read_and_added_to(here: Any) -> None:
    with tenant_scope(here.a):
        AuditEntry.objects.create(tenant=here.a, action="door.lock")
        assert {entry.action for entry in AuditEntry.objects.all()} == {"door.unlock", "door.lock"}


@pytest.mark.parametrize("statement", [f"TRUNCATE {AUDIT}", f"DELETE FROM {AUDIT}", f"UPDATE {AUDIT} SET action = 'x'"])
def test_the_owner_does_not_change_the_log_by_accident(here: Any, statement: str) -> None:
    with as_owner() as owner:
        with pytest.raises(psycopg.errors.RaiseException, match="only ever added to"):
            owner.execute(statement)
        assert owner.execute(f"SELECT count(*) FROM {AUDIT}").fetchone() == (1,)


HOSTILE = [
    f"SELECT history_make_month('{each}')"
    for each in (
        "2026-11-02",
        "1999-01-01",
        "2999-01-01",
        "infinity",
        "-infinity",
        "0001-01-01 BC",
        "x'; DROP TABLE y; --",
    )
]
HOSTILE += [f"SELECT history_drop_month({each})" for each in
            ("date_trunc('month', now())::date", "(date_trunc('month', now()) - interval '12 months')::date",
             "'2020-01-02'", "'infinity'", "'history_history'")]  # fmt: skip


def test_the_owners_functions_take_months_and_nothing_else(here: Any) -> None:
    with as_owner() as owner, as_site() as site:
        before = state(owner)
        for call in HOSTILE:
            with pytest.raises(psycopg.Error):
                site.execute(call)
        for nothing in ("history_make_month(NULL)", "history_drop_month(NULL)", "history_drop_month('2001-02-01')"):
            site.execute(f"SELECT {nothing}")
        assert state(owner) == before


def test_a_month_is_made_for_the_owner_whatever_the_caller_put_in_its_way(here: Any) -> None:
    now = timezone.now()
    early = date(now.year - 1, now.month, 1)
    part = f"history_history_{early:%Y_%m}"
    with as_owner() as owner, as_site() as site:
        owner.execute(f"DROP TABLE IF EXISTS {part}, history_historysearch_{early:%Y_%m}")
        for name in (part, "history_history", "history_history_default"):
            site.execute(f"CREATE TEMP TABLE {name} (at timestamptz)")
        site.execute("CREATE FUNCTION pg_temp.format(text, VARIADIC text[]) RETURNS text LANGUAGE sql AS $$SELECT ''$$")
        site.execute("SELECT history_make_month(%s)", [early])
        made = owner.execute(
            "SELECT relowner::regrole::text, relrowsecurity, relforcerowsecurity, relispartition FROM pg_class"
            " WHERE oid = to_regclass('public.' || %s)", [part]
        ).fetchone()  # fmt: skip
        assert made == (owner.info.user, True, True, True)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            site.execute(f"SELECT * FROM public.{part}")


# Compare all privileges with the necessary ones

PRIVILEGES = """
SELECT c.relname, c.relkind::text, c.relispartition, c.relowner::regrole::text,
    (SELECT coalesce(array_agg(p.privilege_type ORDER BY p.privilege_type), '{}') FROM aclexplode(c.relacl) p
     WHERE p.grantee = %(site)s::regrole),
    (SELECT count(*) FROM aclexplode(c.relacl) p WHERE p.grantee NOT IN (c.relowner, %(site)s::regrole))
FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'S', 'v', 'm', 'f')
"""


def wrong(owner: "psycopg.Connection[Any]") -> list[Any]:
    """Return the privileges of the site on tables, sequences and functions that it does not need."""
    site = connection.settings_dict["USER"]
    found = []
    for name, kind, is_part, has, may, others in owner.execute(PRIVILEGES, {"site": site}):
        needs = "USAGE" if kind == "S" else "" if is_part else grants.site_privileges(name)
        if (has, may, others) != (owner.info.user, sorted(filter(None, needs.split(", "))), 0):
            found.append((name, has, may, others))
    functions = owner.execute(
        "SELECT proname, prosecdef, proconfig::text, has_function_privilege(%s, oid, 'EXECUTE') FROM pg_proc"
        " WHERE pronamespace = 'public'::regnamespace", [site]
    )  # fmt: skip
    for name, is_for_others, config, may in functions:
        if may != is_for_others or (is_for_others and "search_path=public, pg_temp" not in str(config)):
            found.append((name, config, may))
    return found


def test_the_site_may_do_with_each_table_what_it_needs_and_no_more(here: Any) -> None:
    with as_owner() as owner:
        assert wrong(owner) == []
        records = [name for name, *_ in owner.execute(PRIVILEGES, {"site": connection.settings_dict["USER"]})
                   if grants.site_privileges(name) == "SELECT, INSERT"]  # fmt: skip
    assert sorted(records) == ["alerts_alertnote", "reviews_step", AUDIT, "tenants_auditkind", "tenants_signingkey"]


def test_after_each_migration_a_new_table_has_what_it_needs_and_what_was_too_much_is_gone(here: Any) -> None:
    site = sql.Identifier(connection.settings_dict["USER"])
    with as_owner() as owner:
        owner.execute("CREATE TABLE mine (id bigint GENERATED BY DEFAULT AS IDENTITY); CREATE VIEW shown AS SELECT 1")
        owner.execute("CREATE FUNCTION theirs() RETURNS int LANGUAGE sql AS 'SELECT 1'")
        owner.execute(sql.SQL("GRANT ALL ON {} TO {}, PUBLIC").format(sql.Identifier(AUDIT), site))
        try:
            assert {name for name, *_ in wrong(owner)} == {"mine", "mine_id_seq", "shown", "theirs", AUDIT}
            owner.execute("DROP VIEW shown")
            call_command("migrate", verbosity=0)
            assert wrong(owner) == []
        finally:
            owner.execute("DROP TABLE mine; DROP FUNCTION theirs")


# Messages for operators


def warned() -> list[str]:
    return [str(each.id) for each in check_site_role(databases=["default"])]


def test_a_site_that_owns_nothing_is_not_warned_about(here: Any) -> None:
    assert warned() == []


def test_a_site_that_owns_the_tables_is_warned_about_by_the_check_and_the_probe(
    here: Any, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with as_owner() as owner:
        monkeypatch.setitem(settings.DATABASES["default"], "USER", owner.info.user)
    messages = check_site_role(databases=["default"])
    assert [each.id for each in messages] == ["tenants.W002", "tenants.W004", "tenants.W005"]
    assert all(each.hint for each in messages)
    monkeypatch.setattr(monitoring, "_readiness", monitoring._Readiness())
    assert Client().get("/readyz").json()["warnings"] == ["tenants.W002", "tenants.W004", "tenants.W005"]


def test_a_superuser_is_warned_about(here: Any, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with as_owner() as owner:
        (superuser,) = owner.execute("SELECT rolname FROM pg_roles WHERE rolsuper LIMIT 1").fetchone() or ("",)
    monkeypatch.setitem(settings.DATABASES["default"], "USER", superuser)
    assert warned() == [f"tenants.W00{number}" for number in (3, 4, 5)]


@pytest.mark.parametrize("allowed", ["DELETE", "TRUNCATE", "TRIGGER", "UPDATE (action)"])
def test_a_site_that_may_change_the_log_is_warned_about(here: Any, allowed: str) -> None:
    site = sql.Identifier(connection.settings_dict["USER"])
    on = sql.SQL(f"{allowed} ON {AUDIT}")
    with as_owner() as owner:
        owner.execute(sql.SQL("GRANT {} TO {}").format(on, site))
        try:
            assert warned() == ["tenants.W004"]
        finally:
            owner.execute(sql.SQL("REVOKE {} FROM {}").format(on, site))


def test_migrating_without_the_owner_says_what_is_missing(here: Any, settings: Any) -> None:
    settings.DATABASE_OWNER = {}
    with pytest.raises(CommandError, match="set DATABASE_OWNER_URL"):
        call_command("migrate", "sessions", "zero", verbosity=0)
    with as_owner() as owner:
        assert owner.execute("SELECT to_regclass('django_session') IS NOT NULL").fetchone() == (True,)


def test_migrating_a_database_of_another_version_changes_nothing_and_says_so(here: Any) -> None:
    with as_owner() as owner:
        owner.execute("CREATE TABLE mine (id int)")
        owner.execute("INSERT INTO django_migrations (app, name, applied) VALUES ('intents', '0003_former', now())")
        try:
            with pytest.raises(
                CommandError, match=r"1 migrations that this version does not have \(intents.0003_former"
            ):
                call_command("migrate", verbosity=0)
            assert wrong(owner), "not even the grants of a new table"
        finally:
            owner.execute("DROP TABLE mine; DELETE FROM django_migrations WHERE name = '0003_former'")
