"""How often pages may refresh: few of them often, many of them in turns."""

import pytest

from portal.base.ui.live_updates import INTERVALS
from portal.site.middleware import POLLS_PER_SECOND, PollQueue


def asked(pages, seconds, turns):
    """Return the final number of requests a second of `pages` that refresh exactly when they may."""
    due = [number / pages for number in range(pages)]
    made = []
    while (now := min(due)) < seconds:
        due[due.index(now)] = now + turns.next_delay(now)
        made.append(now)
    return sum(moment > seconds - 10 for moment in made) / 10


def test_few_pages_look_at_their_own_pace():
    assert asked(20, 30, PollQueue()) == pytest.approx(20 / INTERVALS["live"], rel=0.05)


def test_many_pages_ask_no_more_than_a_process_answers():
    assert asked(500, 60, PollQueue()) == pytest.approx(POLLS_PER_SECOND, rel=0.1)


def test_pages_that_were_closed_leave_their_turns_to_the_others():
    turns = PollQueue()
    asked(500, 30, turns)
    assert turns.next_delay(100) == INTERVALS["live"]
