"""Register the app's parts that other apps run or show."""

from portal.base.restore import frame, marking
from portal.base.timers import beat, celery_app

celery_app.STOP_CONDITIONS.append(marking.is_restored_copy)
beat.BEFORE_LEADING.append(marking.mark_if_restored)
frame.register()
