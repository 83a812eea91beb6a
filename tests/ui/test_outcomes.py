"""The outcome line says what happened and what was applied, and stops refreshing when that is known."""

import pytest
from django.template import Context, Template
from django.utils import timezone

from portal.base.ui.outcome_lines import FINAL, STATES, OutcomeLine, outcome_steps


def draw(outcome):
    return Template("{% load ui %}{% outcome outcome %}").render(Context({"outcome": outcome}))


@pytest.mark.parametrize("state", STATES)
def test_it_polls_until_it_is_final(state):
    html = draw(OutcomeLine(state, "Unlock", id="7", poll_url="/t/a/intents/7/"))
    assert ("hx-get" in html) == (state not in FINAL)
    assert str(STATES[state][0]) in html
    assert 'id="outcome-7"' in html


def test_an_uncertain_one_that_is_still_looked_into_keeps_polling():
    assert "hx-get" in draw(OutcomeLine("uncertain", "Unlock", poll_url="/x/", final=False))


def test_the_services_words_are_shown_as_its_own_and_escaped():
    html = draw(
        OutcomeLine(
            "refused", "Change", service_code="400 x", service_detail="<b>no", not_applied=("Name",), audit_url="/a/"
        )
    )
    assert "Response from the service" in html
    assert "&lt;b&gt;no" in html
    assert "Not applied" in html
    assert 'href="/a/"' in html


@pytest.mark.parametrize(
    ("state", "at", "marks"),
    [
        ("recorded", ["recorded"], "done now ahead ahead"),
        ("accepted", ["recorded", "sent", "accepted"], "done done done now"),
        ("done", ["recorded", "sent", "accepted", "done"], "done done done done"),
        ("refused", ["recorded", "sent"], "done done broken"),
        ("uncertain", ["recorded", "sent", "accepted"], "done done done broken"),
        ("expired", ["recorded"], "done broken"),
    ],
)
def test_the_way_shows_how_far_it_came(state, at, marks):
    steps = outcome_steps(state, is_asynchronous=True, at=dict.fromkeys(at, timezone.now()))
    assert [step.state for step in steps] == marks.split()
