from django.apps import AppConfig


class RightsConfig(AppConfig):
    name = "portal.core.rights"
    label = "rights"

    def ready(self) -> None:
        from portal.core.rights import keeping
        from tenants.trail import changes

        changes.register_words("rights_template", keeping.describe)
