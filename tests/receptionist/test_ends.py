"""A receptionist types when a code ends: the page shows how it is read before anything is sent."""

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from accessapi.limits import JST
from tests.support.accessibility import barriers
from tests.support.desk import NAME, GuestDesk, fields_of, said

CASES = json.loads((Path(__file__).parents[1] / "support/dates.json").read_text())
NOON = "2026-11-20T12:00"
NIGHT = datetime(2031, 3, 1, 22, 0, tzinfo=JST)


@pytest.fixture
def desk(place):
    return GuestDesk(place)


def shown(desk, until, start=NOON):
    return " ".join(said(desk.client.get(desk.url + "new/end/", {"until": until, "start": start})).split())


def test_the_page_shows_how_an_end_is_read_in_every_form(desk):
    for typed, clock in CASES["clocks"].items():
        day = "2026-11-21 " if clock <= "12:00" else ""
        assert shown(desk, typed).startswith(f"→ {day}{clock.replace('24:00', '23:59')} ("), typed
    for typed, moment in CASES["moments"].items():
        assert shown(desk, typed).startswith(f"→ {moment[:16]} ("), typed
    for typed, day in CASES["days"].items():
        assert shown(desk, typed) == "" if day < NOON else shown(desk, typed).startswith(f"→ {day} 23:59 ("), typed
    for typed in CASES["unread"]:
        assert shown(desk, typed) == "", typed
    assert shown(desk, "+90") == "→ 13:30 (1 h 30 min)"
    assert shown(desk, "6:00", "2026-11-20T22:00") == "→ 2026-11-21 06:00 (8 h 00 min)"


@pytest.mark.parametrize("typed", ["6:00", "午前6時", "0600"])
def test_an_end_over_midnight_is_shown_before_a_code_is_issued(desk, typed):
    given = {"start": f"{NIGHT:%Y-%m-%dT%H:%M}", "until": typed}
    asked = desk.issue(**given)
    assert "This end is on the next day: 2031-03-02 06:00. If that is right, send the form again." in said(asked)
    assert desk.visits() == []
    again = desk.issue(fields_of(asked.content.decode()), until=typed)
    assert "/guests/v" in again.redirect_chain[-1][0], said(again)
    assert desk.visits()[0].use_date_end == NIGHT + timedelta(hours=8)


def test_an_end_that_has_passed_today_does_not_extend_a_code_until_tomorrow_unseen(desk):
    visit = desk.issued()
    before = desk.end_at_service(visit)
    passed = timezone.localtime().replace(second=0, microsecond=0)
    asked = desk.act(visit, "extend", to="until", until=f"{passed:%H:%M}")
    tomorrow = passed + timedelta(days=1)
    assert f"This end is on the next day: {tomorrow:%Y-%m-%d %H:%M}" in said(asked)
    assert desk.end_at_service(visit) == before
    desk.act(visit, "extend", to="until", until=f"{passed:%H:%M}", seen_end=f"{tomorrow:%Y-%m-%d %H:%M}")
    assert desk.end_at_service(visit) == tomorrow


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("R8.11.32", "“R8.11.32” is not an end time. Enter a time like 18:00, minutes like +90, or a date like 11/30."),
        ("25:00", "“25:00” is not an end time."),
        ("午後12時", "“午後12時” is not an end time."),
        ("3/4/2031", "“3/4/2031” can mean two dates. Write the year first, like 2026/11/30."),
    ],
)
def test_a_refusal_quotes_what_was_typed_and_names_forms_that_are_read(desk, typed, sentence):
    visit = desk.issued()
    for answer in (desk.issue(until=typed), desk.act(visit, "extend", to="until", until=typed)):
        assert sentence in said(answer)
    assert len(desk.visits()) == 1


def test_a_browser_shows_the_end_while_it_is_typed_and_sends_what_it_has_shown(desk, open_page):
    page = open_page(desk.client)
    page.goto(desk.url + "new/")
    reading, until = page.locator("#id_until_reads"), page.get_by_label("Until")
    expect(reading).to_contain_text("(2 h 00 min)")
    year = timezone.localtime().year + 1
    for typed, end in {
        "＋９０": "(1 h 30 min)",
        f"R{year - 2018}.3.1 午後1時": f"→ {year}-03-01 13:00",
        f"{year}0301 1000": f"→ {year}-03-01 10:00",
        f"1 Mar {year} 1:00 PM": f"→ {year}-03-01 13:00",
    }.items():
        until.fill(typed)
        expect(reading).to_contain_text(end)
    until.fill("25:00")
    expect(reading).to_have_text("")
    passed = timezone.localtime().replace(second=0, microsecond=0)
    until.fill(f"{passed:%H:%M}")
    expect(reading).to_contain_text(f"→ {passed + timedelta(days=1):%Y-%m-%d %H:%M}")
    assert barriers(page) == []
    page.get_by_label("Name", exact=True).fill(NAME)
    page.keyboard.press("Enter")
    page.wait_for_url("**/guests/v*/")
    assert desk.visits()[0].use_date_end == passed + timedelta(days=1)
