"""A dump that looks complete, but is empty, cut off or without its keys, is found before it is needed."""

import io
import os
import subprocess
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings as site
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from portal.domain.history.models import History
from portal.domain.people.models import Member
from portal.history.models import SavedSearch
from stack.services import new_vault_key
from tenants.models import AuditEntry, Tenant
from tenants.scope import across_tenants, tenant_scope
from tests.support import backups, databases
from tests.support.databases import as_owner
from tests.support.evidence import stored

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def here(make_two: Any, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Create two tenants, each with entries in the audit log, and a file of evidence in the first."""
    settings.STORAGES = settings.STORAGES | {
        "evidence": site.STORAGES["evidence"] | {"OPTIONS": {"location": tmp_path / "evidence", "base_url": None}}
    }
    monkeypatch.setenv("PORTAL_EVIDENCE_FILES", str(tmp_path / "evidence"))
    monkeypatch.setenv("PATH", backups.with_programs(os.environ)["PATH"])
    two = make_two()
    for tenant in (two.a, two.b):
        with tenant_scope(tenant):
            AuditEntry.objects.bulk_create(AuditEntry(tenant=tenant, action="door.unlock") for _ in range(3))
            member = Member.objects.create(tenant=tenant, member_id="M1", member_name="Sato")
            with connection.cursor() as cursor:  # a table without row security
                cursor.execute(
                    "INSERT INTO people_membersearch (member_id, tenant_id, pieces) VALUES (%s, %s, '{}')",
                    [member.pk, tenant.pk],
                )
    with tenant_scope(two.a):
        two.file = stored("video/mp4")
    return two


def name() -> str:
    return str(connection.settings_dict["NAME"])


def record(number: int, at: datetime) -> History:
    return History(history_id=f"h{number}", at=at, device_id="D1", device_name="Lobby", content="Entry")


def by_backup(folder: Path, *options: str) -> Path:
    return backups.dump(backups.address("DATABASE_BACKUP_URL", name()), folder, *options)


def check(file: Path, *options: str) -> str:
    said = io.StringIO()
    call_command("check_backup", file, *options, stdout=said, stderr=said)
    return said.getvalue()


def problems(file: Path, *options: str) -> str:
    """Return the problems that the check finds in a bad dump."""
    said = io.StringIO()
    with pytest.raises(CommandError) as refused:
        call_command("check_backup", file, *options, stdout=said, stderr=said)
    assert refused.value.returncode == 1
    return f"{said.getvalue()}{refused.value}"


def test_a_dump_by_the_role_for_backups_is_complete(here: Any, tmp_path: Path) -> None:
    done = backups.run(backups.commands("pg_dump"), name(), tmp_path)
    assert done.returncode == 0, done.stderr
    assert "The dump is complete: " in done.stdout
    assert "of 2 tenants. The newest audit entry is of " in done.stdout
    assert "Its secrets open with the keys " in done.stdout
    assert "Its 1 stored files are in the store." in done.stdout
    assert check(tmp_path / "portal.dump", "--alone") == done.stdout


def test_what_is_added_and_deleted_after_the_dump_is_no_problem(here: Any, tmp_path: Path) -> None:
    file = by_backup(tmp_path)
    with tenant_scope(here.b):
        AuditEntry.objects.bulk_create(AuditEntry(tenant=here.b, action="door.lock") for _ in range(500))
        stored("video/mp4")
    with across_tenants("a test deletes what was kept"):
        here.file.delete()
    (tmp_path / "evidence" / here.file.path).unlink()
    with tenant_scope(here.b):
        SavedSearch.objects.create(tenant=here.b, name="Nights", query="", by=here.owner_b)
    Tenant.objects.create(slug="c", name="Tenant c", environment=here.environment)
    assert "The dump is complete" in check(file)


def test_neither_the_sites_role_nor_the_owner_writes_a_dump(here: Any) -> None:
    site_url, owner_url = (backups.address("DATABASE_URL", name()), databases.address_of_owner("portal", name()))
    for arguments in ([site_url], [site_url, "--enable-row-security"], [owner_url]):
        refused = subprocess.run([backups.PROGRAMS / "pg_dump", *arguments], capture_output=True, text=True)
        assert refused.returncode == 1


def test_a_dump_that_row_security_emptied_is_not_trusted(here: Any, tmp_path: Path) -> None:
    file = backups.dump(databases.address_of_owner("portal", name()), tmp_path, "--enable-row-security")
    said = problems(file)
    assert "The dump has no row of any tenant" in said
    assert "tenants_auditentry: 0 of 6 rows, of a, b." in said
    assert "storage_storedfile: 0 of 1 rows, of a." in said
    assert "The dump has no row of any tenant" in problems(file, "--alone")


def test_a_dump_of_one_tenant_is_not_taken_for_all(here: Any, tmp_path: Path) -> None:
    owner_url = databases.address_of_owner("portal", name())
    file = backups.dump(owner_url, tmp_path, "--enable-row-security", PGOPTIONS=f"-c portal.tenant={here.b.pk}")
    said = problems(file)
    assert "The dump has no row of a." in said
    assert "tenants_auditentry: 0 of 3 rows, of a." in said
    assert "of b." not in said


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--exclude-table=tenants_auditentry", "tenants_auditentry: its rows are not in the dump."),
        ("--exclude-table-data=tenants_auditentry", "tenants_auditentry: its rows are not in the dump."),
        ("--data-only", "definitions are not in the dump: "),
        ("--no-policies", "definitions are not in the dump: policy tenant_rows of alerts_alert, "),
    ],
)
def test_what_was_left_out_is_named(here: Any, tmp_path: Path, option: str, said: str) -> None:
    assert said in problems(by_backup(tmp_path, option))


def test_a_part_of_the_log_that_was_left_out_is_missed(here: Any, tmp_path: Path) -> None:
    month, at = timezone.now().strftime("history_history_%Y_%m"), timezone.now()
    with tenant_scope(here.a):
        History.objects.bulk_create(record(number, at) for number in range(200))
    assert "history_history: 0 of 200 rows, of a." in problems(by_backup(tmp_path, f"--exclude-table={month}"))


def test_a_dump_that_is_cut_off_or_changed_is_not_trusted(here: Any, tmp_path: Path) -> None:
    whole = by_backup(tmp_path).read_bytes()
    cut = tmp_path / "cut.dump"
    for length in (0, 4, len(whole) // 2, len(whole) * 9 // 10):
        cut.write_bytes(whole[:length])
        assert "pg_restore cannot read the dump to its end" in problems(cut)
    cut.write_bytes(whole[:5] + bytes([1, 99]) + whole[7:])
    assert "pg_restore is older than the pg_dump" in problems(cut)


def test_without_pg_restore_the_check_says_what_to_install(
    here: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "pg_restore is not on the path" in problems(tmp_path / "portal.dump")


def test_a_dump_of_an_earlier_version_is_checked_against_what_is_restored_from_it(here: Any, tmp_path: Path) -> None:
    with as_owner() as owner:
        owner.execute("ALTER TABLE webhooks_webhook RENAME former_secret TO not_yet")
        try:
            assert "The dump is complete" in check(by_backup(tmp_path))
        finally:
            owner.execute("ALTER TABLE webhooks_webhook RENAME not_yet TO former_secret")


def test_the_keys_of_another_installation_are_found(here: Any, tmp_path: Path, settings: Any) -> None:
    file = by_backup(tmp_path)
    kept = settings.VAULT_KEYS
    settings.VAULT_KEYS = new_vault_key(kept.partition(":")[0])
    assert "does not open what the dump holds in storage.StoredFile.key, " in problems(file, "--alone")
    settings.VAULT_KEYS = new_vault_key("another")
    assert "is missing, which sealed what the dump holds in " in problems(file, "--alone")
    settings.VAULT_KEYS = f"{settings.VAULT_KEYS},{kept}"
    assert "The dump is complete" in check(file, "--alone")


def test_a_file_of_evidence_that_is_gone_or_cut_off_is_named(here: Any, tmp_path: Path) -> None:
    file, evidence = by_backup(tmp_path), tmp_path / "evidence" / here.file.path
    for damage in (lambda: evidence.write_bytes(evidence.read_bytes()[:-1]), evidence.unlink):
        damage()
        for options in ((), ("--alone",)):
            said = problems(file, *options)
            assert f"1 of 1 stored files are missing from the store, or incomplete: {here.file.path}." in said


def test_what_is_restored_has_every_row_also_of_a_month_that_was_made_later(here: Any, tmp_path: Path) -> None:
    now = timezone.now()
    early = date(now.year - 1, now.month, 1)
    part = f"history_history_{early:%Y_%m}"
    with as_owner() as owner:
        owner.execute(f"DROP TABLE IF EXISTS {part}, history_historysearch_{early:%Y_%m}")
    with tenant_scope(here.a):
        with connection.cursor() as cursor:
            cursor.execute("SELECT history_make_month(%s)", [early])
        History.objects.bulk_create([record(1, datetime(early.year, early.month, 2, tzinfo=UTC))])
    with backups.restored(by_backup(tmp_path)) as url:
        assert backups.rows(url)[part] == 1
        assert backups.rows(url) == backups.rows(backups.address("DATABASE_URL", name()))
        with psycopg.connect(url) as restored:
            assert restored.execute("SELECT count(*) FROM tenants_auditentry").fetchone() == (0,), "no row security"


WRITES = (
    "INSERT INTO tenants_user_groups (user_id, group_id) VALUES (1, 1)",
    "UPDATE tenants_staff SET role = 'owner'",
    "DELETE FROM tenants_auditentry",
    "TRUNCATE tenants_auditentry",
    "SELECT * FROM tenants_staff FOR UPDATE",
    "SELECT nextval('tenants_auditentry_id_seq')",
    "SELECT setval('tenants_auditentry_id_seq', 1)",
    "COPY tenants_staff FROM PROGRAM 'true'",
    "COPY (SELECT 1) TO PROGRAM 'true'",
    "SELECT history_make_month(date_trunc('month', now())::date)",
    "SELECT history_drop_month('2001-02-01')",
    "ALTER TABLE tenants_auditentry DISABLE TRIGGER ALL",
    "ALTER TABLE tenants_auditentry NO FORCE ROW LEVEL SECURITY",
    "DROP TABLE tenants_auditentry CASCADE",
    "CREATE TABLE mine (n int)",
    "CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "SET ROLE portal_owner",
    "SET SESSION AUTHORIZATION portal_owner",
    "GRANT pg_write_all_data TO CURRENT_USER",
    "ALTER ROLE CURRENT_USER CREATEROLE",
    "CREATE ROLE mine",
    "CREATE DATABASE mine",
    "ALTER SYSTEM SET session_replication_role = replica",
)


def test_the_role_for_backups_reads_all_rows_and_writes_none(here: Any) -> None:
    allowed = []
    before = backups.rows(backups.address("DATABASE_URL", name()))
    with psycopg.connect(backups.address("DATABASE_BACKUP_URL", name()), autocommit=True) as role:
        assert role.execute("SELECT count(*) FROM tenants_auditentry").fetchone() == (6,)
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            role.execute("CREATE TEMP TABLE mine (n int)")
        role.execute("SET default_transaction_read_only = off")
        for write in WRITES:
            try:
                role.execute(write)
            except psycopg.errors.InsufficientPrivilege:
                continue
            allowed.append(write)
    assert allowed == []
    assert backups.rows(backups.address("DATABASE_URL", name())) == before
