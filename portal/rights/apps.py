from django.apps import AppConfig


class RightsPagesConfig(AppConfig):
    name = "portal.rights"
    label = "rights_pages"  # the models of rights are a foundation's

    def ready(self) -> None:
        from portal.rights import comparing

        comparing.register()
