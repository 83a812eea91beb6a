"""Register the app's parts that other apps run or show."""

from portal.base.ui import frame
from portal.guide import pages

frame.register_guide(pages.help_link)
