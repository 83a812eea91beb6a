"""Members of the tenant in scope."""

from django.http import Http404

from portal.core.mirror.models import Member


def get_member(member_id: str, *, gone: bool = False) -> Member:
    """The member as the mirror knows it, or 404 exactly as for another tenant's.

    With `gone`, also one that the service no longer has and that no complete list has confirmed yet.
    """
    member = None if "\x00" in member_id else Member.objects.filter(member_id=member_id).first()
    if member is None or (member.gone_at is not None and not gone):
        raise Http404
    return member
