from django.apps import AppConfig


class MirrorConfig(AppConfig):
    name = "portal.domain.sync"
    label = "mirror"  # of the tables of people, places and the log, too
