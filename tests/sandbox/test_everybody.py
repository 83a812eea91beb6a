"""Settings for all tenants: their clock, behaviour and faults, and how everything is reset."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from tests.support.console_browser import Visitor
from tests.support.sandbox import Sandbox, SandboxTenant


@pytest.fixture(scope="module")
def running() -> Iterator[Sandbox]:
    """Start a service that only these tests use."""
    with Sandbox() as running:
        yield running


@pytest.fixture
def sandbox(running: Sandbox) -> Sandbox:
    """Reset the service."""
    running.console("reset")
    return running


@pytest.fixture
def visitor(sandbox: Sandbox) -> Iterator[Visitor]:
    with Visitor(sandbox.url) as somebody:
        yield somebody


def members(sandbox: Sandbox, tenant: SandboxTenant) -> list[dict[str, str]]:
    answer = sandbox.api("GET", "/v1/members?limit=200", token=tenant.token)
    assert answer.status_code == 200, answer.text
    return list(answer.json()["members"])


def test_everybodys_clock_moves_those_that_have_none_of_their_own(sandbox: Sandbox) -> None:
    mine, theirs = sandbox.tenant(seed="1"), sandbox.tenant(seed="2")
    sandbox.move_clock(mine.tenant_id, hours=1)
    sandbox.move_clock(days=400)
    assert sandbox.now(theirs.tenant_id) - datetime.now(UTC) > timedelta(days=399)
    assert sandbox.now(mine.tenant_id) - datetime.now(UTC) < timedelta(hours=2)
    # New tenants start at the moved time.
    newcomer = sandbox.tenant(seed="3", members=200)
    ends = [member.get("use_date_end", "") for member in members(sandbox, newcomer)]
    assert max(ends)[:4] > str(datetime.now(UTC).year + 1)
    sandbox.move_clock()
    assert sandbox.now(theirs.tenant_id) - datetime.now(UTC) < timedelta(minutes=1)


def test_what_holds_for_everybody_is_seen_at_a_glance(sandbox: Sandbox, visitor: Visitor) -> None:
    sandbox.move_clock(sandbox.tenant(token=False, name="Ahead").tenant_id, days=3)
    visitor.look("/controls/")
    visitor.send("clock", having={"way": "by"}, seconds="3600")
    visitor.send("settings", request_latency="0.01")
    visitor.send("fault", kind="latency", seconds="1")
    visitor.send("fault", kind="drop_before", count="3")
    shown = visitor.look("/")
    assert "Pending faults: 4" in shown
    assert "Shared clock: +1 h" in shown.replace("&#x27;", "'")
    assert "Ahead +3 d" in shown
    assert "Delay of every response (seconds): 0.01" in shown
    visitor.look("/controls/")
    assert "Connection lost before processing" in visitor.send("clear", fault=str(sandbox.faults()[0]["id"]))
    assert "No pending faults." in visitor.send("clear")


def test_everything_is_forgotten_only_when_it_is_meant(sandbox: Sandbox, visitor: Visitor) -> None:
    tenant = sandbox.tenant(token=False)
    visitor.look(f"/t/{tenant.tenant_id}/controls/")
    assert visitor.post(f"/t/{tenant.tenant_id}/controls/", act="anew", word="delete").status_code == 422
    visitor.look("/controls/")
    assert "Enter “delete” to confirm." in visitor.send("anew", tenants="1", members="2", word="forgot")
    assert 'value="forgot"' in visitor.page.text
    assert visitor.http.get(f"/t/{tenant.tenant_id}/").status_code == 200
    assert "All data deleted" in visitor.send("anew", tenants="1", members="2", word=" Delete ")
    assert len(sandbox.look("tenants")["tenants"]) == 1
    assert visitor.http.get(f"/t/{tenant.tenant_id}/").status_code == 404


def test_reset_forgets_everything(sandbox: Sandbox) -> None:
    old = sandbox.tenant(members=2)
    found = sandbox.console("reset", tenants=2, members=5, seed=3)["tenants"]
    assert len(found) == 2
    assert sandbox.api("GET", "/v1/tenant", token=old.token).status_code == 401
    assert len(members(sandbox, SandboxTenant(**found[0], token=sandbox.token(found[0]["tenant_id"])))) == 5
