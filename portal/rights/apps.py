from django.apps import AppConfig


class RightsPagesConfig(AppConfig):
    name = "portal.rights"
    label = "rights_pages"  # "rights" is the label of portal.domain.rights
