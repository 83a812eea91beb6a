from django.apps import AppConfig


class BulkConfig(AppConfig):
    name = "portal.core.jobs"
    label = "bulk"  # its tables and migrations were created under this name

    def ready(self) -> None:
        from portal.core.intents import handlers
        from portal.core.jobs import advancing, file_executor, results, wakeups
        from portal.core.jobs.bulk_executor import OPERATIONS
        from portal.core.restore import marking

        wakeups.register()
        marking.register("jobs", results.mark_restored)
        file_executor.register()
        for operation in OPERATIONS.values():
            handlers.register(
                operation,
                on_finished=results.on_finished,
                on_progress=results.on_progress,
                reconcile=advancing.reconcile,
            )
