"""What readings prove about a request with a lost answer: nothing is called absent too early."""

from datetime import timedelta

import pytest
from django.utils import timezone

from portal.domain.intents import handlers
from portal.domain.intents.models import Intent

SENT = timezone.now().replace(microsecond=0)
SECOND = timedelta(seconds=1)


def read(*moments: timedelta, **more: object) -> list[bool | None]:
    """Return what each of these readings proves, none of which found the thing."""
    intent, proven = Intent(result={}, sent_at=SENT), []
    for after in moments:
        finding = handlers.check_absence(intent, SENT + after, {"read": "now"}, **more)
        proven.append(finding.applied)
        intent.result = {"evidence": finding.evidence}
    return proven


def test_one_reading_proves_nothing_however_late_it_is() -> None:
    assert read(timedelta(hours=1)) == [None]


def test_two_readings_that_begin_a_minute_apart_prove_that_it_is_not_there() -> None:
    assert read(SECOND, 61 * SECOND) == [None, False]


def test_readings_close_to_each_other_are_one_reading() -> None:
    assert read(SECOND, 31 * SECOND, 60 * SECOND) == [None, None, None]


def test_the_first_reading_counts_and_not_the_last() -> None:
    assert read(SECOND, 31 * SECOND, 61 * SECOND) == [None, None, False]


def test_what_the_service_takes_longer_for_is_waited_for_longer() -> None:
    assert read(SECOND, 61 * SECOND, 181 * SECOND, min_interval=timedelta(minutes=3)) == [None, None, False]


def test_what_the_service_has_ended_is_known_at_once() -> None:
    assert read(SECOND, is_over=True) == [False]


def test_a_list_of_which_some_could_not_be_read_proves_nothing() -> None:
    assert read(SECOND, 61 * SECOND, is_whole=False) == [None, None]
    assert read(SECOND, 61 * SECOND, is_whole=False, is_over=True) == [None, None]


@pytest.mark.parametrize("first", [None, SENT + SECOND])
def test_only_a_reading_that_could_prove_more_is_waited_for(first: object) -> None:
    told = {} if first is None else handlers.check_absence(Intent(result={}), first, {}).evidence
    intent = Intent(result={"evidence": told}, sent_at=SENT)
    assert handlers.next_useful_reading_at(intent) == (SENT if first is None else SENT + 61 * SECOND)
