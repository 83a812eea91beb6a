"""Register the stored sentences about roll calls."""

from django.utils.translation import gettext_lazy as _

from tenants.sentences import register_sentences

register_sentences(
    {
        "roll_call.started": _("Roll call started: %(name)s"),
        "roll_call.person_added": _("Person added to the roll call: %(name)s"),
        "roll_call.ended": _("Roll call ended: %(name)s"),
    }
)
