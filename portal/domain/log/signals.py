"""Register the app's parts that other apps run or show."""

from portal.base.timers import rounds
from portal.base.ui import batching
from portal.domain.log import filters
from portal.domain.mirror import key_states, log_partitions, log_reader, log_search
from portal.domain.mirror.kinds import MirrorKind
from portal.domain.mirror.models import HistoryDay
from portal.domain.mirror.tasks import register_reader

register_reader(MirrorKind.HISTORIES, log_reader.advance)
key_states.register_records(log_search.find_key_records)
rounds.register("log_months", log_partitions.maintenance_steps, every=6 * 3600.0, queue="sync")
batching.register_query(filters.DAYS, lambda: HistoryDay.objects.all(), on_every_page=False)
batching.register_query(filters.DEVICES, filters.device_rows, on_every_page=False)
batching.register_query(filters.AREAS, filters.area_rows, on_every_page=False)
