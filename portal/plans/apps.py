from django.apps import AppConfig


class PlansConfig(AppConfig):
    name = "portal.plans"
    label = "plans"
