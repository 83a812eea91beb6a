"""The suite on a service that shares no code with the sandbox: it raises no false alarm and misses no flaw."""

import os
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from accessapi.limits import JST
from accessapi.overrides import Catalogue, load_overrides
from tests.contract import cases_physical, credentials, lab, requests
from tests.contract.lab import Lab
from tests.contract.report import Report, Verdict
from tests.contract.runner import EVERYTHING, run
from tests.support import second_service
from tests.support.effort import one_in
from tests.support.second_service import CONTRACTS, FLAWS, Elsewhere

ROOT = Path(__file__).parents[2]


class LeapingTime:
    """A clock that does not wait: sleeping moves the time of the suite and of the service."""

    def __init__(self) -> None:
        self._ahead = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self._ahead

    def sleep(self, seconds: float) -> None:
        self._ahead += seconds

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)


@pytest.fixture(autouse=True)
def leaping(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = LeapingTime()
    for module in (cases_physical, lab, requests, second_service.requests):
        monkeypatch.setattr(module, "time", clock)


def _run(service: Elsewhere, only: Iterable[int] = EVERYTHING, *, overrides: bool = True) -> Report:
    given = credentials.read(tomllib.loads(service.credentials))
    catalogue = Catalogue(load_overrides(service.overrides if overrides else ""))
    return run(Lab(service.base_url, given, catalogue), only=only)


def _traces(service: Elsewhere) -> list[str]:
    """Return what a run left behind at the service: people, guests with a current period, tokens, changed settings."""
    found = [row["member_name"] for house in service.world.houses for row in house.members.values()]
    end = (datetime.now(JST) + timedelta(minutes=2)).isoformat(timespec="seconds")
    found += [row["guest_name"] for house in service.world.houses for row in house.guests.values()
              if row["use_date_end"] > end]  # fmt: skip
    found = [name for name in found if name.startswith("Contract suite")]
    found += ["a token"] * (len(service.world.tokens) - len(service.world.houses))
    found += ["webhook" for house in service.world.houses if house.tenant != house.tenant_at_first]
    return found + service.world.opened


def _numbers(report: Report, verdict: Verdict) -> set[int]:
    return {result.row.number for result in report.shown if result.verdict is verdict}


def test_a_service_that_chose_otherwise_wherever_it_could_conforms() -> None:
    with Elsewhere() as service:
        report = _run(service)
    assert report.last_line().startswith("40 operations: 40 conform, 0 differ, 0 not offered, 0 not tried"), (
        report.text()
    )
    assert report.left == []
    assert _traces(service) == []


#: Other choices, and the operations that cannot be tried then.
CHOICES: dict[str, tuple[dict[str, Any], set[int]]] = {
    "sees no face, signs in before it looks, and wastes codes": (
        {"sees_faces": False, "signs_in_first": True, "burns_codes": True},
        {9},
    ),
    "lets the old token die, takes no guests of the past, and has a secret already": (
        {"old_token_dies": True, "takes_past_guests": False, "has_secret": True},
        set(),
    ),
    "shows nulls, has its own words for fields, and counts aloud": (
        {"shows_nulls": True, "own_words": True, "counts_aloud": True},
        set(),
    ),
    "lends no keys, and takes everything in to let it fail later": ({"lends_keys": False, "judges_late": True}, {11}),
    "has neighbours with other contracts": ({"neighbours": [(), ("door", "qr"), ("key_box",)]}, set()),
    "tells results to anybody": ({"tells_anybody": True, "neighbours": [CONTRACTS]}, set()),
    "has more than a page of members": ({"crowd": 1010}, set()),
    "takes minutes for a bulk request": ({"bulk_seconds": 50}, set()),
    "takes hours for a bulk request": ({"bulk_seconds": 9000}, {13, 14, 15}),
    "deletes a face once": ({"deletes_once": True}, set()),
    "has a bare tenant": ({"furnished": False}, {2, 11, 23, 24, 26, 28, 30, 31, 32, 33}),
}


@pytest.mark.parametrize("name", one_in(6, CHOICES))
def test_so_does_one_that(name: str) -> None:
    choices, silent = CHOICES[name]
    with Elsewhere(**choices) as service:
        report = _run(service)
    assert _numbers(report, Verdict.DIFFERS) == set(), report.text()
    assert _numbers(report, Verdict.NOT_TRIED) <= silent, report.text()
    assert _numbers(report, Verdict.NOT_OFFERED) == set()
    assert not _traces(service) or report.left, report.text()


#: Contracts that a tenant does not have, and the operations that cannot be tried without them.
MISSING: dict[str, set[int]] = {
    "door": {26},
    "key_box": {11, 27, 28},
    "qr": {12, 19, 20, 21, 22},
    "face": {8, 9},
    "licence": {35, 36},
}


@pytest.mark.parametrize("missing", one_in(4, ["everything", *MISSING]))
def test_what_a_contract_is_missing_for_is_not_tried(missing: str) -> None:
    without = set(MISSING) if missing == "everything" else {missing}
    silent = set().union(*(MISSING[name] for name in without)) | {38, 39, 40, 37} | {30, 31, 32}
    with Elsewhere([name for name in CONTRACTS if name not in without], oauth=False, cameras=False) as service:
        report = _run(service)
    assert _numbers(report, Verdict.DIFFERS) == set(), report.text()
    assert _numbers(report, Verdict.NOT_TRIED) == silent, report.text()
    reasons = {result.row.number: "; ".join(result.reasons) for result in report.shown}
    assert "no [oauth]" in reasons[38]
    assert "no camera is known" in reasons[30]
    if missing != "everything":
        assert all(f"no tenant has the contract {missing}" in reasons[number] for number in MISSING[missing]) or (
            missing == "licence" and "licence" in reasons[35]
        ), report.text()


def test_without_its_overrides_nothing_differs_and_what_stays_is_told() -> None:
    with Elsewhere() as service:
        report = _run(service, overrides=False)
    assert _numbers(report, Verdict.DIFFERS) == set(), report.text()
    assert _numbers(report, Verdict.NOT_OFFERED) == {1, 6, 7, 8, 10, 13, 14, 15, 17, 19, 22, 29, 32, 35, 36}
    guests = [each for each in report.left if each.startswith("guest ")]
    members = [each for each in report.left if "members" in each]
    assert (len(guests), len(members)) == (3, 1), report.text()


@pytest.mark.parametrize("calls_left", [(40, 180), (200, 20)])
@pytest.mark.parametrize("counts_aloud", [True, False])
def test_when_few_calls_are_left_the_rest_is_not_tried(calls_left: tuple[int, int], counts_aloud: bool) -> None:
    with Elsewhere(calls_left=calls_left, counts_aloud=counts_aloud) as service:
        report = _run(service)
    assert _numbers(report, Verdict.DIFFERS) == set(), report.text()
    assert "rate limit reached" in report.text()
    if counts_aloud:
        assert _traces(service) == []
    else:
        assert not _traces(service) or report.left, report.text()


def test_the_command_says_the_same(tmp_path: Path) -> None:
    with Elsewhere() as service:
        (tmp_path / "credentials.toml").write_text(service.credentials, encoding="utf-8")
        (tmp_path / "operations.toml").write_text(service.overrides, encoding="utf-8")
        files = ["--credentials", "credentials.toml", "--operations", "operations.toml"]
        command = [sys.executable, "-m", "tests.contract", "--base-url", service.base_url, *files]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [*command, "--only", "1,2,5,16-18,21,23-29,37-40"],
            cwd=tmp_path,
            env=environment,
            text=True,
            encoding="utf-8",
            capture_output=True,
            timeout=60,
        )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "18 operations: 18 conform, 0 differ, 0 not offered, 0 not tried" in done.stdout
    assert not [secret for secret in (service.house.licence_key, service.token) if secret in done.stdout]


@pytest.mark.parametrize("name", one_in(12, sorted(FLAWS)))
def test_each_flaw_is_seen_where_it_is(name: str) -> None:
    concerned = set(FLAWS[name].concerns)
    with Elsewhere(flaws=[name], neighbours=[("qr",), ()], **FLAWS[name].choices) as service:
        report = _run(service, only=FLAWS[name].concerns[:1])
    differing = {result.row.number for result in report.results.values() if result.verdict is Verdict.DIFFERS}
    assert differing, f"{name} was not seen:\n{report.text()}"
    assert differing <= concerned, report.text()
    assert service.world.opened == []
