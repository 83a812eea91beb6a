"""Register the app's parts that other apps run or show."""

from portal.domain.log import filters

filters.register()
