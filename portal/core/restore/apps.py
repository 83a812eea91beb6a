from django.apps import AppConfig


class RestoreConfig(AppConfig):
    name = "portal.core.restore"
    label = "restore"

    def ready(self) -> None:
        from portal.core.restore import frame, marking
        from portal.core.timers import beat
        from portal.site import celery

        celery.STOP_CONDITIONS.append(marking.is_restored_copy)
        beat.BEFORE_LEADING.append(marking.mark_if_restored)
        frame.register()
