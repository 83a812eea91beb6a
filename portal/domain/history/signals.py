"""Register the app's parts that other apps run or show."""

from portal.base.timers import rounds
from portal.base.ui import batching
from portal.domain.events import MirrorKind
from portal.domain.history import filters, partitions, reading, search
from portal.domain.history.models import HistoryDay
from portal.domain.people import refolding
from portal.domain.places import key_states
from portal.domain.sync.tasks import register_reader

register_reader(MirrorKind.HISTORIES, reading.advance)
key_states.register_records(search.find_key_records)
refolding.register("records", search.fold_records)
rounds.register("log_months", partitions.maintenance_steps, every=6 * 3600.0, queue="sync")
batching.register_query(filters.DAYS, lambda: HistoryDay.objects.all(), on_every_page=False)
batching.register_query(filters.DEVICES, filters.device_rows, on_every_page=False)
batching.register_query(filters.AREAS, filters.area_rows, on_every_page=False)
