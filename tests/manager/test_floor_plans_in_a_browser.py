"""Floor plans in a browser: a drawing is readable in both themes, and a plan fits a phone."""

import io

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from PIL import Image, ImageDraw

from portal.domain.places.models import PassController
from portal.plans.models import FloorPlan, Placement
from tenants.scope import tenant_scope
from tests.support.accessibility import barriers

LONG = "東京本社ビル 北館 三階 会議室エリア 西側通用口"


@pytest.fixture
def plan(place):
    """Return a plan of white paper with a black wall in its middle, and a door with a long name at its edge."""
    paper, drawn = Image.new("RGB", (800, 400), "white"), io.BytesIO()
    ImageDraw.Draw(paper).rectangle((380, 100, 420, 300), fill="black")
    paper.save(drawn, "PNG")
    given = {"name": "1F", "image": SimpleUploadedFile("floor.png", drawn.getvalue())}
    client = place.client(place.staff("facility manager"))
    client.post(reverse("plans:new", args=[place.tenant.slug]), given)
    with tenant_scope(place.tenant):
        PassController.objects.create(device_id="D1", device_name=LONG)
        found = FloorPlan.objects.get()
        Placement.objects.create(plan=found, kind="door", identifier="D1", x=990, y=900)
    return client, found


@pytest.fixture
def opened(place, plan, open_page):
    def at(name, **options):
        client, found = plan
        return open_page(client, reverse(f"plans:{name}", args=[place.tenant.slug, found.pk]), **options)

    return at


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_drawing_is_readable_in_both_themes(opened, scheme):
    page = opened("plan", color_scheme=scheme)
    page.wait_for_function("performance.getEntriesByType('resource').some(each => each.name.includes('/picture/'))")
    box = page.locator("svg.plan image").bounding_box()
    shown = Image.open(io.BytesIO(page.screenshot())).convert("L")
    wall, paper = (shown.getpixel((box["x"] + box["width"] * x, box["y"] + box["height"] / 2)) for x in (0.5, 0.3))
    assert abs(wall - paper) > 150
    assert (paper < 60) == (scheme == "dark")
    assert barriers(page) == []


@pytest.mark.parametrize("name", ["plan", "edit"])
def test_a_plan_and_its_form_fit_a_phone(opened, name):
    page = opened(name, width=390)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
