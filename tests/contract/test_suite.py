"""The suite as outsiders run it: its reports on whole services, unusable files, and what it leaves behind."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.contract import credentials, registry
from tests.contract.__main__ import numbers
from tests.contract.altering import instead
from tests.contract.report import Report, Verdict
from tests.contract.runner import EVERYTHING, Unusable, run
from tests.contract.trial import Trial
from tests.contract.variants import be_another_service
from tests.support.sandbox import ROOT, Sandbox


def _differing(report: Report) -> list[str]:
    return [line for line in report.text().splitlines() if "differs" in line]


def _toml(document: dict[str, Any]) -> str:
    """Return the document as TOML; its values are strings, booleans and lists of strings, as JSON writes them."""

    def table(fields: dict[str, Any]) -> str:
        return "\n".join(f"{name} = {json.dumps(value)}" for name, value in fields.items())

    tenants = "\n".join(f"[[tenants]]\n{table(tenant)}" for tenant in document["tenants"])
    return f"{tenants}\n[oauth]\n{table(document['oauth'])}\n"


def _start(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.contract", *arguments]
    environment = {key: value for key, value in os.environ.items() if not key.endswith("_URL")}
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def test_the_sandbox_conforms_as_a_whole_and_so_does_the_contrary_one(
    trials: Callable[..., Trial], contrary: Sandbox, tmp_path: Path
) -> None:
    plain, other = trials(), Trial(contrary, operations=contrary.overrides)
    overrides = tmp_path / "operations.toml"
    overrides.write_text(contrary.overrides, encoding="utf-8")
    runs = []
    for name, trial, more in (("plain", plain, []), ("other", other, ["--operations", str(overrides)])):
        file = tmp_path / f"{name}.toml"
        file.write_text(_toml(trial.document()), encoding="utf-8")
        report = tmp_path / f"{name}.json"
        base_url = trial.sandbox.url
        runs.append(
            (trial, report, _start("--base-url", base_url, "--credentials", str(file), "--json", str(report), *more))
        )
    for trial, report, process in runs:
        out, err = process.communicate(timeout=120)
        assert (process.returncode, err) == (0, ""), out + err
        assert out.splitlines()[-1].startswith("40 operations: 40 conform, 0 differ, 0 not offered, 0 not tried ("), out
        assert len(out.splitlines()) == 41
        assert json.loads(report.read_text())["totals"]["conforms"] == 40
        assert trial.left_behind() == []
        assert not [secret for secret in credentials.read(trial.document()).secrets if secret in out]
    other.proxy.close()


@pytest.mark.soak  # the contrary service, above, also makes other choices
def test_another_service_that_chose_otherwise_where_nothing_is_shown_conforms(trials: Callable[..., Trial]) -> None:
    trial = trials(members=3)
    be_another_service(trial)
    report = run(trial.lab(), only=EVERYTHING - {35, 36})
    assert _differing(report) == []
    assert report.totals[Verdict.CONFORMS] >= 37, report.text()


def test_what_a_contract_is_missing_for_is_not_tried(trials: Callable[..., Trial]) -> None:
    trial = trials(members=3)
    report = run(trial.lab(with_code=False, contracts=["door"], mock_devices=False, cameras=[]))
    assert _differing(report) == []
    assert report.exit_status == 0
    not_tried = {result.row.number for result in report.shown if result.verdict is Verdict.NOT_TRIED}
    assert not_tried == {8, 9, 11, 12, 19, 20, 21, 22, 27, 28, 30, 31, 32, 35, 36, 38, 39, 40}, report.text()
    assert "19  List guests                not tried: no tenant has the contract qr" in report.text()


def test_a_tenant_without_a_contract_is_refused_what_another_has(trials: Callable[..., Trial]) -> None:
    trial = trials(members=3)
    poor = trial.sandbox.tenant(contracts=["door"], members=1)
    document = trial.document(with_code=False)
    document["tenants"].append({"access_token": poor.token, "contracts": ["door"]})
    report = run(trial.lab_of(document), only={4, 5, 8, 10, 19, 20, 21, 27})
    assert _differing(report) == []
    assert {4, 20, 27} <= {call["operation"] for call in trial.sandbox.calls(poor.tenant_id)}


def test_what_has_no_route_is_not_offered(trials: Callable[..., Trial]) -> None:
    trial = trials(members=3)
    with trial.proxy.during("/v1/cameras|/v1/guests|bulk", instead(404, {"detail": "Not Found"})):
        report = run(trial.lab(with_code=False), only={13, 14, 15, 19, 20, 21, 22, 29, 34})
    assert _differing(report) == []
    not_offered = {result.row.number for result in report.shown if result.verdict is Verdict.NOT_OFFERED}
    assert not_offered == {13, 14, 15, 19, 20, 29}, report.text()
    assert report.exit_status == 0


def test_at_the_rate_limit_the_rest_is_not_tried(trials: Callable[..., Trial]) -> None:
    trial = trials(members=3)
    trial.sandbox.settings(trial.tenant.tenant_id, limited=True, general_limit=60)
    report = run(trial.lab(with_code=False))
    assert _differing(report) == []
    assert "rate limit reached" in report.text()
    trial.sandbox.settings(trial.tenant.tenant_id, limited=False)
    assert trial.left_behind() == []


def test_an_interrupted_run_leaves_nothing(trials: Callable[..., Trial]) -> None:
    trial = trials(members=3)
    before = trial.webhook()

    def interrupt(text: str) -> None:
        if text.startswith("6 "):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(trial.lab(with_code=False), say=interrupt)
    assert trial.left_behind() == []
    assert trial.webhook() == before


def test_a_token_that_nobody_knows_is_no_difference(trials: Callable[..., Trial]) -> None:
    with pytest.raises(Unusable, match="refuses the access token of \\[\\[tenants\\]\\] number 1"):
        run(trials(members=0).lab(with_code=False, access_token="unknown"))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("tenants = 3", "needs one table"),
        ("[[tenants]]\naccess_token = 3", "access_token must be a string"),
        ("[[tenants]]\nlicense_key = 'x'", "access_token is missing"),
        ("[[tenants]]\naccess_token = 'x'\ncontracts = ['doors']", "'doors' is no contract"),
        ("[[tenants]]\naccess_token = 'x'\nmock_devices = 'yes'", "mock_devices must be true or false"),
        ("[[tenants]]\naccess_token = 'x'\ntoken = 'y'", "'token' is not known here"),
        ("[[tenants]]\naccess_token = 'x'\n[oauth]\nclient_id = 'a'", "client_secret is missing"),
        ("nonsense", "is not TOML"),
    ],
)
def test_credentials_that_cannot_be_used_are_told_so(tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "credentials.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(credentials.CredentialsError) as told:
        credentials.load(file)
    assert sentence in str(told.value)


def test_the_command_answers_with_a_sentence_when_it_cannot_run(tmp_path: Path) -> None:
    file = tmp_path / "credentials.toml"
    file.write_text("[[tenants]]\naccess_token = 'x'\n", encoding="utf-8")
    missing = _start("--base-url", "http://127.0.0.1:9", "--credentials", str(tmp_path / "none.toml"))
    nobody = _start("--base-url", "http://127.0.0.1:9", "--credentials", str(file))
    nowhere = _start("--base-url", "", "--credentials", str(file))
    for process, sentence in ((missing, "cannot be read"), (nobody, "nobody answers"), (nowhere, "BASE_URL")):
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out) == (2, "")
        assert sentence in err
        assert "Traceback" not in err


def test_operations_are_chosen_by_number() -> None:
    assert numbers("4, 13-15") == {4, 13, 14, 15}
    for text in ("x", "41", "3-", ""):
        with pytest.raises(ValueError, match="--only"):
            numbers(text)


def test_every_operation_has_cases_that_read_as_sentences() -> None:
    cases = registry.load()
    assert {case.row.number for case in cases} == EVERYTHING
    assert all(any(not case.refusal for case in cases if case.row.number == number) for number in EVERYTHING)
    sentences = [(case.operation, case.sentence) for case in cases]
    assert len(set(sentences)) == len(sentences)
