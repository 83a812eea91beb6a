"""Calls generated from the OpenAPI document: every answer matches the document, and none is a server error."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import Case

from accessapi.openapi import build_document
from accessapi.operations import OPERATIONS, Operation
from tests.support import generated_calls
from tests.support.effort import one_in
from tests.support.sandbox import Sandbox, SandboxTenant

# Warnings of Schemathesis are about missing data, not about errors of the sandbox.
pytestmark = pytest.mark.filterwarnings("default")

CHECKS = ",".join(check.__name__ for check in (*generated_calls.CHECKS, generated_calls.negative_data_rejection))


@pytest.fixture(scope="module")
def tenant(sandbox: Sandbox) -> SandboxTenant:
    """Return a tenant with every contract, without limits and delays."""
    made = sandbox.tenant(members=10, name="From the document")
    at_once = dict.fromkeys(["bulk_seconds_per_member", "face_seconds", "device_seconds", "video_lag_seconds"], 0)
    sandbox.settings(made.tenant_id, limited=False, **at_once)
    return made


def test_the_document_is_served_at_the_sandboxs_own_address(sandbox: Sandbox) -> None:
    answer = sandbox.api("GET", "/openapi.json")
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.json() == build_document(servers=[sandbox.url])
    assert sandbox.api("POST", "/openapi.json", {}).json()["error_code"] == "40401"


@pytest.mark.parametrize("row", one_in(3, OPERATIONS), ids=lambda row: row.name)
def test_a_made_up_call_is_answered_as_documented(sandbox: Sandbox, tenant: SandboxTenant, row: Operation) -> None:
    assault(sandbox, tenant, row, 4)


@pytest.mark.soak
@pytest.mark.parametrize("row", OPERATIONS, ids=lambda row: row.name)
def test_any_call_is_answered_as_documented(sandbox: Sandbox, tenant: SandboxTenant, row: Operation) -> None:
    assault(sandbox, tenant, row, 200)


def test_calls_at_once_are_answered_as_documented(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    at_once(sandbox, tenant, 3)


@pytest.mark.soak
def test_many_calls_at_once_are_answered_as_documented(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    at_once(sandbox, tenant, 150)


@pytest.mark.soak
def test_schemathesis_finds_nothing(sandbox: Sandbox, tenant: SandboxTenant, tmp_path: Path) -> None:
    """Run Schemathesis's phases on the served document: examples, coverage of every limit, fuzzing, sequences."""
    program = shutil.which("schemathesis", path=os.path.dirname(sys.executable))
    assert program
    signed = [f"Authorization: Bearer {tenant.token}", f"License-Key: {tenant.licence_key}"]
    signed.append(f"AUTHORIZATIONS: Bearer {tenant.token}")
    done = subprocess.run(
        [program, "run", f"{sandbox.url}/openapi.json", "--checks", CHECKS, "--max-examples", "40", "--no-color",
         "--suppress-health-check", "all", *(each for header in signed for each in ("-H", header))],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    print(done.stdout[-2000:])
    assert done.returncode == 0, done.stdout[-20000:]


def assault(sandbox: Sandbox, tenant: SandboxTenant, row: Operation, count: int) -> None:
    """Send that many calls of one operation, valid and invalid, half of them with existing identifiers."""
    known = generated_calls.identifiers(sandbox, tenant)

    @given(st.data())
    @settings(max_examples=count, suppress_health_check=list(HealthCheck))
    def answered(data: st.DataObject) -> None:
        case = data.draw(generated_calls.calls(row, sound=data.draw(st.booleans())))
        if data.draw(st.booleans()):
            generated_calls.furnish(case, known)
        generated_calls.judged(sandbox, tenant, row, case, known)

    answered()


def at_once(sandbox: Sandbox, tenant: SandboxTenant, count: int) -> None:
    """Send calls of random operations at the same moment, that many times, on existing data."""
    known = generated_calls.identifiers(sandbox, tenant)
    # The first of these ends the token, and all later calls would only be refused.
    rows = [row for row in OPERATIONS if row.name != "revoke_token"]
    one = st.sampled_from(rows).flatmap(lambda row: st.tuples(st.just(row), generated_calls.calls(row, sound=True)))

    @given(st.lists(one, min_size=8, max_size=16))
    @settings(max_examples=count, suppress_health_check=list(HealthCheck))
    def answered(calls: list[tuple[Operation, Case]]) -> None:
        for _, case in calls:
            generated_calls.furnish(case, known)
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda each: generated_calls.judged(sandbox, tenant, *each, known), calls))

    answered()
