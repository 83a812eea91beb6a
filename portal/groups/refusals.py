"""A refused write, said in the form that asked for it."""

from django.utils.translation import gettext as _

from portal.core.intents import meanings
from portal.core.intents.models import Intent
from portal.core.intents.states import NOT_APPLIED, Reason
from portal.core.ui.sentences import joined
from portal.groups.forms import NameForm


def show(form: NameForm, intent: Intent) -> bool:
    """Whether the intent was surely not applied. The form then says why, beside the field if that is what is wrong."""
    if intent.state not in NOT_APPLIED:
        return False
    refused_for_it = intent.http_status in (400, 409) and meanings.meaning(intent) is None
    about_the_name = refused_for_it or intent.reason == Reason.INVALID
    form.add_error("membergroup_name" if about_the_name else None, _words(intent))
    return True


def _words(intent: Intent) -> str:
    """The service's own words with its code, else ours."""
    code = f"({intent.error_code})" if intent.error_code else ""
    kept = meanings.of_the_service(intent) or intent.reason == Reason.INVALID
    said = f"{intent.error_detail if kept else ''} {code}".strip()
    ours = Reason(intent.reason).label if intent.reason in Reason.values else ""
    if intent.reason == Reason.REFUSED and said:
        refused = _("The service refused it: %(words)s") % {"words": said}
        return joined([refused, meanings.missing_permission(intent)])
    return joined([ours, said]) or _("It was not sent.")
