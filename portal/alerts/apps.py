from django.apps import AppConfig


class AlertsPagesConfig(AppConfig):
    name = "portal.alerts"
    label = "alerts_pages"  # "alerts" is the label of portal.domain.alerts
