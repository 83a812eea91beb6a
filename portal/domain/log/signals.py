"""Register the app's parts that other apps run or show."""

from portal.domain.log import filters
from portal.domain.mirror import log_reader
from portal.domain.mirror.kinds import MirrorKind
from portal.domain.mirror.tasks import register_reader

register_reader(MirrorKind.HISTORIES, log_reader.advance)
filters.register()
