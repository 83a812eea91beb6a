from django.apps import AppConfig


class RestoreConfig(AppConfig):
    name = "portal.core.restore"
    label = "restore"

    def ready(self) -> None:
        from portal.core.restore import finding, frame
        from portal.core.timers import beat
        from portal.site import celery

        celery.STOPS.append(finding.is_found)
        beat.BEFORE_LEADING.append(finding.look_through_if_found)
        frame.register()
