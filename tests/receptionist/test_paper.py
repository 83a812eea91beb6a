"""A receptionist prints badges and slips: every name in its script, in the party's order, on the desk's own paper."""

from collections import Counter

import pytest

from portal.codes.badges import KIND, hours_of
from portal.domain.visits.models import DeskSettings, SlipPaper
from tenants.scope import tenant_scope
from tests.support.codes import read_pdf, url, visit
from tests.support.members import said
from tests.support.scripts import HARD_NAMES, NAMES

PARTY = "6f6f1b9e-7f3e-4c84-9d4a-2f1f5be2b0a1"


@pytest.fixture
def desk(place):
    return place.client(place.staff("receptionist"))


@pytest.fixture
def party(place):
    """Return a party of twelve, with names that are in another order as text than as numbers."""
    return [visit(place, f"Guest {number}", code=f"CODE{number}", party=PARTY) for number in range(1, 13)]


@pytest.mark.parametrize("form", ["badge", "slip"])
def test_every_character_of_a_name_is_printed(desk, place, form):
    names = [*NAMES, *HARD_NAMES]
    guests = [visit(place, name, company=name, host_name=name, party=PARTY) for name in names]
    words, _sizes, codes = read_pdf(desk.get(url(place, f"party/{PARTY}/{form}.pdf")).content)
    hint = "Hold the code up to the reader." if form == "slip" else ""
    put_in = [
        f"{KIND} {place.tenant.name} {name} {name} Host: {name} {hours_of(guest).period} {hint}"
        for name, guest in zip(names, guests, strict=True)
    ]
    printed = "".join(words.split())
    assert Counter(printed) == Counter("".join("".join(put_in).split()))
    assert [name for name in names if "".join(name.split()) not in printed] == []
    assert len(codes) == len(names)


@pytest.mark.parametrize("form", ["badge", "slip"])
def test_a_party_is_printed_in_its_order(desk, place, party, form):
    words, sizes, codes = read_pdf(desk.get(url(place, f"party/{PARTY}/{form}.pdf")).content)
    places = [words.index(f"Guest {number} ") for number in range(1, 13)]
    assert places == sorted(places)
    assert len(codes) == 12
    assert len(sizes) == (12 if form == "slip" else 2)
    page = said(desk.get(url(place, f"party/{PARTY}/badges/?paper={form}")))
    assert page.index("Guest 2 ") < page.index("Guest 10 ")


@pytest.mark.parametrize("paper", SlipPaper)
def test_a_slip_has_the_size_of_the_desks_paper_and_each_guest_one_page(desk, place, party, paper):
    with tenant_scope(place.tenant):
        DeskSettings.objects.create(slip_paper=paper)
    long_name = visit(place, "Екатерина Александровна Преображенская", company="c" * 100, host_name="h" * 100)
    width, height = paper.size
    for address, guests in ((f"party/{PARTY}/slip.pdf", 12), (f"{long_name.guest_id}/slip.pdf", 1)):
        words, sizes, codes = read_pdf(desk.get(url(place, address)).content)
        assert len(sizes) == len(codes) == words.count("Hold the code up") == guests
        assert {size[0] for size in sizes} == {width}
        assert height is None or {size[1] for size in sizes} == {height}
    page = desk.get(url(place, f"{long_name.guest_id}/badge/?paper=slip"))
    assert str(paper.label) in said(page)
    assert f"paper-{paper.value}" in page.content.decode()


def test_the_page_names_what_cannot_be_printed(desk, place):
    guest = visit(place, "Bela 𒀀", company="Acme \ue123")
    for address in ("badge/", "code/"):
        page = said(desk.get(url(place, f"{guest.guest_id}/{address}")))
        assert "Some characters cannot be printed: 𒀀 \ue123. The PDF shows a box instead of each." in page
    for form in ("badge", "slip"):
        words, _sizes, _codes = read_pdf(desk.get(url(place, f"{guest.guest_id}/{form}.pdf")).content)
        assert "Bela 𒀀" in words
    guest = visit(place, "刘晓燕")
    assert "cannot be printed" not in said(desk.get(url(place, f"{guest.guest_id}/badge/")))


def test_only_managers_are_led_to_the_setting_of_the_paper(desk, place):
    guest = visit(place)
    address = url(place, f"{guest.guest_id}/badge/?paper=slip")
    assert "Change paper" not in said(desk.get(address))
    manager = place.client()
    assert "Change paper" in said(manager.get(address))
    assert 'id="id_slip_paper"' in manager.get(url(place, "settings/")).content.decode()
