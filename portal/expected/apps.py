from django.apps import AppConfig


class ExpectedConfig(AppConfig):
    name = "portal.expected"
    label = "expected"

    def ready(self) -> None:
        from portal.domain.jobs import kinds
        from portal.expected import actions
        from portal.today import erasing as visits

        kinds.register(actions.GUEST_LIST_KIND)
        visits.subscribe(actions.erase_before)
