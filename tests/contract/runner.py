"""Run cases, each at the first tenant that has what it needs, and report the results."""

from collections.abc import Callable, Iterable

from accessapi.errors import InvalidRequest
from accessapi.operations import OPERATIONS, CallClass
from tests.contract import registry
from tests.contract.cleaning import clean
from tests.contract.lab import NO_ROUTE, House, Lab
from tests.contract.outcomes import Differs, NotOffered, NotTried, Outcome, Unneeded
from tests.contract.registry import Case
from tests.contract.report import Report, Tried, Verdict
from tests.contract.things import PREFIX

EVERYTHING = frozenset(row.number for row in OPERATIONS)
#: Reads that any token may make. If all are refused, the token is wrong.
_PROBES = ("list_members", "list_membergroups", "list_areas")


class Unusable(Exception):
    """The suite cannot run with these credentials; the text reports why."""


def run(lab: Lab, *, only: Iterable[int] = EVERYTHING, say: Callable[[str], None] = lambda text: None) -> Report:
    """Try all cases of the operations `only`, delete what was created, and return the report.

    Raises Unusable and Unreachable; it cleans up before any error.
    """
    report = Report(frozenset(only))
    cases = [case for case in registry.load() if case.row.number in report.selected]
    try:
        for house in lab.houses:
            _greet(house)
        for case in cases:
            say(f"{case.row.number} {case.row.title}: {case.sentence}")
            _try(lab, case, report)
    finally:
        say("Cleaning up")
        report.left = _cleaned(lab, say)
        report.calls = lab.calls
    return report


def _cleaned(lab: Lab, say: Callable[[str], None]) -> list[str]:
    try:
        return [lab.masked(each) for each in clean(lab, say)]
    except Exception as error:  # no answer of the service while cleaning may prevent the report
        return [f"cleaning up broke down ({type(error).__name__}); look for names that begin with {PREFIX!r}"]


def _greet(house: House) -> None:
    """Raise Unusable when the service refuses the token for every request."""
    if house.tenant_id is not None:
        return
    statuses = [house.lab.recorder.last.status]
    for name in _PROBES:
        try:
            statuses.append(house.reply(name).status)
        except Outcome:
            return
        if not _refused(statuses[-1]):
            return
    if all(map(_refused, statuses)):
        said = ", ".join(str(status) for status in dict.fromkeys(statuses))
        raise Unusable(f"the service refuses the access token of [[tenants]] number {house.number} (HTTP {said})")


def _refused(status: int) -> bool:
    return 400 <= status <= 499 and status not in NO_ROUTE


def _try(lab: Lab, case: Case, report: Report) -> None:
    result = report.results[case.operation]
    is_oauth = case.row.call_class is CallClass.OAUTH
    if result.of(Verdict.NOT_OFFERED):
        return
    if case.refusal and not is_oauth and not result.seen:
        return
    try:
        case.run(lab if is_oauth else _house(lab, case))
    except Outcome as outcome:
        _take(lab, case, outcome, report)
    except (AttributeError, KeyError, IndexError, TypeError, ValueError, InvalidRequest) as error:
        reason = f"an answer was not understood ({type(error).__name__}: {error})"
        _add(lab, report, case.operation, case, Verdict.NOT_TRIED, reason)
    else:
        _add(lab, report, case.operation, case, Verdict.CONFORMS)


def _house(lab: Lab, case: Case) -> House:
    house = lab.house_with(case.contracts)
    if house is not None:
        return house
    missing = [name for name in case.contracts if lab.house_with((name,)) is None]
    wanted = f"the contract {missing[0]}" if missing else f"all of {', '.join(case.contracts)}"
    raise NotTried(case.operation, f"no tenant has {wanted.replace('contract licence', 'licence')}")


def _take(lab: Lab, case: Case, outcome: Outcome, report: Report) -> None:
    """Record an outcome. A difference counts for the operation that showed it; a case of another was not tried."""
    verdict = (
        Verdict.DIFFERS
        if isinstance(outcome, Differs)
        else Verdict.NOT_OFFERED
        if isinstance(outcome, NotOffered)
        else Verdict.NOT_TRIED
    )
    if outcome.operation == case.operation or verdict is Verdict.NOT_TRIED:
        _add(lab, report, case.operation, case, verdict, outcome.reason, quiet=isinstance(outcome, Unneeded))
        return
    other = report.results[outcome.operation]
    if verdict is Verdict.DIFFERS and outcome.reason not in other.reasons:
        _add(lab, report, outcome.operation, case, verdict, outcome.reason)
    says = "differs" if verdict is Verdict.DIFFERS else "is not offered"
    reason = f"it needs {other.row.title} ({other.row.number}), which {says}"
    _add(lab, report, case.operation, case, Verdict.NOT_TRIED, reason)


def _add(
    lab: Lab, report: Report, operation: str, case: Case, verdict: Verdict, reason: str = "", *, quiet: bool = False
) -> None:
    text = "".join(letter if letter.isprintable() else "?" for letter in lab.masked(reason))
    refusal = case.refusal and operation == case.operation
    report.results[operation].cases.append(Tried(case.sentence, verdict, text, refusal, quiet))
