"""A receptionist prints slips with the browser: each guest has one page of the desk's paper, and no more."""

import pytest

from portal.domain.visits.models import DeskSettings, SlipPaper
from tenants.scope import tenant_scope
from tests.support.codes import read_pdf, url, visit

PARTY = "6f6f1b9e-7f3e-4c84-9d4a-2f1f5be2b0a1"


@pytest.mark.parametrize("paper", SlipPaper)
def test_each_guest_has_one_page_of_the_desks_paper(place, open_page, paper):
    with tenant_scope(place.tenant):
        DeskSettings.objects.create(slip_paper=paper)
    for name in ("田中 愛子", "Екатерина Александровна Преображенская"):
        visit(place, name, company="Acme 𒀀 Corporation", host_name=name, party=PARTY)
    page = open_page(place.client(place.staff("receptionist")), url(place, f"party/{PARTY}/badges/?paper=slip"))
    words, sizes, codes = read_pdf(page.pdf(prefer_css_page_size=True, print_background=True))
    width, height = paper.size
    assert len(sizes) == len(codes) == 2
    assert sizes == [pytest.approx((width, height or 160), abs=0.5)] * 2
    assert "Преображенская" in words
    assert "cannot be printed" not in words, "the note for the screen"
