"""The database cluster of an older checkout, whose one role owned everything, continues with today's roles."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from stack import postgres, services
from stack.paths import ROOT, RUN


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    found = postgres.create_home(tmp_path / "run", postgres.unprivileged_account())
    yield found
    postgres.delete_home(tmp_path / "run")


def aged(home: Path) -> Path:
    """Create a cluster as an older version did, with a table in each database."""
    who = postgres.unprivileged_account()
    template = postgres.create(postgres.create_home(RUN, who), services._TEMPLATE, who)
    cluster = postgres.copy(home, template, "old", who)
    tools = postgres.binaries(home, who)
    postgres._run_single_user(tools, cluster, "postgres", [
        *(f"ALTER DATABASE {name} OWNER TO portal" for name in ("portal", "sandbox")),
        "DROP ROLE portal_owner", "DROP ROLE portal_backup", "DROP ROLE sandbox", "ALTER ROLE portal CREATEDB",
    ], who)  # fmt: skip
    for name in ("portal", "sandbox"):
        made = ["CREATE TABLE kept (n int)", "INSERT INTO kept VALUES (7)", "ALTER TABLE kept OWNER TO portal"]
        postgres._run_single_user(tools, cluster, name, made, who)
    for role in ("portal_owner", "portal_backup", "sandbox"):
        (cluster / f"{role}.password").unlink()
    return cluster


def test_what_an_older_checkout_made_is_kept_and_belongs_to_the_owner(home: Path, tmp_path: Path) -> None:
    who, cluster = postgres.unprivileged_account(), aged(home)
    assert postgres.create(home, "old", who) == cluster
    with postgres.running(home, cluster, who, log=tmp_path / "log", without_durability=True) as addresses:
        for variable in ("DATABASE_OWNER_URL", "SANDBOX_DATABASE_URL"):
            with psycopg.connect(addresses[variable]) as owner:
                assert owner.execute("SELECT n FROM kept").fetchone() == (7,)
                owner.execute("ALTER TABLE kept ADD COLUMN more int")
        with psycopg.connect(addresses["DATABASE_URL"]) as site:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                site.execute("SELECT n FROM kept")
            site.rollback()
            made = site.execute("SELECT rolcreatedb FROM pg_roles WHERE rolname = current_user").fetchone()
            assert made == (False,)


def test_a_cluster_without_the_role_for_backups_gets_it(home: Path, tmp_path: Path) -> None:
    who = postgres.unprivileged_account()
    template = postgres.create(postgres.create_home(RUN, who), services._TEMPLATE, who)
    cluster = postgres.copy(home, template, "old", who)
    postgres._run_single_user(postgres.binaries(home, who), cluster, "postgres", ["DROP ROLE portal_backup"], who)
    (cluster / "portal_backup.password").unlink()
    postgres.create(home, "old", who)
    with (
        postgres.running(home, cluster, who, log=tmp_path / "log", without_durability=True) as addresses,
        psycopg.connect(addresses["DATABASE_BACKUP_URL"]) as backup,
    ):
        found = backup.execute("SELECT rolbypassrls, rolsuper, rolcreatedb FROM pg_roles WHERE rolname = current_user")
        assert found.fetchone() == (True, False, False)
        assert backup.execute("SHOW default_transaction_read_only").fetchone() == ("on",)


def test_an_operator_is_shown_the_same_commands() -> None:
    said = (ROOT / "docs" / "database.md").read_text()
    for command in ("ALTER DATABASE portal OWNER TO portal_owner", "REASSIGN OWNED BY portal TO portal_owner"):
        assert command in said
    said = (ROOT / "docs" / "backup.md").read_text()
    for command in postgres.BACKUP_ROLE:
        assert f"{command};" in said
