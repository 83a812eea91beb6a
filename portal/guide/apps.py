from django.apps import AppConfig


class GuideConfig(AppConfig):
    name = "portal.guide"
    label = "guide"

    def ready(self) -> None:
        from portal.base.ui import frame
        from portal.guide import pages

        frame.register_guide(pages.help_link)
