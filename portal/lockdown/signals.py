"""Register the app's parts that other apps run or show."""

from portal.lockdown import frame, keeping, retrying

frame.register()
keeping.register()
retrying.register()
