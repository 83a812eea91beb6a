"""Encryption: keys are rotated while the site runs. (Other promises: tests/tenants/test_ciphertexts.py.)"""

import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from stack.paths import PYTHON, ROOT
from stack.processes import free_port
from stack.services import new_vault_key
from tests.support.browser import Browser
from tests.support.ciphertexts import FIELDS, furnish, opens
from tests.support.house import House, Process
from tests.support.stage import PASSWORD, Stage
from tests.support.waiting import until


@contextmanager
def web_with(house: House, keys: str) -> Iterator[tuple[Process, str]]:
    """Yield a second web process of the site, with these keys, and its address."""
    port = free_port()
    web = Process(house.programs(VAULT_KEYS=keys).web(port))
    web.start()
    url = f"http://127.0.0.1:{port}"
    try:
        with Browser(url) as probe:

            def answers() -> bool:
                try:
                    return probe.get("/healthz").status_code == 200
                except OSError:
                    return False
                except Exception:
                    return False

            until(answers, 60)
        yield web, url
    finally:
        web.stop()


def rotate(house: House, keys: str) -> None:
    done = subprocess.run(
        [PYTHON, "manage.py", "rotate_vault_keys", "--batch", "20"],
        cwd=ROOT,
        env=house.env | {"DATABASE_OWNER_URL": house.owner_url, "VAULT_KEYS": keys},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.soak
def test_rotated_under_load(house: House, stage: Stage, figure: Callable[..., None]) -> None:
    """Rotate keys ten times while a web process with both keys serves pages that use and write secrets."""
    customer = stage.customer(members=50)
    customer.unlock(rung=False)
    furnish(customer.tenant)
    owner = customer.staff("owner")
    old = house.env["VAULT_KEYS"]
    new = new_vault_key("fresh").partition(",")[0]
    reads: list[int] = []
    stop = threading.Event()
    house.urgent.pause()
    with house.quiet(), web_with(house, f"{new},{old}") as (_, url), Browser(url) as browser:
        browser.sign_in(owner.email, PASSWORD)

        def read() -> None:
            while not stop.is_set():
                for page in ("connection/", f"devices/{customer.doors[0]}/status/", "audit/", ""):
                    reads.append(browser.get(customer.url(page)).status_code)

        readers = [threading.Thread(target=read) for _ in range(4)]
        for reader in readers:
            reader.start()
        try:
            for _ in range(10):
                rotate(house, f"{new},{old}")
                browser.post(customer.url("connection/licence-key/"), {"licence-value": "another key"})
                rotate(house, f"{old},{new}")
        finally:
            stop.set()
            for reader in readers:
                reader.join()
            rotate(house, f"{old},{new}")
    failed = sum(status != 200 for status in reads)
    figure("encryption", f"keys rotated 20 times under {len(reads)} reads: failed", failed, "0")
    assert failed == 0
    # A successful call has deleted the previous token.
    assert all(opens(customer.tenant, field) for field in FIELDS if field != "previous_token")
