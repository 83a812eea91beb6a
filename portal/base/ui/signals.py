"""Register the app's parts that other apps run or show."""

from portal.base.ui import batching, nav
from portal.base.ui.models import ListChoice
from tenants import access

access.register_first_page(nav.home_of)
batching.register_query(
    "choices", lambda user: ListChoice.objects.filter(user=user), user=lambda request: request.user.pk
)
