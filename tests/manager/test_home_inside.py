"""The overview counts the people in the building by area."""

import re
from datetime import timedelta

from django.utils import timezone

from portal.domain.visits.models import Visit
from tenants.scope import tenant_scope
from tests.manager.test_home import came_in, home, house  # noqa: F401 - a fixture
from tests.support.log import area


def test_people_in_the_building_are_counted_by_area_with_a_link_to_each(house):  # noqa: F811
    area(house, "Hall", front="in", back="out")
    area(house, "Lab", lab="in")
    for member_id, door in (("M1", "front"), ("M2", "front"), ("M3", "lab"), ("M4", "shed")):
        came_in(house, member_id, door)
    now = timezone.now()
    with tenant_scope(house.tenant):
        hours = {"use_date_start": now, "use_date_end": now + timedelta(hours=1), "stage": "issued"}
        Visit.objects.create(guest_id="H", guest_name="田中", arrived_at=now, **hours)
    inside = home(house).partition('id="home-inside"')[2].partition("</section>")[0]
    page = f"/t/{house.tenant.slug}/guests/building/"
    named = re.findall(r"<li>\s*<(?:a href=\"([^\"]*)\"|span)>([^<]*)</\w+>\s*<b>(\d+)</b>", inside)
    assert named == [
        (f"{page}?area=Hall", "Hall", "2"), (f"{page}?area=Lab", "Lab", "1"), ("", "Area unknown", "1"),
        (f"{page}?who=guest", "Guests", "1"),
    ]  # fmt: skip
    assert "M3" in house.client().get(f"{page}?area=Lab").content.decode()
