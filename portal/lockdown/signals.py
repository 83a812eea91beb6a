"""Register the lockdowns' parts that other apps run or show."""

from portal.base.restore import marking
from portal.base.timers import timer_registry
from portal.base.ui import frame, panels
from portal.domain.safety import rules
from portal.lockdown.frame import draw_button, lockdown_banners, open_orders
from portal.lockdown.keeping import SETTINGS_RULE
from portal.lockdown.models import Lockdown, State
from portal.lockdown.retrying import DUE

frame.register_banners(lockdown_banners, rows=lambda: open_orders().only("pk"))
panels.register("devices", draw_button)
rules.register(SETTINGS_RULE)
marking.register_timer("lockdowns", lambda: Lockdown.objects.filter(state=State.STANDING))
timer_registry.register("lockdowns", DUE.check_due, every=1.0, queue="doors", due_rows=DUE.querysets)
