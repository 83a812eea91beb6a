from django.apps import AppConfig


class BulkConfig(AppConfig):
    name = "portal.bulk"
    label = "bulk"

    def ready(self) -> None:
        from portal.bulk import advancing, results
        from portal.bulk.parts import OPERATIONS
        from portal.intents import handlers

        for operation in OPERATIONS.values():
            handlers.register(
                operation,
                finished=results.finished,
                progress=results.progress,
                reconcile=advancing.reconcile,
            )
