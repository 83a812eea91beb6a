"""Register the app's parts that other apps run or show."""

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from portal.base.timers import rounds
from portal.base.timers.clock import ClockTime
from portal.base.ui import nav
from portal.base.ui.nav import NavEntry
from portal.domain.events import MirrorKind
from portal.domain.history.partitions import RETENTION
from portal.domain.sync import freshness
from portal.rollcall.models import RollCall
from tenants.audit_log import targets
from tenants.roles import Permission
from tenants.sentences import register_sentences, register_subject, register_targets


def old_roll_calls() -> list[QuerySet[RollCall]]:
    """Return the roll calls that began before the log's retention, to be deleted with their lists and ticks.

    They name people and places, so they are kept only as long as the log.
    """
    return [RollCall.objects_across_tenants.filter(started_at__lt=ClockTime() - RETENTION)]


nav.register(NavEntry("rollcall", _("Roll calls"), "user-check", "rollcall:index", Permission.ROLL_CALL_VIEW))
rounds.register("roll_calls_to_be_forgotten", rounds.delete_steps(old_roll_calls), every=6 * 3600.0, queue="bulk")
freshness.register_footer("rollcall", MirrorKind.GUESTS, refresh_url_name="guests:refresh")


register_subject("roll_calls", _("Roll calls"), "roll_call")
register_sentences(
    {
        "roll_call.started": _("Roll call started: %(name)s"),
        "roll_call.person_added": _("Person added to the roll call: %(name)s"),
        "roll_call.ended": _("Roll call ended: %(name)s"),
    }
)
register_targets({"roll_call": _("Roll call")})
targets.register_names("roll_call", RollCall, "pk", "name")
