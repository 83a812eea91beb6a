"""Register the app's parts that other apps run or show."""

from portal.base.restore import marking
from portal.base.restore.frame import banners, waiting_rows
from portal.base.timers import beat, celery_app
from portal.base.ui import frame

celery_app.STOP_CONDITIONS.append(marking.is_restored_copy)
beat.BEFORE_LEADING.append(marking.mark_if_restored)
frame.register_banners(banners, rows=lambda: waiting_rows().only("pk"))
