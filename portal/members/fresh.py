"""Reading one member from the service for somebody who looks at the page."""

from portal.core.mirror import fresh
from portal.core.mirror.models import Member
from portal.members import portraits
from portal.members.queries import connection
from tenants.models import Tenant


def read(tenant: Tenant, member: Member) -> str:
    """Bring the mirror's row up to date by one call. Returns why that was not possible, or an empty text."""
    told, why_not = fresh.read(connection(), member.member_id)
    if told is not None:
        portraits.noted(tenant, member.member_id, told.profile_image_url)
    return why_not
