from django.apps import AppConfig


class RightsConfig(AppConfig):
    name = "portal.domain.rights"
    label = "rights"

    def ready(self) -> None:
        from portal.domain.rights import saved_templates
        from tenants.audit_log import changes

        changes.register_words("rights_template", saved_templates.describe)
