from django.apps import AppConfig


class RightsConfig(AppConfig):
    name = "portal.rights"
    label = "rights"

    def ready(self) -> None:
        from portal.rights import copying, keeping
        from tenants.trail import changes

        copying.register()
        changes.word("rights_template", keeping.in_words)
