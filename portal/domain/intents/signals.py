"""Register the app's parts that other apps run or show."""

from django.utils.translation import gettext_lazy

from portal.base.restore import marking
from portal.base.timers import timer_registry
from portal.base.ui import batching, nav
from portal.domain.intents import queries, tasks
from tenants.sentences import register_sentences, register_subject

batching.register_query("requests_uncertain", queries.count_uncertain)
nav.register_count(
    "requests", lambda request: sum(number for (number,) in batching.load_rows(request, "requests_uncertain"))
)
marking.register("requests", tasks.mark_restored)
timer_registry.register(
    "sweep",
    tasks.process_due,
    every=tasks.CHECK_SECONDS,
    queue="doors",
    due_rows=tasks.rows_to_process,
    lag_rows=tasks.lagging_rows,
)


register_subject("decisions", gettext_lazy("Decisions on uncertain requests"), "intent")
register_sentences(
    {
        "intent.applied": gettext_lazy("Recorded as applied: %(what)s"),
        "intent.not_applied": gettext_lazy("Recorded as not applied: %(what)s"),
    }
)
