from django.apps import AppConfig


class BulkConfig(AppConfig):
    name = "portal.core.jobs"
    label = "bulk"  # the name that its tables and migrations were made with

    def ready(self) -> None:
        from portal.core.intents import handlers
        from portal.core.jobs import advancing, bell, filing, results
        from portal.core.jobs.bulk import OPERATIONS
        from portal.core.restore import finding

        bell.register()
        finding.register("jobs", results.mark_restored)
        filing.register()
        for operation in OPERATIONS.values():
            handlers.register(
                operation,
                on_finished=results.on_finished,
                on_progress=results.on_progress,
                reconcile=advancing.reconcile,
            )
