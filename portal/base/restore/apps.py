from django.apps import AppConfig


class RestoreConfig(AppConfig):
    name = "portal.base.restore"
    label = "restore"

    def ready(self) -> None:
        from portal.base.restore import frame, marking
        from portal.base.timers import beat, celery_app

        celery_app.STOP_CONDITIONS.append(marking.is_restored_copy)
        beat.BEFORE_LEADING.append(marking.mark_if_restored)
        frame.register()
