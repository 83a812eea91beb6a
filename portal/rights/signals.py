"""Register the app's parts that other apps run or show."""

from portal.rights import comparing

comparing.register()
