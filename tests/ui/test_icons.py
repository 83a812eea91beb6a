"""Icons: those on every page are references, the others are drawn in place."""

import re
from pathlib import Path

from django.contrib.staticfiles import finders

from portal.base.ui import chips
from portal.base.ui.nav import ENTRIES


def pictured() -> set[str]:
    return set(re.findall(r'<symbol id="([^"]+)"', Path(finders.find(chips.PICTURES)).read_text()))


def test_the_frame_refers_to_pictures_that_are_there():
    for entry in ENTRIES:
        [referred] = re.findall(r"icons[^#]*\.svg#([^\"]+)", chips.icon(entry.icon))
        assert referred == entry.icon
        assert referred in pictured()


def test_an_icon_that_few_pages_show_is_drawn_in_place():
    drawn = chips.icon("scissors", 16, "Cut")
    assert "<use" not in drawn
    assert "<path" in drawn
    assert 'aria-label="Cut"' in drawn


def test_a_page_carries_no_picture_of_its_frame(person, tenants):
    html = person("owner").get(f"/t/{tenants[0].slug}/members/").content.decode()
    frame = html.partition('<main id="content"')[0]
    assert frame.count("<use") >= 10
    assert "<path" not in frame
