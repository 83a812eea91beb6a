from django.apps import AppConfig


class ImportsConfig(AppConfig):
    name = "portal.imports"
    label = "imports"

    def ready(self) -> None:
        from portal.imports import advancing, results
        from portal.intents import handlers

        for operation in ("bulk_create_members", "bulk_update_members"):
            handlers.register(
                operation,
                finished=results.finished,
                progress=results.progress,
                reconcile=advancing.reconcile,
            )
