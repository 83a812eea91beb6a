"""Reading one member from the service for somebody who looks at the page."""

from portal.core.mirror import fresh
from portal.core.mirror.models import Member
from portal.members import portraits
from tenants.models import Tenant


def read(tenant: Tenant, member: Member) -> str:
    """Bring the mirror's row up to date by one call. Returns why that was not possible, or an empty text."""
    try:
        told = fresh.read_member(member.member_id)
    except fresh.NotRead as why:
        return str(why)
    portraits.noted(tenant, member.member_id, told.profile_image_url)
    return ""
