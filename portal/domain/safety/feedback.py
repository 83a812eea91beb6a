"""The message of a settings page after its form changed a safety rule."""

from collections.abc import Callable

from django.contrib import messages
from django.forms import BaseForm
from django.utils.translation import gettext as _

from portal.domain.safety.changing import ChangeResult, NotChanged
from tenants.access import TenantRequest


def change_with_feedback(
    request: TenantRequest, action: Callable[[], ChangeResult], saved_text: str, form: BaseForm | None = None
) -> bool:
    """Run a change, and show that it was saved, waits for a second person, or was not changed.

    Return False if it was refused. Then the `form` gets the reason as an error and is shown again.
    """
    try:
        came = action()
    except NotChanged as why:
        if form is not None:
            form.add_error(None, str(why))
        else:
            messages.error(request, str(why))
        return False
    waits = _(
        "Nothing was changed yet. This change needs a second person: "
        "someone else with your permission, or an owner, confirms it within 7 days."
    )
    if came is ChangeResult.WAITING:
        messages.warning(request, waits)
    else:
        messages.success(request, saved_text if came is ChangeResult.SAVED else _("Nothing was changed."))
    return True
