"""Groups of the tenant in scope."""

from django.http import Http404

from portal.core.mirror.models import Group


def get_group(membergroup_id: str) -> Group:
    """The group as the mirror knows it, or 404 exactly as for another tenant's."""
    group = None if "\x00" in membergroup_id else Group.objects.filter(membergroup_id=membergroup_id).first()
    if group is None:
        raise Http404
    return group
