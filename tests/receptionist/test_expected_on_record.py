"""The effects of a list of expected guests are shown for each guest and in the audit log."""

from portal.domain.visits.models import Visit
from tenants.scope import tenant_scope
from tests.receptionist.test_expected import Desk, csv_of, some
from tests.support.codes import url
from tests.support.members import said


def test_a_guest_of_a_list_leads_to_it_and_is_found_in_the_audit_log(place):
    desk = Desk(place)
    job, _page = desk.checked(csv_of(*some(2)))
    desk.start(job)
    desk.work(job)
    with tenant_scope(place.tenant):
        guest = Visit.objects.get(guest_name="Guest 001").guest_id
    history = desk.client.get(url(place, f"{guest}/")).content.decode().partition("Change history")[2]
    assert url(place, f"expected/{job.pk}/") in history
    auditor, audit = place.client(place.staff("auditor")), f"/t/{place.tenant.slug}/audit/"
    for asked in ("Guest 001", guest):
        found = said(auditor.get(audit, {"target": asked}))
        assert "List of expected guests started" in found, asked
        assert "Guest 001" in found
        assert "Guest 002" not in found
    assert "List of expected guests" not in said(auditor.get(audit, {"target": "Guest 009"}))
