"""A receptionist and a guest's code: large on the screen, on the phone, on paper, as a file."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accessapi.limits import GUEST_QRCODE_MAX
from portal.codes.paper import SLOTS
from portal.domain.budget import ledger
from portal.domain.people.models import Guest
from tenants.models import AuditEntry, Connection
from tenants.scope import tenant_scope
from tests.support import guests as at_service
from tests.support.codes import CODE, hours_from_now, read_pdf, read_png, read_svg, stranger, url, visit
from tests.support.members import said

READ = 21


@pytest.fixture
def desk(place):
    return place.client(place.staff("receptionist"))


@pytest.fixture
def guest(place):
    return visit(place, "田中 愛子", company="株式会社みらい", host_name="鈴木 一郎")


def at(place, guest, rest):
    return url(place, f"{guest.guest_id}/{rest}")


def acts(place):
    with tenant_scope(place.tenant):
        return list(
            AuditEntry.objects.filter(action__startswith="guest.").order_by("pk").values_list("action", flat=True)
        )


def test_the_code_stands_large_on_the_page_with_its_hours(desk, place, guest):
    with CaptureQueriesContext(connection) as queries:
        answer = desk.get(at(place, guest, "code/"))
    assert len(queries) <= 14
    assert answer.status_code == 200
    assert read_svg(_code_of(answer)) == [CODE]
    assert "Active now" in said(answer)
    assert f"Active until {timezone.localtime(guest.use_date_end):%H:%M}" in said(answer).replace(
        f"{timezone.localtime(guest.use_date_end):%Y-%m-%d} ", ""
    )
    assert place.calls(READ) == []
    assert "style=" not in answer.content.decode()


def _code_of(answer):
    page = answer.content.decode()
    return page[page.index('class="guest-code-paper"') :]


PHASES = {
    "before the start": ({"start": hours_from_now(hours=2), "end": hours_from_now(hours=4)}, "Not active yet", True),
    "while it is being cut short": ({"must_end_at": hours_from_now()}, "Deactivating", True),
    "deactivated": (
        {
            "end": hours_from_now(hours=-1),
            "must_end_at": hours_from_now(hours=-1),
            "ended_confirmed_at": hours_from_now(),
        },
        "Deactivated",
        False,
    ),
    "after the end": ({"start": hours_from_now(hours=-4), "end": hours_from_now(hours=-2)}, "Ended", False),
    "after the service deleted it": ({"gone_at": hours_from_now()}, "No longer exists", False),
}


@pytest.mark.parametrize("phase", PHASES)
def test_every_phase_has_its_words_and_only_a_code_that_may_open_is_drawn(desk, place, phase):
    facts, words, drawn = PHASES[phase]
    guest = visit(place, **facts)
    answer = desk.get(at(place, guest, "code/"))
    assert words in said(answer)
    assert ('class="qr"' in answer.content.decode()) is drawn
    assert desk.get(at(place, guest, "code.svg")).status_code == (200 if drawn else 404)
    assert desk.get(at(place, guest, "badge/")).status_code == 200


def test_a_mailed_code_is_read_once_and_then_known(desk, place):
    guest_id = at_service.created(place.sandbox, place.service)
    guest = visit(place, code=None, guest_id=guest_id, email_used=True)
    page = desk.get(at(place, guest, "code/"))
    assert "This code was created and e-mailed automatically." in said(page)
    assert desk.get(at(place, guest, "code.png")).status_code == 404
    shown = desk.post(at(place, guest, "code/"), headers={"HX-Request": "true"})
    code = at_service.read(place.sandbox, place.service, guest_id)["qrcode_data"]
    assert read_svg(shown.content.decode()) == [code]
    assert "<html" not in shown.content.decode()
    desk.post(at(place, guest, "code/"))
    assert read_svg(_code_of(desk.get(at(place, guest, "code/")))) == [code]
    assert len(place.calls(READ)) == 2  # one of them the test's own
    assert acts(place) == ["guest.code_shown"]


def test_without_calls_or_an_answer_it_says_why_and_the_page_stands(desk, place):
    guest = visit(place, code=None, guest_id=at_service.created(place.sandbox, place.service))
    place.sandbox.fault("status", "read_guest", place.service.tenant_id, status=503)
    assert "The service reported an error." in said(desk.post(at(place, guest, "code/")))
    with tenant_scope(place.tenant):
        line = Connection.objects.select_related("tenant__environment").get()
        operation = line.tenant.environment.catalogue.find("read_guest")
        ledger.correct_count(line, operation, limit=720, remaining=0, reset=600, refused=True)
    answer = desk.post(at(place, guest, "code/"), headers={"HX-Request": "true"})
    assert re.search(r"can be loaded from \d\d:\d\d", said(answer))
    unknown = visit(place, code=None, guest_id="nobody")
    with tenant_scope(place.tenant):
        Connection.objects.update(state=Connection.State.REVOKED)
    assert "The code was not loaded: there is no connection." in said(desk.post(at(place, unknown, "code/")))


def test_files_are_scannable_never_stored_and_written_down(desk, place, guest):
    svg, png = (desk.get(at(place, guest, f"code.{kind}")) for kind in ("svg", "png"))
    assert read_svg(svg.content.decode()) == read_png(png.content) == [CODE]
    assert svg["Content-Type"] == "image/svg+xml"
    for answer in (svg, png):
        assert "no-store" in answer["Cache-Control"]
        assert "attachment" in answer["Content-Disposition"]
    assert acts(place) == ["guest.code_downloaded"] * 2
    with tenant_scope(place.tenant):
        for entry in AuditEntry.objects.filter(action="guest.code_downloaded"):
            told = f"{entry.summary}{entry.before}{entry.after}{entry.target}"
            assert CODE not in told
            assert "田中" not in told


def test_a_link_is_made_shown_once_photographed_and_revoked(desk, place, guest, settings):
    made = desk.post(at(place, guest, "link/"))
    page = made.content.decode()
    address = unescape(re.search(r'readonly value="([^"]+)"', page)[1])
    assert address.startswith(settings.PORTAL_URL + "/g/")
    assert read_svg(page[page.index("link-code") :]) == [address]
    assert f'data-copy="{address}"' in page
    path = address.removeprefix(settings.PORTAL_URL)
    assert read_svg(stranger().get(path).content.decode()) == [CODE]
    again = said(desk.get(at(place, guest, "code/")))
    assert "(opened 1 time)" in again
    assert address not in desk.get(at(place, guest, "code/")).content.decode()
    newer = re.search(r'readonly value="([^"]+)"', desk.post(at(place, guest, "link/")).content.decode())[1]
    assert stranger().get(path).status_code == 404
    desk.post(at(place, guest, "link/revoke/"))
    assert stranger().get(newer.removeprefix(settings.PORTAL_URL)).status_code == 404
    assert acts(place) == ["guest.code_linked"] * 2 + ["guest.code_unlinked"]
    assert "There was no active link." in said(desk.post(at(place, guest, "link/revoke/"), follow=True))


def test_a_sign_that_is_kanji_and_latin_is_a_code_on_every_screen_and_paper(desk, place, settings):
    guest = visit(place, code="÷")
    for rest in ("", "code/", "code.svg", "badge/"):
        assert read_svg(desk.get(at(place, guest, rest)).content.decode()) == ["÷"], rest
    for rest in ("badge.pdf", "slip.pdf"):
        assert read_pdf(desk.get(at(place, guest, rest)).content)[2] == ["÷"], rest
    assert read_png(desk.get(at(place, guest, "code.png")).content) == ["÷"]
    made = desk.post(at(place, guest, "link/")).content.decode()
    path = unescape(re.search(r'readonly value="([^"]+)"', made)[1]).removeprefix(settings.PORTAL_URL)
    assert read_svg(stranger().get(path).content.decode()) == ["÷"]


def test_no_link_leads_to_what_cannot_be_shown(desk, place):
    unknown, over = visit(place, code=None), visit(place, end=hours_from_now(minutes=-1))
    for guest in (unknown, over):
        answer = desk.post(at(place, guest, "link/"), follow=True)
        assert "No link was created because there is no code to show." in said(answer)


def test_badge_and_slip_can_be_printed_from_the_page(desk, place, guest):
    for form, words in (("badge", "91 × 55 mm"), ("slip", "80 mm roll")):
        answer = desk.get(at(place, guest, f"badge/?paper={form}"))
        page = answer.content.decode()
        assert words in said(answer)
        assert f"paper_{form}.css" in page
        for shown in ("田中 愛子", "株式会社みらい", "鈴木 一郎", place.tenant.name):
            assert shown in said(answer)
        assert read_svg(page[page.index("paper-code") :]) == [CODE]
    assert desk.get(at(place, guest, "badge/?paper=nonsense")).status_code == 200


def test_the_papers_hold_everything_in_an_embedded_font(desk, place, guest):
    badge = desk.get(at(place, guest, "badge.pdf"))
    words, sizes, codes = read_pdf(badge.content)
    assert badge["Content-Type"] == "application/pdf"
    assert sizes[-1] == (210.0, 297.0)
    assert codes == [CODE]
    assert b"NotoSansJP" in badge.content
    for shown in (
        "田中 愛子",
        "株式会社みらい",
        "鈴木 一郎",
        f"{timezone.localtime(guest.use_date_start):%Y-%m-%d %H:%M}",
    ):
        assert shown in words
    assert len(badge.content) < 200_000
    slip_words, slip_sizes, slip_codes = read_pdf(desk.get(at(place, guest, "slip.pdf")).content)
    assert {width for width, _height in slip_sizes} == {80.0}
    assert slip_codes == [CODE]
    assert "田中 愛子" in slip_words
    assert desk.get(at(place, guest, "badge.pdf?first=7")).status_code == 200
    assert desk.get(at(place, guest, "badge.pdf?first=x")).status_code == 200


def test_the_longest_names_and_codes_fit_on_paper(desk, place):
    name = "寿限無寿限無五劫の擦り切れ海砂利水魚の水行末雲来末風来末食う寝る処に住む処やぶら小路"[:40]
    company = "独立行政法人高齢・障害・求職者雇用支援機構東京支部高齢・障害者業務課" * 3
    code = ("漢字" * GUEST_QRCODE_MAX)[:GUEST_QRCODE_MAX]
    guest = visit(place, name, code=code, company=company[:100], host_name=company[:100])
    for form in paper_forms():
        words, _sizes, codes = read_pdf(desk.get(at(place, guest, f"{form}.pdf")).content)
        assert name in words.replace(" ", "")
        assert company[:100] in words.replace(" ", "")
        assert codes == [code]
    strange = visit(place, "😀 𠮷野 \u200d家", code="x")
    assert desk.get(at(place, strange, "badge.pdf")).status_code == 200


def paper_forms():
    return ("badge", "slip")


def test_a_party_comes_out_in_one_file(desk, place):
    party = "6f6f1b9e-7f3e-4c84-9d4a-2f1f5be2b0a1"
    names = [f"客{number:02}" for number in range(12)]
    for number, name in enumerate(names):
        visit(place, name, code=f"CODE{number:04}", party=party)
    visit(place, "gone", party=party, gone_at=timezone.now())
    with CaptureQueriesContext(connection) as queries:
        answer = desk.get(url(place, f"party/{party}/badge.pdf"))
    assert len(queries) < 20
    words, sizes, codes = read_pdf(answer.content)
    assert sizes[0] == (210.0, 297.0)
    assert answer.content.count(b"/Type /Page\n") == 2
    assert sorted(codes) == [f"CODE{number:04}" for number in range(12)]
    assert all(name in words for name in names)
    assert "gone" not in words
    page = desk.get(url(place, f"party/{party}/badges/"))
    assert said(page).count("客") == 12
    nobody = "00000000-0000-4000-8000-000000000000"
    assert desk.get(url(place, f"party/{nobody}/badges/")).status_code == 404


def test_a_badge_without_a_code_says_so(desk, place):
    guest = visit(place, code=None, email_used=True)
    assert "sent by e-mail" in said(desk.get(at(place, guest, "badge/")))
    words, _sizes, codes = read_pdf(desk.get(at(place, guest, "slip.pdf")).content)
    assert "sent by e-mail" in words
    assert codes == []
    assert SLOTS == 10


ADDRESSES = ("code/", "code.svg", "code.png", "badge/", "badge.pdf", "slip.pdf")


def test_an_auditor_sees_no_code_and_makes_none(place, guest):
    auditor = place.client(place.staff("auditor"))
    for rest in ADDRESSES:
        assert auditor.get(at(place, guest, rest)).status_code == 403, rest
    for rest in ("code/", "link/", "link/revoke/"):
        assert auditor.post(at(place, guest, rest)).status_code == 403
    page = auditor.get(at(place, guest, ""))
    assert 'class="qr"' not in page.content.decode()
    assert CODE not in page.content.decode()


def test_another_tenants_guest_is_as_missing_as_nobody(make, place, guest):
    other = make()
    client = other.client(other.staff("receptionist"))
    for rest in ADDRESSES:
        foreign, missing = (client.get(url(other, f"{name}/{rest}")) for name in (guest.guest_id, "nobody"))
        assert foreign.status_code == missing.status_code == 404
    with tenant_scope(place.tenant):
        assert Guest.objects.filter(guest_id=guest.guest_id).exists()
    assert client.post(url(other, f"{guest.guest_id}/link/")).status_code == 404


def test_hours_of_other_days_carry_their_date(desk, place):
    start = timezone.localtime() + timedelta(days=3)
    guest = visit(place, start=start, end=start + timedelta(days=1))
    page = said(desk.get(at(place, guest, "code/")))
    begin, end = (
        f"{timezone.localtime(moment):%Y-%m-%d %H:%M}" for moment in (guest.use_date_start, guest.use_date_end)
    )
    assert f"Active from {begin} to {end}" in page
