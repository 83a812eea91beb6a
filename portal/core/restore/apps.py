from django.apps import AppConfig


class RestoreConfig(AppConfig):
    name = "portal.core.restore"
    label = "restore"

    def ready(self) -> None:
        from portal.core.restore import finding, frame
        from portal.core.timers import beat
        from portal.site import celery

        celery.STOP_CONDITIONS.append(finding.is_restored_copy)
        beat.BEFORE_LEADING.append(finding.mark_if_restored)
        frame.register()
