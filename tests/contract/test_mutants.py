"""A service that differs in one respect is reported at that operation and no other."""

from collections.abc import Callable

import pytest

from accessapi.overrides import Catalogue
from tests.contract.mutants import MUTANTS, Mutant
from tests.contract.report import Verdict
from tests.contract.runner import run
from tests.contract.trial import Trial
from tests.support.effort import one_in


@pytest.fixture(scope="module")
def quick(trials: Callable[..., Trial]) -> Trial:
    """Return a tenant behind a proxy whose list of members is longer than a page."""
    return trials(members=105)


@pytest.mark.parametrize("mutant", one_in(8, MUTANTS), ids=lambda mutant: f"{mutant.operation} {mutant.what}")
def test_a_service_that_differs_in_one_thing_is_told_so(quick: Trial, mutant: Mutant) -> None:
    with quick.proxy.during(mutant.pattern, mutant.fault()):
        report = run(quick.lab(with_code=mutant.operation >= 38), only={mutant.operation})
    differing = {result.row.number: result for result in report.results.values() if result.verdict is Verdict.DIFFERS}
    assert set(differing) == {mutant.operation}, report.text()
    assert mutant.says in "; ".join(differing[mutant.operation].reasons)
    assert report.exit_status == 1


def test_there_is_a_mutant_of_every_operation() -> None:
    assert {mutant.operation for mutant in MUTANTS} == {row.number for row in Catalogue()}
