from django.apps import AppConfig


class CamerasPagesConfig(AppConfig):
    name = "portal.cameras"
    label = "cameras_pages"  # "cameras" is the label of portal.domain.cameras
