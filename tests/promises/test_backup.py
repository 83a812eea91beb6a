"""Backup: a drill on a site in use. Damage is found, a sound backup is restored, and the site continues."""

import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.db import connections

from portal.domain.people.models import Member
from portal.domain.sync import schedule
from stack.paths import PYTHON, ROOT
from stack.processes import free_port
from stack.services import new_vault_key
from tenants.models import AuditEntry
from tests.support import backups, databases
from tests.support.browser import Browser, gist
from tests.support.evidence import stored
from tests.support.house import House, Process
from tests.support.stage import PASSWORD, Customer, Stage
from tests.support.waiting import until

pytestmark = pytest.mark.soak
MEMBERS = 30
PAGES = ("members/", "audit/", "devices/", "staff/")
ROUNDS = 5
SECURED = "--enable-row-security"


def check(house: House, file: Path, *options: str, **changed: str) -> tuple[int, str]:
    """Check a dump as an operator does; return the exit code and the output."""
    command = [PYTHON, "manage.py", "check_backup", *options, str(file)]
    env = backups.with_programs(house.env | changed)
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def furnished(stage: Stage) -> Customer:
    """Return a tenant with people of the service, a door that was opened and a file of evidence."""
    customer = stage.customer(members=MEMBERS)
    customer.settled(customer.unlock())
    with customer.scope():
        schedule.schedule_all(customer.tenant)
        until(lambda: Member.objects.count() == MEMBERS, saying="the members are loaded")
        stored("video/mp4")
    return customer


@contextmanager
def at_work(customer: Customer) -> Iterator[None]:
    """Write audit entries without a pause during the block."""
    stop = threading.Event()

    def write() -> None:
        try:
            while not stop.is_set():
                with customer.scope():
                    AuditEntry.objects.create(tenant=customer.tenant, action="door.lock")
                stop.wait(0.01)
        finally:
            connections.close_all()

    writers = [threading.Thread(target=write) for _ in range(3)]
    for writer in writers:
        writer.start()
    try:
        yield
    finally:
        stop.set()
        for writer in writers:
            writer.join()


def pages(browser: Browser, customer: Customer) -> dict[str, str]:
    """Return the text of the pages with a tenant's rows."""
    found = {page: browser.get(customer.url(page)) for page in PAGES}
    assert {page: answer.status_code for page, answer in found.items()} == dict.fromkeys(PAGES, 200)
    return {page: gist(answer, 4000).partition(customer.slug)[2] for page, answer in found.items()}


def test_every_damage_to_a_dump_is_found(
    house: House, stage: Stage, tmp_path: Path, figure: Callable[..., None]
) -> None:
    first, second = furnished(stage), furnished(stage)
    with first.scope():
        first_file = stored("video/mp4").path
    database = urlsplit(house.database_url).path.lstrip("/")
    backup = backups.address("DATABASE_BACKUP_URL", database)
    sound = backups.dump(backup, tmp_path).rename(tmp_path / "sound.dump")
    code, said = check(house, sound)
    assert code == 0, said
    half = tmp_path / "half.dump"
    half.write_bytes(sound.read_bytes()[: sound.stat().st_size // 2])
    keys = new_vault_key(house.env["VAULT_KEYS"].partition(":")[0])
    evidence = Path(house.env["PORTAL_EVIDENCE_FILES"])
    owner = databases.address_of_owner("portal", database)
    one = f"-c portal.tenant={first.tenant.pk}"
    tries: dict[str, Callable[[], tuple[int, str]]] = {
        "The dump has no row of any tenant": lambda: check(house, backups.dump(owner, tmp_path, SECURED)),
        f"of {second.slug}": lambda: check(house, backups.dump(owner, tmp_path, SECURED, PGOPTIONS=one)),
        "cannot read the dump to its end": lambda: check(house, half),
        "intents_intent: its rows are not in the dump.": lambda: check(
            house, backups.dump(backup, tmp_path, "--exclude-table=intents_intent")
        ),
        "it is another key.": lambda: check(house, sound, VAULT_KEYS=keys),
        "stored files are missing from the store": lambda: without(evidence / first_file, house, sound),
    }
    passed = []
    for sentence, attempt in tries.items():
        code, said = attempt()
        if code != 1 or sentence not in said:
            passed.append((sentence, code, said))
    figure("backup", f"{len(tries)} damaged dumps: passed the check", len(passed), "0")
    assert passed == []


def without(path: Path, house: House, file: Path) -> tuple[int, str]:
    """Check a dump while a file of evidence is missing."""
    aside = path.rename(path.with_suffix(".aside"))
    try:
        return check(house, file)
    finally:
        aside.rename(path)


def test_a_sound_dump_passes_while_staff_works(
    house: House, stage: Stage, tmp_path: Path, figure: Callable[..., None]
) -> None:
    customer = furnished(stage)
    url = backups.address("DATABASE_BACKUP_URL", urlsplit(house.database_url).path.lstrip("/"))
    with at_work(customer):
        tries = [check(house, backups.dump(url, tmp_path)) for _ in range(ROUNDS)]
    refused = [said for code, said in tries if code]
    figure("backup", f"{ROUNDS} dumps of a house at work: refused by the check", len(refused), "0")
    assert refused == []


def test_a_site_goes_on_from_its_dump(house: House, stage: Stage, tmp_path: Path, figure: Callable[..., None]) -> None:
    customers = [furnished(stage), furnished(stage)]
    owners = [customer.staff("owner") for customer in customers]
    database = urlsplit(house.database_url).path.lstrip("/")
    with house.quiet():
        before = [seen(house.url, *each) for each in zip(customers, owners, strict=True)]
        made = backups.run(backups.commands("pg_dump"), database, tmp_path, house.env)
        assert made.returncode == 0, made.stderr
        rows = backups.rows(house.database_url)
    with databases.empty("portal") as url:
        name = urlsplit(url).path.lstrip("/")
        done = backups.run(backups.commands("pg_restore"), name, tmp_path, house.env)
        assert done.returncode == 0, done.stdout + done.stderr
        differing = {table for table, count in backups.rows(url).items() if count != rows[table]}
        figure("backup", f"{len(rows)} tables restored: with another number of rows", len(differing), "0")
        assert differing == set()
        with site_on(house, url) as site:
            assert [seen(site, *each) for each in zip(customers, owners, strict=True)] == before
            with Browser(site).sign_in(owners[0].email, PASSWORD) as browser:
                answer = browser.post(customers[0].url("connection/licence-key/"), {"licence-value": "another key"})
                assert answer.status_code == 302
        assert backups.rows(url)["tenants_auditentry"] == rows["tenants_auditentry"] + 1


def seen(url: str, customer: Customer, owner: Any) -> dict[str, str]:
    """Return the pages of a tenant as its owner sees them at this address."""
    with Browser(url).sign_in(owner.email, PASSWORD) as browser:
        return pages(browser, customer)


@contextmanager
def site_on(house: House, database_url: str) -> Iterator[str]:
    """Yield the address of a web server of the site on another database."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    web = Process(house.programs(DATABASE_URL=database_url, PORTAL_URL=url).web(port))
    web.start()
    try:
        with Browser(url) as probe:
            until(lambda: web.is_alive and answers(probe), saying=web.said)
        yield url
    finally:
        web.stop()


def answers(browser: Browser) -> bool:
    try:
        return browser.get("/healthz").status_code == 200
    except Exception:  # it does not listen yet
        return False
